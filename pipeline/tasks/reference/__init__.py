"""Reference models that are trained with PyTorch, an extra: `make models`."""
