"""The ground, once per city: roads, places and H3 cells."""
