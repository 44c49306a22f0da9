"""Rules that specifications are held to before anything is scored with them.

    list(findings_of(benchmark))
    ->  [Finding("error", "unsatisfiable", "1449", "Q7", "dispersal_score",
                 "Q2 wants 0.15 or more, this at most 0.10: no value fits both"), ...]

An error keeps a scenario out of a release: something in it cannot be computed, or cannot be met by
any crowd. A warning leaves it in: it weakens the question, or a reader should look at it.
"""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import combinations
from typing import Any, Literal, NamedTuple

from pipeline.stride.benchmark import Benchmark, Measurement, Question, Scenario
from pipeline.stride.bounds import BoundsError, Interval, intervals_of
from pipeline.stride.corrected import CORRECTED
from pipeline.stride.measures.registry import MEASURES, Axis, Measure, found_name, taken_params

Level = Literal["error", "warn"]
# Equal discs can touch at most so many others of their size.
MOST_TOUCHING = 6
# The published scorer's own tolerance: no bound is narrower.
FLOOR = Decimal("0.01")
# Pairs that contradict each other: function and least value of each, and why.
OPPOSED: tuple[tuple[tuple[str, str], tuple[str, str], str], ...] = (
    (("density_trend", "0.1"), ("spread_trend", "0.1"), "denser and wider at the same time"),
    (("convergence_score", "0.35"), ("dispersal_score", "0.1"), "inwards and outwards"),
    (("flow_alignment", "0.5"), ("dispersal_score", "0.25"), "one way and to all sides"),
)
_TAG = re.compile(r"^[\[(]?\s*([VRDST](?:\s*[/+&,]\s*[VRDST])*)\s*[\])]?\s*(?:[:—–-]|$)")
# Words of a question that asks for no contact.
_NO_CONTACT = re.compile(
    r"\bavoid(?:s|ing)?\b|\b(?:no|without)\b[^?,;]{0,40}\b(?:contact|collision|collid|pushing)",
    re.IGNORECASE,
)
_ALL = {**MEASURES, **CORRECTED}


class Finding(NamedTuple):
    """One thing a rule found.

    Attributes:
        level: `error` or `warn`.
        code: The rule.
        scene: Scenario; "" for the whole benchmark.
        question: Id of the question; "" for the whole scenario.
        function: Name of the measure as written; "" for the whole question.
        detail: What is wrong, in words.
    """

    level: Level
    code: str
    scene: str
    question: str
    function: str
    detail: str


class Bounded(NamedTuple):
    """A measurement whose bounds could be read.

    Attributes:
        question: The question it belongs to.
        written: As the benchmark has it.
        measure: What it binds.
        params: As the measure takes them.
        stated: Values expected, without tolerance.
        passing: Values that pass.
    """

    question: Question
    written: Measurement
    measure: Measure
    params: Mapping[str, object]
    stated: Interval
    passing: Interval


def findings_of(benchmark: Benchmark) -> Iterator[Finding]:
    """Yield what the rules find, scenario by scenario."""
    if benchmark.shape == "old":
        yield Finding("warn", "old_shape", "", "", "", "`functions` instead of `measurements`")
    for scenario in benchmark.scenarios:
        yield from _of_scenario(scenario)


def bounded_of(scenario: Scenario) -> tuple[list[Bounded], list[Finding]]:
    """Return the measurements of a scenario that can be read, and faults of those that cannot."""
    good: list[Bounded] = []
    bad: list[Finding] = []
    for question in scenario.questions:
        for written in question.measurements:
            found = _bounded(question, written)
            if isinstance(found, Bounded):
                good.append(found)
            else:
                code, detail = found
                bad.append(
                    Finding("error", code, scenario.id, question.id, written.function, detail)
                )
    return good, bad


def _bounded(question: Question, written: Measurement) -> Bounded | tuple[str, str]:
    name = found_name(written.function, _ALL)
    if name is None:
        return "unknown_function", f"{written.function!r} is no measure"
    measure = _ALL[name]
    params = _params(written.params, measure)
    if isinstance(params, tuple):
        return params
    try:
        stated = intervals_of(written.expected, delta=0)
        passing = intervals_of(written.expected, delta=written.delta)
    except BoundsError as fault:
        return "bad_bounds", str(fault)
    if len(stated) != 1:
        return "bad_bounds", "several ranges, of which one must hold: not of the released form"
    return Bounded(question, written, measure, params, stated[0], passing[0])


