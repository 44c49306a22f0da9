"""Tests of readers, cleaning, ingest, simulation and assessment."""
