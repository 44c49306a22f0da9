"""Tests of the language chapter."""