def _params(written: Any, measure: Measure) -> dict[str, object] | tuple[str, str]:
    """Return all parameters of a measure, or the code and words of what is wrong with them."""
    if not isinstance(written, Mapping):
        return "bad_parameter", f"params: expected an object, found {written!r}"
    taken = taken_params(written, measure)
    if taken.dropped:
        return "unknown_parameter", f"{measure.name} has no parameter {taken.dropped[0]!r}"
    params = {**measure.parameters, **taken.params}
    wrong = _wrong_parameter(params)
    return ("bad_parameter", wrong) if wrong else params


def _wrong_parameter(params: Mapping[str, object]) -> str:
    """Say which parameter makes no sense; "" if all do."""
    for name, value in params.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            return f"{name}: expected a number, found {value!r}"
        whole = name in {"n_bins", "n_grid", "neighbours"}
        least = {"n_bins": 2, "n_grid": 1, "neighbours": 1}.get(name, 0)
        if (whole and not isinstance(value, int)) or value < least:
            return (
                f"{name}: expected a {'whole ' if whole else ''}number from {least}, found {value}"
            )
    return ""


# ---- one scenario -------------------------------------------------------------------------------


def _of_scenario(scenario: Scenario) -> Iterator[Finding]:
    if not scenario.questions:
        yield Finding("error", "no_questions", scenario.id, "", "", "nothing is asked")
    ids = [question.id for question in scenario.questions]
    for name in sorted({name for name in ids if ids.count(name) > 1}):
        yield Finding("error", "twin_question", scenario.id, name, "", "the id is there twice")
    for question in scenario.questions:
        if not question.measurements:
            yield Finding("error", "no_checks", scenario.id, question.id, "", "nothing is bound")
    good, bad = bounded_of(scenario)
    yield from bad
    for one in good:
        for level, code, detail in _of_check(one, scenario.n_agents):
            yield Finding(level, code, scenario.id, one.question.id, one.written.function, detail)
    for question in scenario.questions:
        mine = [one for one in good if one.question is question]
        for code, detail in _of_question(question, mine):
            yield Finding("warn", code, scenario.id, question.id, "", detail)
    yield from _of_pairs(scenario.id, good)


def _of_check(one: Bounded, agents: int | None) -> Iterator[tuple[Level, str, str]]:
    name = one.measure.name
    if one.written.function != name:
        yield "warn", "odd_name", f"read as {name}"
    if name in CORRECTED:
        yield "warn", "not_published", "not of the 20: other scorers do not know it"
    least, most = (Decimal(repr(side)) for side in one.measure.bounds(one.params))
    stated, passing = one.stated, one.passing
    if (passing.low is not None and passing.low > most) or (
        passing.high is not None and passing.high < least
    ):
        yield "error", "out_of_range", f"{told(passing)}, possible are {least} to {most}"
    elif (stated.low is not None and stated.low < least) or (
        stated.high is not None and stated.high > most
    ):
        yield "warn", "beyond_range", f"{told(stated)}, possible are {least} to {most}"
    low_is_open = passing.low is None or passing.low <= least
    high_is_open = passing.high is None or passing.high >= most
    if low_is_open and high_is_open:
        yield "warn", "vacuous", f"with tolerance {told(passing)}: every value passes"
    elif stated.low is not None and stated.low > least and low_is_open:
        yield "warn", "emptied_bound", f"the tolerance takes the lower bound {stated.low} away"
    elif stated.low is not None and stated.low > least and stated.low - FLOOR <= least:
        yield (
            "warn",
            "floor_empties_bound",
            f"the published scorer's tolerance of {FLOOR} takes the lower bound {stated.low} away",
        )
    yield from _of_collisions(one, agents)


def _of_collisions(one: Bounded, agents: int | None) -> Iterator[tuple[Level, str, str]]:
    if one.measure.name != "collision_fraction" or agents is None or one.stated.low is None:
        return
    wanted = one.stated.low * (agents - 1)
    if wanted <= MOST_TOUCHING:
        return
    passing = (one.passing.low or Decimal(0)) * (agents - 1)
    words = (
        f"{one.stated.low} of all pairs among {agents} people are {wanted:.1f} contacts a person"
        f" ({passing:.1f} with tolerance); at most {MOST_TOUCHING} equal discs touch one"
    )
    yield "error", "impossible_contacts", words


def _of_question(question: Question, checks: list[Bounded]) -> Iterator[tuple[str, str]]:
    axes = {one.measure.axis for one in checks}
    tag = tag_of(question.text)
    if tag and axes and not tag & axes:
        yield (
            "tag_against_axis",
            f"tagged {'/'.join(sorted(tag))}, measures {'/'.join(sorted(axes))}",
        )
    for one in checks:
        low = one.stated.low
        if one.measure.name == "collision_fraction" and low is not None and low > 0:
            words = _NO_CONTACT.search(question.text)
            if words:
                yield "contact_against_words", f"asks {words[0]!r} and wants {low} or more of it"
    if checks and all(_is_steady(one) for one in checks):
        yield "lone_steady_trend", "only trends that may be 0: a crowd that stands passes"


