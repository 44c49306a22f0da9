"""Units that tables and texts state, and what one of each is in metres and seconds.

factor_of("[cm]", LENGTHS)    ->  0.01
stated_in("x/cm")             ->  "cm"
"""

import re
from collections.abc import Mapping
from typing import Literal

# What `--unit` takes.
Unit = Literal["m", "cm"]
LENGTHS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "ft": 0.3048}
TIMES = {"s": 1.0, "sec": 1.0, "ms": 0.001, "min": 60.0}
SPEEDS = {"m/s": 1.0, "cm/s": 0.01, "mm/s": 0.001, "ft/s": 0.3048, "km/h": 1 / 3.6}
_IN_NAME = re.compile(r"[\s_]*[\[(/_]\s*(?:in\s+)?([A-Za-z]+(?:/[a-z]+)?)\s*[\])]?$")


def factor_of(text: str | None, known: Mapping[str, float]) -> float | None:
    """Return what one of a unit is, in brackets or without; None: it is none of those known."""
    return known.get((text or "").strip().strip("[]()").strip().lower())


def stated_in(name: str) -> str | None:
    """Return the unit that ends the name of a column, such as `x [m]` and `x_cm`; None: none."""
    found = _IN_NAME.search(name)
    return found[1].lower() if found else None
