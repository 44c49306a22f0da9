"""Tests of the map matcher."""
