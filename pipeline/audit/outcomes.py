"""What quality control and the judge made of the texts on both sides, beside each trip.

    trips, absent, notes = with_outcomes(trips, before, after, "monaco")
    outcome_measures(trips.filter("paired"), name="monaco")

A version without a stage's results has no figures of it: the report says so, never zero.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl

from pipeline.audit.checks import check_measures, read_checks
from pipeline.audit.report import Absent, Measure
from pipeline.audit.scores import judges, read_scores, score_measures
from pipeline.audit.versions import Missing, Version
from pipeline.audit.worse import OUTCOMES
from pipeline.quality.rubric import CRITERIA

CHECK, JUDGE = "quality control", "scores of the judge"


def with_outcomes(
    trips: pl.DataFrame, before: Version, after: Version, city: str
) -> tuple[pl.DataFrame, list[Absent], list[str]]:
    """Add what is known of each trip beside its texts, on both sides.

    Returns:
        The trips, the parts that are not there, and notes.
    """
    absent: list[Absent] = []
    notes: list[str] = []
    for part, names, read in (
        (CHECK, ("checked", "check_rejected"), lambda paths: read_checks(paths[0], paths[1])),
        (JUDGE, ("judged",), lambda paths: read_scores(paths[0])),
    ):
        paths, why = _artifacts((before, after), city, names)
        try:
            trips = trips if why else _joined(trips, paths, read)
            notes += _other_judges(paths) if part == JUDGE and not why else []
        except pl.exceptions.PolarsError as fault:  # of another time, with other columns
            why = f"not in the form of today: {str(fault).splitlines()[0]}"
        if why:
            absent.append(Absent(part, why))
    return _with_unknown(trips), absent, notes


def _other_judges(paths: Sequence[Sequence[Path]]) -> list[str]:
    old, new = (judges(side[0]) for side in paths)
    if old == new:
        return []
    who = f"{', '.join(old)}; {', '.join(new)}"
    return [f"the judges differ ({who}): a difference of scores may be theirs"]


def _artifacts(
    versions: Sequence[Version], city: str, names: Sequence[str]
) -> tuple[list[list[Path]], str]:
    """Return the artifacts of each version, and what is missing in words ("" if nothing is)."""
    found = [[version.artifact(city, name) for name in names] for version in versions]
    missing = [one.why for side in found for one in side if isinstance(one, Missing)]
    there = [[one for one in side if not isinstance(one, Missing)] for side in found]
    return there, "; ".join(missing)


def _joined(
    trips: pl.DataFrame, sides: Sequence[Sequence[Path]], read: Callable[..., pl.DataFrame]
) -> pl.DataFrame:
    for paths, suffix in zip(sides, ("", "_after"), strict=True):
        frame = read(paths)
        frame = frame.rename({name: name + suffix for name in frame.columns if name != "trip_id"})
        trips = trips.join(frame, on="trip_id", how="left")
    return trips


def without_outcomes(trips: pl.DataFrame) -> tuple[pl.DataFrame, list[Absent]]:
    """Say of trips of which only answers are known that nothing else is."""
    why = "a ledger holds answers, nothing that was made of them"
    return _with_unknown(trips), [Absent(CHECK, why), Absent(JUDGE, why)]


def _with_unknown(trips: pl.DataFrame) -> pl.DataFrame:
    kinds = {**OUTCOMES, **dict.fromkeys(CRITERIA, pl.Float64)}
    return trips.with_columns(
        pl.lit(None, dtype=kind).alias(name + suffix)
        for name, kind in kinds.items()
        for suffix in ("", "_after")
        if name + suffix not in trips.columns
    )


def outcome_measures(pairs: pl.DataFrame, *, name: str) -> list[Measure]:
    """Return the figures of checks and scores over paired trips; those of stages that are there."""
    found: list[Measure] = []
    if pairs["passed"].count() and pairs["passed_after"].count():
        found += check_measures(pairs, name=name)
    if pairs["score"].count() and pairs["score_after"].count():
        found += score_measures(pairs, name=name)
    return found
