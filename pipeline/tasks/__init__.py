"""Score any model on the three tasks, from the files of a release alone."""
