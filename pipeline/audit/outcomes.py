"""What quality control and the judge made of the texts on both sides, beside each trip.

    trips, absent, notes = with_outcomes(trips, before, after, "monaco")
    outcome_measures(trips.filter("paired"), name="monaco")

A version without a stage's results has no figures of it: the report says so, never zero.
"""

import polars as pl

from pipeline.audit.report import Absent, Measure
from pipeline.audit.scores import judges, read_scores, score_measures
from pipeline.audit.versions import Missing, Version
from pipeline.audit.worse import OUTCOMES
from pipeline.quality.rubric import CRITERIA

JUDGE, CHECK = "scores of the judge", "quality control"


def with_outcomes(
    trips: pl.DataFrame, before: Version, after: Version, city: str
) -> tuple[pl.DataFrame, list[Absent], list[str]]:
    """Add what is known of each trip beside its texts, on both sides.

    Returns:
        The trips, the parts that are not there, and notes.
    """
    absent: list[Absent] = []
    notes: list[str] = []
    folders = [version.artifact(city, "judged") for version in (before, after)]
    missing = [one.why for one in folders if isinstance(one, Missing)]
    absent += [Absent(JUDGE, "; ".join(missing))] if missing else []
    there = [one for one in folders if not isinstance(one, Missing)]
    if len(there) == len(folders):
        for folder, suffix in zip(there, ("", "_after"), strict=True):
            scores = read_scores(folder)
            scores = scores.rename({name: name + suffix for name in scores.columns[1:]})
            trips = trips.join(scores, on="trip_id", how="left")
        old, new = (judges(folder) for folder in there)
        if old != new:
            notes.append(
                f"the judges differ ({', '.join(old)}; {', '.join(new)}): a difference of scores"
                " may be theirs"
            )
    return _with_unknown(trips), absent, notes


def without_outcomes(trips: pl.DataFrame) -> tuple[pl.DataFrame, list[Absent]]:
    """Say of trips of which only answers are known that nothing else is."""
    why = "a ledger holds answers, nothing that was made of them"
    return _with_unknown(trips), [Absent(CHECK, why), Absent(JUDGE, why)]


def _with_unknown(trips: pl.DataFrame) -> pl.DataFrame:
    scores = dict.fromkeys(CRITERIA, pl.Float64)
    return trips.with_columns(
        pl.lit(None, dtype=kind).alias(name + suffix)
        for name, kind in {**OUTCOMES, **scores}.items()
        for suffix in ("", "_after")
        if name + suffix not in trips.columns
    )


def outcome_measures(pairs: pl.DataFrame, *, name: str) -> list[Measure]:
    """Return the figures of checks and scores over paired trips; those of stages that are there."""
    found: list[Measure] = []
    if pairs["score"].count() and pairs["score_after"].count():
        found += score_measures(pairs, name=name)
    return found
