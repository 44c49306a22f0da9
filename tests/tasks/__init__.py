"""Tests of the three tasks, on a town of straight streets."""
