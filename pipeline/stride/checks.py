"""One check: find the measure, compute it, compare; as published, or strictly.

    check(measurement, clip, mode="strict", spoilt={})
    ->  Check(function="mean_speed", value=1.21, low=0.72, high=1.48, margin=0.27, passed=True, ...)

| | reference (as published) | strict |
|---|---|---|
| value | rounded to 4 decimals | as computed |
| tolerance | at least 0.01 | as stated |
| NaN | passes every range | fails |
| error, unknown function | not counted | fails |
| no data | 0.0 (peak density 1.0) | fails |
| untrusted input | - | fails |
"""

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal, NamedTuple

from pipeline.stride.benchmark import Measurement
from pipeline.stride.bounds import BoundsError, Interval, intervals_of
from pipeline.stride.bounds_reference import as_published, range_of
from pipeline.stride.corrected import CORRECTED
from pipeline.stride.measures.clip import Clip
from pipeline.stride.measures.registry import MEASURES, Measure, found_name, taken_params
from pipeline.stride.measures.undefined import UndefinedError
from pipeline.stride.sources import Mode
from pipeline.stride.traps import Trap

DECIMALS = 4
# Field -> why its values cannot be trusted; `positions` is read by every measure.
Spoilt = Mapping[str, str]
NOTHING: Spoilt = {}
# What tolerances are multiplied by to see how much a score hangs on them.
FACTORS = (0, 1, 2)
Cause = Literal[
    "missing",
    "unreadable",
    "no_crowd",
    "untrusted_input",
    "unknown_function",
    "unknown_parameter",
    "error",
    "no_data",
    "not_finite",
    "bad_bounds",
]


class Check(NamedTuple):
    """One check, judged.

    Attributes:
        function: Name as the benchmark has it.
        measure: The measure that is meant; None = unknown.
        axis: Its axis; None = unknown.
        params: Parameters as the measure took them.
        dropped_params: Keys it does not know.
        expected: `expected_result` as written.
        delta: Tolerance that counted; None = none could be read.
        low: The least value that passes; None = open, or of another form.
        high: The greatest.
        value: What was measured, rounded in reference mode; None = nothing. May be NaN.
        margin: How far inside (0 or more) or outside (below 0) the nearest bound; None = unknown.
        passed: None = not counted (reference mode only).
        passed_at: The same for tolerances multiplied by `FACTORS`.
        cause: One word for what is wrong with value or bounds; None = nothing is.
        reason: Why it failed or is not counted, in words; "" = it passed.
    """

    function: str
    measure: str | None
    axis: str | None
    params: dict[str, Any]
    dropped_params: list[str]
    expected: Any
    delta: float | None
    low: float | None
    high: float | None
    value: float | None
    margin: float | None
    passed: bool | None
    passed_at: tuple[bool | None, ...]
    cause: Cause | None
    reason: str


class _Found(NamedTuple):
    """What a measurement asks for, what came of it, and what is wrong with that."""

    measure: Measure | None
    params: dict[str, Any]
    dropped: list[str]
    value: float | None
    cause: Cause | None
    reason: str


class _Judged(NamedTuple):
    """How a value compares with what is expected."""

    delta: float | None
    low: float | None
    high: float | None
    margin: float | None
    passed_at: tuple[bool | None, ...]
    reason: str
    cause: Cause | None = None


def registry_of(mode: Mode) -> dict[str, Measure]:
    """Return the measures a benchmark may bind; the corrected ones are none of the published."""
    return MEASURES if mode == "reference" else {**MEASURES, **CORRECTED}


def spoilt_by(traps: Sequence[Trap]) -> Spoilt:
    """Return why fields cannot be trusted: for each the first trap that spoils it."""
    return {field: trap.text for trap in reversed(traps) for field in trap.spoils}


def check(measurement: Measurement, clip: Clip, *, mode: Mode, spoilt: Spoilt) -> Check:
    """Judge one measurement on a clip.

    Args:
        measurement: As the benchmark has it.
        clip: The movement.
        mode: `reference` or `strict`.
        spoilt: Fields that cannot be trusted; only strict mode looks at it.

    Raises:
        LostError: In reference mode, bounds at which the published scorer ends.
    """
    if mode == "reference":
        found = _found(measurement, clip, MEASURES)
        if found.cause == "no_data" and found.measure is not None:
            found = found._replace(value=found.measure.empty, cause=None)
        if found.value is not None:
            found = found._replace(value=round(found.value, DECIMALS))
        return _check(measurement, found, _published(measurement, found))
    found = _trusted(_found(measurement, clip, registry_of(mode), spoilt))
    return _check(measurement, found, _strict(measurement, found))


def failed_check(measurement: Measurement, *, cause: Cause, reason: str) -> Check:
    """Return the failed check of a scenario that cannot be measured at all (strict mode)."""
    registry = registry_of("strict")
    measure = registry.get(found_name(measurement.function, registry) or "")
    params = measurement.params if isinstance(measurement.params, dict) else {}
    found = _Found(measure, params, [], None, cause, reason)
    return _check(measurement, found, _strict(measurement, found))


