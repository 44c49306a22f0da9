"""Readers of raw traces, one module per format; all yield the one raw form of `batch`."""
