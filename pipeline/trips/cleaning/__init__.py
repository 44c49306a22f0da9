"""The one cleaning contract: every reader's trips pass the same rules, each with its reason."""
