"""Tests of the review by people: assignment, page, import."""