def _found(
    measurement: Measurement, clip: Clip, registry: Mapping[str, Measure], spoilt: Spoilt = NOTHING
) -> _Found:
    name = found_name(measurement.function, registry)
    if name is None:
        return _Found(None, {}, [], None, "unknown_function", "Unknown function")
    measure = registry[name]
    if not isinstance(measurement.params, Mapping):
        words = f"params: expected an object, found {measurement.params!r}"
        return _Found(measure, {}, [], None, "error", words)
    params, dropped = taken_params(measurement.params, measure)
    for field in ("positions", *sorted(measure.reads)):
        if field in spoilt:
            return _Found(measure, params, dropped, None, "untrusted_input", spoilt[field])
    return _Found(measure, params, dropped, *_measured(measure, clip, params))


def _measured(
    measure: Measure, clip: Clip, params: Mapping[str, object]
) -> tuple[float | None, Cause | None, str]:
    """Return a value, and what is wrong with it in one word and in words."""
    try:
        value = measure.value(clip, params)
    except UndefinedError as fault:
        return None, "error", str(fault)
    if value is None:
        return None, "no_data", "no data: nobody to measure"
    if not math.isfinite(value):
        return value, "not_finite", f"the value is {value}"
    return value, None, ""


def _trusted(found: _Found) -> _Found:
    """Refuse a value that was computed without a parameter the benchmark asks for."""
    if found.cause is None and found.dropped:
        words = f"unknown parameter {found.dropped[0]!r}"
        return found._replace(value=None, cause="unknown_parameter", reason=words)
    return found


def _published(measurement: Measurement, found: _Found) -> _Judged:
    value, expected, delta = found.value, measurement.expected, measurement.delta
    low, high, tolerance = range_of(expected, delta=delta)
    if value is None or expected is None:
        words = f"not counted: {found.reason if value is None else 'no expected_result'}"
        return _Judged(tolerance, low, high, None, (None,) * len(FACTORS), words)
    passed_at = tuple(as_published(value, expected, delta=delta, factor=one) for one in FACTORS)
    passed = passed_at[FACTORS.index(1)]
    sides = [*([] if low is None else [value - low]), *([] if high is None else [high - value])]
    margin = min(sides) if sides and math.isfinite(value) else None
    if passed:
        words = "NaN passes every range here" if math.isnan(value) else ""
    else:
        words = _outside(value, low, high)
    return _Judged(tolerance, low, high, margin, passed_at, words)


def _strict(measurement: Measurement, found: _Found) -> _Judged:
    failed = (False,) * len(FACTORS)
    try:
        spans = intervals_of(measurement.expected, delta=measurement.delta)
        low, high, tolerance = _told(measurement, spans)
        if found.value is None or found.cause is not None:
            return _Judged(tolerance, low, high, None, failed, found.reason)
        margin = max(span.margin(found.value) for span in spans)
        passed_at = tuple(_inside(measurement, found.value, one) for one in FACTORS)
    except BoundsError as fault:
        words = found.reason or f"bounds: {fault}"
        return _Judged(None, None, None, None, failed, words, cause="bad_bounds")
    words = "" if margin >= 0 else _outside(found.value, low, high)
    return _Judged(tolerance, low, high, float(margin), passed_at, words)


def _inside(measurement: Measurement, value: float, factor: int) -> bool:
    spans = intervals_of(measurement.expected, delta=measurement.delta, factor=Decimal(factor))
    return any(span.margin(value) >= 0 for span in spans)


def _told(
    measurement: Measurement, spans: list[Interval]
) -> tuple[float | None, float | None, float | None]:
    """Return low, high and tolerance for the report; open where several intervals pass."""
    if len(spans) != 1:
        return None, None, None
    expected, span = measurement.expected, spans[0]
    own = expected.get("delta_value") if isinstance(expected, Mapping) else None
    delta = measurement.delta if own is None else own
    return (
        None if span.low is None else float(span.low),
        None if span.high is None else float(span.high),
        float(delta or 0),
    )


def _check(measurement: Measurement, found: _Found, judged: _Judged) -> Check:
    return Check(
        function=measurement.function,
        measure=found.measure.name if found.measure else None,
        axis=found.measure.axis if found.measure else None,
        params=found.params,
        dropped_params=found.dropped,
        expected=measurement.expected,
        delta=judged.delta,
        low=judged.low,
        high=judged.high,
        value=found.value,
        margin=judged.margin,
        passed=judged.passed_at[FACTORS.index(1)],
        passed_at=judged.passed_at,
        cause=found.cause or judged.cause,
        reason=judged.reason,
    )


def _outside(value: float, low: float | None, high: float | None) -> str:
    if low is not None and value < low:
        return f"{value:.6g} is below {low:.6g}"
    if high is not None and value > high:
        return f"{value:.6g} is above {high:.6g}"
    return f"{value:.6g} is not what is expected"
