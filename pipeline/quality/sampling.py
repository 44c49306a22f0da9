"""Draw the trips that are looked at again, and say why: for other judges, for people.

    sampled(trips, cut, judged=judged, flags=flags, settings=settings, seed=7)
    ->  1626278  why: sample, people     drawn from all selected trips: figures of it are unbiased
        1626302  why: near_cut           among the closest to the cut on its side
        1626455  why: judge_milder       no falsehood for the judge, a flag of quality control
        1626460  why: judge_stricter     a falsehood for the judge, no flag of quality control

Quality control refuses what it finds false, so what it lets pass has at most flags: that is all a
judge can disagree with. A judge says by the rubric's anchors whether something is false: from
`sound_score` on nothing is. Each purpose draws the trips with the lowest numbers (near the cut the
closest first), and a trip's number depends on its id alone: trips that are added take places, and
change the order of no others. People and the random sample share one drawing, so what people look
at is judged by every judge too. Paper: 3.3.
"""

import hashlib
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
import polars as pl
from msgspec import Meta

# Criteria that ask whether something said is false, by task: what quality control looks at as well.
TRUTH = {
    "instructions": ("instructions_correctness", "instructions_no_hallucination"),
    "queries": ("queries_accuracy", "queries_no_hallucination"),
    "caption": ("caption_accuracy",),
}
# Stages of quality control whose flags doubt that a text is true; the others are about wording.
DOUBTING = ("grounding", "verification")
# A task has 1 to 4 criteria and there are 3 tasks: in 36ths every score is whole, ties are exact.
UNITS = 36
_TASK_OF_TEXT = {"instruction": "instructions", "retrieval": "queries", "trajectory": "caption"}
PURPOSES = ("sample", "near_cut", "judge_milder", "judge_stricter", "people")

Count = Annotated[int, Meta(ge=0, le=10_000_000)]


class SampleSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Key `samples` of section `select`.

    Attributes:
        sample: Selected trips that every other judge looks at too.
        near_cut: Most trips close to the cut, on either side of it, that they look at.
        near_cut_margin: How far from the cut a trip may lie and be close, points.
        sound_score: From this score on a judge says that nothing is false.
        judge_milder: Most trips that quality control flagged and the judge found sound.
        judge_stricter: Most trips that quality control did not flag and the judge found false.
        people: Selected trips that people look at.
    """

    sample: Count
    near_cut: Count
    near_cut_margin: Annotated[float, Meta(ge=0, le=4)]
    sound_score: Annotated[int, Meta(ge=2, le=5)]
    judge_milder: Count
    judge_stricter: Count
    people: Count


class Cut(NamedTuple):
    """Where the cut fell: the lowest score that is taken.

    Attributes:
        by: What cut: `top`, the most that are taken, or else `least_score`.
        units: The score, in 36ths of a point; of the last trip taken where `top` cut.
        tied: Trips with that score.
        tied_taken: Those of them that were taken.
    """

    by: Literal["top", "least_score"]
    units: float
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


def flagged_tasks(checked: pl.DataFrame) -> pl.DataFrame:
    """Return which tasks of which trips quality control doubts but let pass: trip_id, task.

    Args:
        checked: Rows of `checked_trip`.
    """
    found = checked.select("trip_id", "findings").explode("findings").drop_nulls("findings")
    one = pl.col("findings").struct
    doubted = (one.field("action") == "flag") & one.field("stage").is_in(DOUBTING)
    word = one.field("field").str.split("_").list.first()
    return (
        found.filter(doubted)
        .select("trip_id", task=word.replace_strict(_TASK_OF_TEXT, return_dtype=pl.String))
        .unique(maintain_order=True)
    )


def disagreements(judged: pl.DataFrame, flags: pl.DataFrame, *, sound: int) -> pl.DataFrame:
    """Return where judge and quality control disagree on what is true, task by task.

    The judge is milder where a task is flagged and none of its criteria of truth is scored below
    `sound`, stricter where one is and no flag stands. What is not scored says nothing.

    Args:
        judged: Rows of `judged_trip`, one a trip.
        flags: As `flagged_tasks` gives them.
        sound: The lowest score that says that nothing is false.

    Returns:
        trip_id, judge_milder, judge_stricter: the criteria in question, in the order of the rubric;
        one row for each trip, in the order given.
    """
    scores = judged.select("trip_id", pl.col("scores").struct.unnest())
    milder, stricter = [], []
    for task, criteria in TRUTH.items():
        doubted = pl.col("trip_id").is_in(flags.filter(task=task)["trip_id"].implode())
        lowest = pl.min_horizontal(criteria)
        for code in criteria:
            name, score = pl.lit(code), pl.col(code)
            milder.append(pl.when(doubted & (lowest >= sound) & score.is_not_null()).then(name))
            stricter.append(pl.when(~doubted & (score < sound)).then(name))
    return scores.select(
        "trip_id",
        judge_milder=pl.concat_list(milder).list.drop_nulls(),
        judge_stricter=pl.concat_list(stricter).list.drop_nulls(),
    )


def sampled(
    trips: pl.DataFrame,
    cut: Cut,
    *,
    judged: pl.DataFrame,
    flags: pl.DataFrame,
    settings: SampleSettings,
    seed: int,
) -> Samples:
    """Draw every sample.

    Args:
        trips: trip_id, units (score in 36ths, may be null), selected, refused; one row a trip.
        cut: Where the cut fell.
        judged: Rows of `judged_trip` for the same trips.
        flags: As `flagged_tasks` gives them.
        settings: How many of which kind.
        seed: The data set's seed.

    Returns:
        The trips drawn, each once, in the order given; and for each purpose how many could have
        been drawn (`of`) and were (`drawn`).
    """
    told = trips.join(
        disagreements(judged, flags, sound=settings.sound_score), on="trip_id", how="left",
        maintain_order="left",
    )  # fmt: skip
    chosen = told.filter("selected")
    pools = {
        "sample": (chosen, _lowest(chosen, settings.sample, "sample", seed)),
        "near_cut": _near_cut(told, cut, settings, seed),
        "people": (chosen, _lowest(chosen, settings.people, "sample", seed)),
    }
    for purpose, most in (
        ("judge_milder", settings.judge_milder),
        ("judge_stricter", settings.judge_stricter),
    ):
        pool = told.filter(pl.col(purpose).list.len() > 0)
        pools[purpose] = pool, _lowest(pool, most, purpose, seed)
    counts = {
        purpose: {"of": pools[purpose][0].height, "drawn": pools[purpose][1].len()}
        for purpose in PURPOSES
    }
    marks = [
        pl.when(pl.col("trip_id").is_in(pools[purpose][1].implode())).then(pl.lit(purpose))
        for purpose in PURPOSES
    ]
    why = pl.concat_list(marks).list.drop_nulls()
    drawn = told.with_columns(why=why).filter(pl.col("why").list.len() > 0)
    rows = drawn.select(
        "trip_id",
        "selected",
        score=(pl.col("units") / UNITS).round(4),
        why="why",
        judge_milder="judge_milder",
        judge_stricter="judge_stricter",
    )
    return Samples(rows, counts)


def _lowest(pool: pl.DataFrame, most: int, drawing: str, seed: int) -> pl.Series:
    """Return the trips of a pool with the lowest numbers of a drawing."""
    order = pool.with_columns(number=draws(seed, drawing, pool["trip_id"])).sort("number")
    return order["trip_id"].head(most)


def _near_cut(
    trips: pl.DataFrame, cut: Cut, settings: SampleSettings, seed: int
) -> tuple[pl.DataFrame, pl.Series]:
    """Return the trips close to the cut, and the closest of either side."""
    distance = (pl.col("units") - cut.units).abs()
    pool = trips.filter(
        (pl.col("refused") != "unscored") & (distance <= settings.near_cut_margin * UNITS + 1e-6)
    )
    order = pool.with_columns(number=draws(seed, "near_cut", pool["trip_id"]), distance=distance)
    order = order.sort("distance", "number")
    sides = [
        order.filter(pl.col("selected") == side)["trip_id"].head(settings.near_cut)
        for side in (True, False)
    ]
    return pool, pl.concat(sides)
