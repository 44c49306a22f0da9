"""From selected trips to a published data set, and the account of everything lost on the way."""
