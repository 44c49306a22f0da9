"""The whole pipeline, run for real at a reduced size."""
