"""The release and the account of what was lost."""