def _is_steady(one: Bounded) -> bool:
    """Tell whether a check asks of a trend no more than not to be large."""
    return one.measure.axis == "T" and (
        (one.passing.low is None or one.passing.low <= 0)
        and (one.passing.high is None or one.passing.high >= 0)
    )


def tag_of(text: str) -> frozenset[Axis]:
    """Return the axes a question's text is tagged with, as in "D/S: ..."; empty without a tag."""
    found = _TAG.match(text.strip())
    return frozenset(re.findall("[VRDST]", found[1])) if found else frozenset()


# ---- several checks of one scenario -------------------------------------------------------------


def _of_pairs(scene: str, good: list[Bounded]) -> Iterator[Finding]:
    seen: dict[str, Bounded] = {}
    for one in good:
        key = f"{one.measure.name} {sorted(one.params.items())} {one.written.expected}"
        if key in seen:
            yield Finding(
                "warn", "twin_check", scene, one.question.id, one.written.function,
                f"the same measure and bounds as in {seen[key].question.id}: counts twice",
            )  # fmt: skip
        seen.setdefault(key, one)
    for one, other in combinations(good, 2):
        if one.measure.name == other.measure.name and one.params == other.params:
            yield from _of_same_measure(scene, one, other)
        else:
            yield from _of_opposites(scene, one, other)


def _of_same_measure(scene: str, one: Bounded, other: Bounded) -> Iterator[Finding]:
    if _meet(one.stated, other.stated):
        return
    saved = _meet(one.passing, other.passing)
    yield Finding(
        "error", "unsatisfiable", scene, other.question.id, other.written.function,
        f"{one.question.id} wants {told(one.stated)}, this {told(other.stated)}: no value fits"
        f" both{', and only by tolerance one can pass' if saved else ''}",
    )  # fmt: skip


def _of_opposites(scene: str, one: Bounded, other: Bounded) -> Iterator[Finding]:
    for (first, least), (second, least_of_second), why in OPPOSED:
        for a, b in ((one, other), (other, one)):
            if (
                a.measure.name == first
                and b.measure.name == second
                and _at_least(a.stated, Decimal(least))
                and _at_least(b.stated, Decimal(least_of_second))
            ):
                yield Finding(
                    "warn", "opposed", scene, b.question.id, b.written.function,
                    f"{first} {told(a.stated)} in {a.question.id} and {second}"
                    f" {told(b.stated)}: {why}",
                )  # fmt: skip


def _at_least(interval: Interval, least: Decimal) -> bool:
    return interval.low is not None and interval.low >= least


def _meet(one: Interval, other: Interval) -> bool:
    """Tell whether two ranges have a value in common."""
    lows = [side for side in (one.low, other.low) if side is not None]
    highs = [side for side in (one.high, other.high) if side is not None]
    return not lows or not highs or max(lows) <= min(highs)


def told(interval: Interval) -> str:
    """Word a range."""
    if interval.low is None:
        return f"at most {interval.high}"
    if interval.high is None:
        return f"at least {interval.low}"
    return f"{interval.low} to {interval.high}"


# ---- trends in words ----------------------------------------------------------------------------


def trends_of(benchmark: Benchmark) -> list[dict[str, Any]]:
    """Return every bound of a trend as last bin against first, were the way between them straight.

    Null where there is no bound, or where the first or last bin would be 0 or less.
    """
    rows = []
    for scenario in benchmark.scenarios:
        for one in bounded_of(scenario)[0]:
            if one.measure.axis != "T":
                continue
            bins = one.params["n_bins"]
            count = bins if isinstance(bins, int) else 0
            rows.append(
                {
                    "scene": scenario.id,
                    "question": one.question.id,
                    "function": one.measure.name,
                    "min": None if one.stated.low is None else float(one.stated.low),
                    "max": None if one.stated.high is None else float(one.stated.high),
                    "min_times": times_first(one.stated.low, bins=count),
                    "max_times": times_first(one.stated.high, bins=count),
                }
            )
    return rows


def times_first(value: Decimal | None, *, bins: int) -> float | None:
    """Return how many times the first bin the last one is, for a trend along a straight line.

    (1 + v (n - 1) / 2) / (1 - v (n - 1) / 2): 0.1 over 5 bins is 1.5 times.
    """
    if value is None:
        return None
    half = float(value) * (bins - 1) / 2
    return round((1 + half) / (1 - half), 3) if abs(half) < 1 else None
