"""Draw the trips that are looked at again, and say why: for other judges, for people.

    sampled(trips, cut, judged=judged, faults=faults, settings=settings, seed=7)
    ->  1626278  why: sample, people     drawn from all selected trips: figures of it are unbiased
        1626302  why: near_cut           its score lies within the margin of the cut, on either side
        1626455  why: conflict           scored high where quality control found a fault

Each purpose draws the trips with the lowest numbers, and a trip's number depends on its id alone:
trips that are added take places, and change the order of no others. People and the random sample
share one drawing, so what people look at is judged by every judge too. Paper: 3.3.
"""

import hashlib
from typing import Annotated, Any, NamedTuple

import msgspec
import polars as pl
from msgspec import Meta

# Criteria that quality control has evidence for as well, by task.
CHECKED_BY_EVIDENCE = {
    "instructions": "instructions_no_hallucination",
    "queries": "queries_no_hallucination",
    "caption": "caption_accuracy",
}
# A task has 1 to 4 criteria and there are 3 tasks: in 36ths every score is whole, ties are exact.
UNITS = 36
_TASK_OF_TEXT = {"instruction": "instructions", "retrieval": "queries", "trajectory": "caption"}
_REFUTED = ["off_route", "invented", "contradicted"]
PURPOSES = ("sample", "near_cut", "conflict", "people")

Count = Annotated[int, Meta(ge=0, le=10_000_000)]


class SampleSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Key `samples` of section `select`.

    Attributes:
        sample: Selected trips that every other judge looks at too.
        near_cut: Most trips close to the cut that they look at.
        near_cut_margin: How far from the cut a trip may lie and be close, points.
        conflict: Most trips in conflict that they look at.
        conflict_score: From this score on a judge contradicts a fault of quality control.
        people: Selected trips that people look at.
    """

    sample: Count
    near_cut: Count
    near_cut_margin: Annotated[float, Meta(ge=0, le=4)]
    conflict: Count
    conflict_score: Annotated[int, Meta(ge=1, le=5)]
    people: Count


class Cut(NamedTuple):
    """Where the cut fell.

    Attributes:
        units: Score of the last trip taken, in 36ths of a point; None where nothing was cut off.
        tied: Trips with that score.
        tied_taken: Those of them that were taken.
    """

    units: int | None
    tied: int
    tied_taken: int


class Samples(NamedTuple):
    """The trips drawn, rows of `sampled_trip`, and how many there were to draw from."""

    trips: pl.DataFrame
    counts: dict[str, Any]


def draws(seed: int, purpose: str, trip_ids: pl.Series) -> pl.Series:
    """Return each trip's number in one drawing, from 0 to 2^64 - 1; the lowest are drawn."""
    head = f"{seed}\x1f{purpose}\x1f"
    numbers = [
        int.from_bytes(hashlib.blake2b((head + one).encode(), digest_size=8).digest(), "big")
        for one in trip_ids
    ]
    return pl.Series(numbers, dtype=pl.UInt64)


def qc_faults(checked: pl.DataFrame) -> pl.DataFrame:
    """Return which tasks of which trips quality control found at fault: trip_id, criterion.

    A fault is a name that is nowhere or off the route, or a claim that the phases refute; it speaks
    against the criterion of its task that is about it.

    Args:
        checked: Rows of `checked_trip`.
    """
    faults = []
    for column in ("mentions", "claims"):
        one = pl.col(column).struct
        found = checked.select("trip_id", column).explode(column).drop_nulls(column)
        faults.append(
            found.filter(one.field("verdict").is_in(_REFUTED)).select(
                "trip_id", word=one.field("field").str.split("_").list.first()
            )
        )
    criterion = {word: CHECKED_BY_EVIDENCE[task] for word, task in _TASK_OF_TEXT.items()}
    return (
        pl.concat(faults)
        .select(
            "trip_id", criterion=pl.col("word").replace_strict(criterion, return_dtype=pl.String)
        )
        .unique(maintain_order=True)
    )


def conflicts(judged: pl.DataFrame, faults: pl.DataFrame, *, from_score: int) -> pl.DataFrame:
    """Return the trips whose judge saw no fault where quality control found one.

    Args:
        judged: Rows of `judged_trip`, one a trip.
        faults: As `qc_faults` gives them.
        from_score: The lowest score that says "no fault".

    Returns:
        trip_id, conflicts (criteria in the order of the rubric); only trips that have one.
    """
    columns = list(CHECKED_BY_EVIDENCE.values())
    scores = judged.select("trip_id", pl.col("scores").struct.unnest())
    high = scores.unpivot(columns, index="trip_id", variable_name="criterion").filter(
        pl.col("value") >= from_score
    )
    found = high.join(faults, on=["trip_id", "criterion"], how="semi")
    rank = {code: place for place, code in enumerate(columns)}
    return (
        found.sort(pl.col("criterion").replace_strict(rank, return_dtype=pl.Int64))
        .group_by("trip_id", maintain_order=True)
        .agg(conflicts="criterion")
    )


def sampled(
    trips: pl.DataFrame,
    cut: Cut,
    *,
    judged: pl.DataFrame,
    faults: pl.DataFrame,
    settings: SampleSettings,
    seed: int,
) -> Samples:
    """Draw every sample.

    Args:
        trips: trip_id, units (score in 36ths, may be null), selected; one row a trip.
        cut: Where the cut fell; without one no trip is close to it.
        judged: Rows of `judged_trip` for the same trips.
        faults: As `qc_faults` gives them.
        settings: How many of which kind.
        seed: The data set's seed.

    Returns:
        The trips drawn, each once, in the order given; and for each purpose how many could have
        been drawn (`of`) and were (`drawn`).
    """
    contradicted = conflicts(judged, faults, from_score=settings.conflict_score)
    margin = settings.near_cut_margin * UNITS + 1e-6
    close = pl.lit(value=False)
    if cut.units is not None:
        close = (pl.col("units") - cut.units).abs() <= margin
    pools = {
        "sample": (trips.filter("selected"), settings.sample, "sample"),
        "near_cut": (trips.filter(close), settings.near_cut, "near_cut"),
        "conflict": (trips.join(contradicted, on="trip_id", how="semi"), settings.conflict,
                     "conflict"),
        "people": (trips.filter("selected"), settings.people, "sample"),
    }  # fmt: skip
    counts, marks = {}, trips
    for purpose, (pool, most, drawing) in pools.items():
        order = pool.with_columns(number=draws(seed, drawing, pool["trip_id"])).sort("number")
        drawn = order["trip_id"].head(most)
        counts[purpose] = {"of": pool.height, "drawn": drawn.len()}
        marks = marks.with_columns(
            pl.when(pl.col("trip_id").is_in(drawn.implode())).then(pl.lit(purpose)).alias(purpose)
        )
    why = pl.concat_list(PURPOSES).list.drop_nulls()
    chosen = (
        marks.with_columns(why=why)
        .filter(pl.col("why").list.len() > 0)
        .join(contradicted, on="trip_id", how="left", maintain_order="left")
        .select(
            "trip_id",
            "selected",
            score=(pl.col("units") / UNITS).round(4),
            why="why",
            conflicts=pl.col("conflicts").fill_null([]),
        )
    )
    return Samples(chosen, counts)
