"""The baselines, each part by itself and all of them on a town."""
