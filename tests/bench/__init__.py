"""Tests of the benchmark: metrics by arithmetic, sets by construction."""
