"""STRIDE: measures, trajectories, importers, checks, scores, reports."""
