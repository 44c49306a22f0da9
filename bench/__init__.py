"""The judge of the map matcher: data sets with known routes, metrics, peers, one table."""
