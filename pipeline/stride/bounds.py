"""The values a check expects, in strict mode: stated bounds, compared as the decimals they are.

    intervals_of({"max": 0.7}, delta=0.1)             ->  [Interval(None, Decimal("0.8"))]
    intervals_of({"min": 0.4, "max": 0.2}, delta=0.1) ->  BoundsError: min 0.4 is above max 0.2

0.7 + 0.1 is 0.8 here; in doubles the sum is a hair less. A value is compared at 12 digits, for
which doubles can be trusted: the mean of a walk at 1.2 m/s may come out as 1.1999999999999997.
There is no floor under the tolerance. What is no sound bound fails the check with the reason.
"""

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

KEYS = frozenset({"min", "max", "value", "approx", "abs_tol", "rel_tol", "one_of", "delta_value"})


class BoundsError(Exception):
    """What is expected is not stated soundly; the message says how."""


class Interval(NamedTuple):
    """Values from low to high, both included; None = open."""

    low: Decimal | None
    high: Decimal | None

    def margin(self, value: float) -> Decimal:
        """Return how far a finite value lies inside (0 or more) or outside (below 0)."""
        found = measured_decimal(value)
        sides = [
            *([] if self.low is None else [found - self.low]),
            *([] if self.high is None else [self.high - found]),
        ]
        return min(sides)


def measured_decimal(value: float) -> Decimal:
    """Return a measured value at 12 digits, below 1 at 12 decimal places: no rounding noise."""
    return Decimal(f"{value:.12g}" if abs(value) >= 1 else f"{value:.12f}")


def decimal_of(number: float) -> Decimal:
    """Return a number as the decimal it is printed as: 0.1 is one tenth."""
    return Decimal(repr(number))


def intervals_of(expected: Any, *, delta: Any, factor: Decimal = Decimal(1)) -> list[Interval]:
    """Return the intervals of which a value must be in one.

    Args:
        expected: `expected_result` as written: {min, max}, {value} or {approx} with abs_tol and
            rel_tol, {one_of: [...]}, or a number.
        delta: `delta_value` of the measurement; one inside `expected` wins, None = 0. It is not
            handed down to the items of `one_of`.
        factor: What tolerances are multiplied by.

    Raises:
        BoundsError: It is missing, null, no number, negative, the wrong way round, or of no form
            that a number can meet.
    """
    if expected is None:
        raise BoundsError("no expected_result")
    if not isinstance(expected, Mapping):
        expected = {"approx": expected}
    unknown = sorted(set(expected) - KEYS)
    if unknown:
        raise BoundsError(f"unknown key {unknown[0]!r}")
    tolerance = _tolerance(expected, delta) * factor
    if "one_of" in expected:
        items = expected["one_of"]
        if not isinstance(items, list) or not items:
            raise BoundsError(f"one_of is {items!r}, expected a list that is not empty")
        return [one for item in items for one in intervals_of(item, delta=None, factor=factor)]
    if "value" in expected or "approx" in expected:
        return [_around(expected, tolerance)]
    return [_between(expected, tolerance)]


def _tolerance(expected: Mapping[str, Any], delta: Any) -> Decimal:
    if "delta_value" in expected:
        delta = expected["delta_value"]
    elif delta is None:
        return Decimal(0)
    return _not_negative(delta, "delta_value")


def _around(expected: Mapping[str, Any], tolerance: Decimal) -> Interval:
    if "min" in expected or "max" in expected or ("value" in expected and "approx" in expected):
        raise BoundsError("a target beside other bounds")
    target = _finite(expected["value"] if "value" in expected else expected["approx"], "target")
    absolute = _not_negative(expected.get("abs_tol", 0), "abs_tol")
    relative = _not_negative(expected.get("rel_tol", 0), "rel_tol")
    width = max(absolute + tolerance, relative * abs(target))
    return Interval(target - width, target + width)


def _between(expected: Mapping[str, Any], tolerance: Decimal) -> Interval:
    if "abs_tol" in expected or "rel_tol" in expected:
        raise BoundsError("abs_tol or rel_tol without a target")
    low = _finite(expected["min"], "min") if "min" in expected else None
    high = _finite(expected["max"], "max") if "max" in expected else None
    if low is None and high is None:
        raise BoundsError("no bound")
    if low is not None and high is not None and low > high:
        raise BoundsError(f"min {low} is above max {high}")
    return Interval(
        None if low is None else low - tolerance, None if high is None else high + tolerance
    )


def _finite(value: Any, name: str) -> Decimal:
    if value is None:
        raise BoundsError(f"{name} is null")
    if isinstance(value, bool) or not isinstance(value, int | float) or not _holds(value):
        raise BoundsError(f"{name} is {repr(value)[:40]}, expected a number")
    return decimal_of(value)


def _holds(value: float) -> bool:
    """Tell whether a double can be this number: a whole one of 400 digits cannot."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _not_negative(value: Any, name: str) -> Decimal:
    number = _finite(value, name)
    if number < 0:
        raise BoundsError(f"{name} is {number}, expected 0 or more")
    return number
