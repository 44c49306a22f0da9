"""Tests of the ground: pulls, roads, context and cells."""
