"""How well matching went: simulated traces against their truth, beside a nearest-edge baseline."""
