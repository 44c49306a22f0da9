"""Simulated traces on a real road network, with the truth kept; shares no code with matching."""
