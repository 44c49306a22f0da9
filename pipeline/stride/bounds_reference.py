"""Whether a value is as expected, exactly as the published scorer decides it, faults included.

    as_published(0.37, {"min": 0.4}, delta=0.03)   ->  True: 0.4 - 0.03 counts
    as_published(0.8, {"max": 0.7}, delta=0.1)     ->  False: 0.7 + 0.1 is 0.7999... in doubles
    as_published(nan, {"min": 0.4}, delta=0.03)    ->  True: neither comparison holds

The tolerance is never below 0.01, whatever the benchmark says. Nothing here is our opinion; see
`bounds.py` for what strict mode does.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

FLOOR = 0.01
_ABS_TOL, _INT_TOL = 1e-3, 1e-6


class LostError(Exception):
    """Bounds at which the published scorer ends, and with it the whole scenario."""


class Range(NamedTuple):
    """The values that pass, for a report; None = open, or not of this form."""

    low: float | None
    high: float | None
    delta: float | None


def as_published(value: Any, expected: Any, *, delta: Any, factor: float = 1.0) -> bool:
    """Return whether a value passes.

    Args:
        value: Rounded to 4 decimals by the caller; any form that expectations know.
        expected: `expected_result`, not None.
        delta: `delta_value` of the measurement.
        factor: What tolerances are multiplied by, after the floor; 1 = as published.

    Raises:
        LostError: A bound or tolerance is null or no number.
    """
    if isinstance(expected, Mapping):
        return _in_mapping(value, expected, delta=delta, factor=factor)
    if isinstance(expected, bool):
        return value is expected
    if isinstance(expected, int | float):
        if not _is_number(value):
            return False
        whole = isinstance(expected, int) and isinstance(value, int)
        return bool(
            abs(value - _number(expected, "expected_result")) <= (_INT_TOL if whole else _ABS_TOL)
        )
    if isinstance(expected, list):
        return (
            isinstance(value, list)
            and len(value) == len(expected)
            and all(
                as_published(one, wanted, delta=None, factor=factor)
                for one, wanted in zip(value, expected, strict=True)
            )
        )
    return bool(value == expected)


def range_of(expected: Any, *, delta: Any) -> Range:
    """Return the range that passes; open where the form has none or ends the scenario."""
    if not isinstance(expected, Mapping) or "one_of" in expected:
        return Range(None, None, None)
    try:
        delta = _delta(expected, delta, factor=1.0)
        if "approx" in expected or "value" in expected:
            target = _target(expected)
            width = _width(expected, target, delta)
            return Range(target - width, target + width, delta)
        low = _number(expected["min"], "min") - delta if "min" in expected else None
        high = _number(expected["max"], "max") + delta if "max" in expected else None
    except LostError:
        return Range(None, None, None)
    return Range(low, high, delta)


def _in_mapping(value: Any, expected: Mapping[str, Any], *, delta: Any, factor: float) -> bool:
    if "one_of" in expected:
        items = expected["one_of"]
        if not isinstance(items, list):
            raise LostError(f"one_of: expected a list, found {items!r}")
        return any(as_published(value, item, delta=None, factor=factor) for item in items)
    if isinstance(value, Mapping):
        wanted = {key: one for key, one in expected.items() if key != "delta_value"}
        return bool(wanted) and all(
            key in value and as_published(value[key], one, delta=delta, factor=factor)
            for key, one in wanted.items()
        )
    if not _is_number(value) or not expected:
        return False
    return _in_range(value, expected, tolerance=_delta(expected, delta, factor=factor))


def _in_range(value: float, expected: Mapping[str, Any], *, tolerance: float) -> bool:
    if "approx" in expected or "value" in expected:
        target = _target(expected)
        return bool(abs(value - target) <= _width(expected, target, tolerance))
    if set(expected) - {"min", "max", "delta_value"}:
        return False
    # The published comparisons ask for what is outside, so that NaN is never outside.
    if "min" in expected and value < _number(expected["min"], "min") - tolerance:
        return False
    return not ("max" in expected and value > _number(expected["max"], "max") + tolerance)


def _delta(expected: Mapping[str, Any], delta: Any, *, factor: float) -> float:
    own = expected.get("delta_value", delta)
    return max(0.0 if own is None else _number(own, "delta_value"), FLOOR) * factor


def _target(expected: Mapping[str, Any]) -> float:
    return _number(expected["value"] if "value" in expected else expected["approx"], "approx")


def _width(expected: Mapping[str, Any], target: float, delta: float) -> float:
    absolute = _number(expected.get("abs_tol", _ABS_TOL), "abs_tol")
    relative = _number(expected.get("rel_tol", 0.0), "rel_tol")
    return max(absolute + delta, relative * abs(target))


def _number(value: Any, name: str) -> float:
    try:
        if isinstance(value, int | float):
            float(value)
            return value
    except OverflowError:
        value = f"one of {len(str(value))} digits"
    raise LostError(f"{name}: expected a number, found {value!r}; the published scorer ends")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
