"""Take the best trips of a city by their scores, and draw who looks at some of them again.

    judged trips  ->  selected: at most `top`, by score, ties at the cut broken by a hash of the id
                      rejections: unscored, below_least_score, below_cut
                      sampled: trips for other judges and for people, each with the reasons why

A trip's score is the mean of its three tasks, each the mean of those of its criteria that are
scored. The cut is the primary judge's alone, as in the paper: other judges see few trips and are
stricter or milder, and a trip must neither win nor lose by having met them. Paper: 3.3.
"""

import sys
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
import polars as pl
from msgspec import Meta

from pipeline.keys import Seed
from pipeline.quality.rubric import CRITERIA, TASKS, task_of
from pipeline.quality.sampling import UNITS, Cut, SampleSettings, draws, flagged_tasks, sampled
from pipeline.store import StageIO

_PER_TASK = UNITS // len(TASKS)


class SelectSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Section `select` of params.yaml.

    Attributes:
        least_scored: Fewest criteria that must be scored, one of each task among them.
        least_score: Lowest score that is taken.
        top: Most trips taken of a city.
        samples: Who looks again, and at how many.
    """

    least_scored: Annotated[int, Meta(ge=3, le=10)]
    least_score: Annotated[float, Meta(ge=1, le=5)]
    top: Annotated[int, Meta(ge=1, le=100_000_000)]
    samples: SampleSettings


class Selection(NamedTuple):
    """What became of a city's judged trips.

    Attributes:
        trips: Every trip in the order given: trip_id, units (score in 36ths, null where a task has
            none), scored, reason ("" when selected), detail, selected, at_cut.
        cut: Where the cut fell.
    """

    trips: pl.DataFrame
    cut: Cut


def scored(judged: pl.DataFrame) -> pl.DataFrame:
    """Add the score of each trip.

    Args:
        judged: Rows of `judged_trip`, one a trip.

    Returns:
        trip_id, status, reason, scored (number of criteria), and units: the score in 36ths of a
        point, null where a task has no scored criterion.
    """
    scores = judged.select("trip_id", "status", "reason", pl.col("scores").struct.unnest())
    means = []
    for task in TASKS:
        columns = [code for code in CRITERIA if task_of(code) == task]
        number = pl.sum_horizontal(pl.col(code).is_not_null() for code in columns)
        mean = _PER_TASK * pl.sum_horizontal(columns) // number
        means.append(pl.when(number > 0).then(mean.cast(pl.Int64)))
    number = pl.sum_horizontal(pl.col(code).is_not_null() for code in CRITERIA)
    return scores.select(
        "trip_id",
        "status",
        "reason",
        scored=number.cast(pl.Int64),
        units=pl.sum_horizontal(means, ignore_nulls=False),
    )


def selected(judged: pl.DataFrame, *, settings: SelectSettings, seed: int) -> Selection:
    """Take the best trips.

    Args:
        judged: Rows of `judged_trip`, one a trip.
        settings: The rule.
        seed: The data set's seed; breaks ties.
    """
    units, number = pl.col("units"), pl.col("scored")
    unscored = units.is_null() | (number < settings.least_scored)
    trips = scored(judged).with_columns(
        tie=draws(seed, "tie", judged["trip_id"]),
        refused=pl.when(unscored)
        .then(pl.lit("unscored"))
        .when(units < settings.least_score * UNITS - 1e-6)
        .then(pl.lit("below_least_score"))
        .otherwise(pl.lit("")),
    )
    ranked = trips.filter(refused="").sort("units", "tie", descending=[True, False])
    taken = ranked.head(settings.top)
    cut = _cut(ranked, taken, settings)
    trips = trips.with_columns(selected=pl.col("trip_id").is_in(taken["trip_id"].implode()))
    below = (pl.col("refused") == "") & ~pl.col("selected")
    at_cut = pl.lit(value=False)
    if cut.tied > cut.tied_taken:
        at_cut = pl.col("selected") & (units == cut.units)
    trips = trips.select(
        "trip_id",
        "units",
        "scored",
        "selected",
        at_cut=at_cut,
        refused=pl.when(below).then(pl.lit("below_cut")).otherwise("refused"),
        verdict=pl.when(pl.col("status") != "ok").then(
            pl.format("{}: {}", pl.col("status"), pl.col("reason"))
        ),
    )
    return Selection(trips, cut)


def _cut(ranked: pl.DataFrame, taken: pl.DataFrame, settings: SelectSettings) -> Cut:
    """Tell where the cut fell: at the least score, unless more trips reach it than are taken."""
    by: Literal["top", "least_score"] = "least_score"
    units = settings.least_score * UNITS
    if ranked.height > taken.height:
        by, units = "top", int(taken["units"][-1])
    tied, tied_taken = (int((trips["units"] == units).sum()) for trips in (ranked, taken))
    return Cut(by, units, tied, tied_taken)


def _rejections(selection: Selection, settings: SelectSettings) -> pl.DataFrame:
    """Return item_id, stage, reason and detail of every trip that was not taken."""
    cut, points = selection.cut, (pl.col("units") / UNITS).round(4)
    few = pl.format(
        f"{{}} of {len(CRITERIA)} criteria scored, expected at least {settings.least_scored}, one"
        " of each task",
        pl.col("scored"),
    )
    low = pl.format(f"score {{}}, expected at least {settings.least_score}", points)
    late = pl.format(f"score {{}}, {_cut_words(cut)}", points)
    return selection.trips.filter(~pl.col("selected")).select(
        item_id="trip_id",
        stage=pl.lit("select"),
        reason="refused",
        detail=pl.when(refused="unscored")
        .then(pl.coalesce("verdict", few))
        .when(refused="below_least_score")
        .then(low)
        .otherwise(late),
    )


def _cut_words(cut: Cut) -> str:
    score = round(cut.units / UNITS, 4)
    if cut.by == "least_score":
        return f"the cut is at {score}, the least score"
    tied = f", {cut.tied} tie there, {cut.tied_taken} of them taken by hash"
    return f"the cut is at {score}{tied if cut.tied > cut.tied_taken else ''}"


def run(io: StageIO, *, seed: Seed, select: SelectSettings, city: str) -> None:
    """Select the trips of a city, and draw those that others look at."""
    judged = io.read("judged")
    selection = selected(judged, settings=select, seed=seed)
    flags = pl.concat([flagged_tasks(frame) for frame in io.batches("checked")])
    samples = sampled(
        selection.trips,
        selection.cut,
        judged=judged,
        flags=flags,
        settings=select.samples,
        seed=seed,
    )
    taken = selection.trips.filter("selected")
    io.write("selected", taken.select("trip_id", score=_points(), scored="scored", at_cut="at_cut"))
    io.write("sampled", samples.trips)
    io.reject(_rejections(selection, select))
    figures = _figures(selection, select, judged) | {"samples": samples.counts}
    io.write_json("selection_metrics", {"city": city, **figures})
    print(
        f"select {city}: {taken.height:,} of {judged.height:,} trips taken;"
        f" {_cut_words(selection.cut)}",
        file=sys.stderr,
    )


def _points() -> pl.Expr:
    return (pl.col("units") / UNITS).round(4)


def _figures(
    selection: Selection, settings: SelectSettings, judged: pl.DataFrame
) -> dict[str, Any]:
    trips, cut = selection.trips, selection.cut
    refused = trips["refused"].value_counts()
    counts = dict(zip(refused["refused"], refused["count"], strict=True))
    points = trips.select(_points())["units"]
    return {
        "judge": judged["model"][0] if judged.height else None,
        "trips": trips.height,
        "rejected": {
            reason: counts.get(reason, 0)
            for reason in ("unscored", "below_least_score", "below_cut")
        },
        "selected": int(trips["selected"].sum()),
        "top": settings.top,
        "cut": {
            "by": cut.by,
            "score": round(cut.units / UNITS, 4),
            "tied": cut.tied,
            "tied_taken": cut.tied_taken,
            "tie_break": "lowest blake2b-64 of seed, 'tie' and trip id, joined by 0x1f",
        },
        "scores": {
            "mean": _rounded(points.mean()),
            **{f"p{q}": _rounded(points.quantile(q / 100, "linear")) for q in (10, 50, 90)},
        },
    }


def _rounded(value: object) -> float | None:
    return round(float(value), 4) if isinstance(value, int | float) else None
