"""STRIDE: how well the movement of a crowd fits a text, by fixed questions and 20 measures."""
