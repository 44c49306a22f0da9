"""What moved: raw traces, cleaning, map matching, phases."""
