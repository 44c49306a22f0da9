"""Readers of pedestrian recordings and simulations, each a function from a file to a trajectory."""
