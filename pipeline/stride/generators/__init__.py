"""Reference generators: three that read no text, the social-force model, and a door for others.

Every generator turns the initial state of a scenario into a trajectory. What they make is scored
alike; the first three (Stop, Random, Straight) say how far one gets without reading.
"""
