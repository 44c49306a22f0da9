"""Tests of the quality chapter."""
