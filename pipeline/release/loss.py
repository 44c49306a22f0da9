"""The loss ledger: every raw trip, and every piece it came down to, ends in exactly one state.

    raw trip 17 breaks in two; check refuses the second drive  ->
    item 17      raw 17   released  stage release                       split train   decides
    item 17_p2   raw 17   rejected  stage check    reason off_route     split null

A piece is what a stage accepts or refuses as one thing: a raw trip while ingest reads it, a
cleaned trip in match, a drive from there on. A raw trip is released when one of its pieces is;
else it ended where its furthest piece did: that piece `decides`. Counts add up at both levels, and
a trip that a stage lost or counted twice is an error. Paper: 3.3 (selection); the rest is ours.
"""

from typing import Any, NamedTuple

import polars as pl

from pipeline.errors import ContractError
from pipeline.release.splits import SPLITS

# The stages that accept or refuse trips, in order, and what they write of those they accept.
LIFE = {
    "ingest": "cleaned",
    "match": "matched",
    "compress": "phased",
    "plan_intents": "planned",
    "annotate": "annotated",
    "check": "checked",
    "select": "selected",
}
RELEASE = "release"
DRIVE_STAGES = tuple(LIFE)[2:]
INSTANCES_PER_TRIP = 7


class Passed(NamedTuple):
    """What each stage accepted.

    Attributes:
        raw_trips: Column raw_trip_id.
        cleaned: Columns trip_id, raw_trip_id.
        matched: Columns trip_id, cleaned_trip_id.
        drives: For each stage after `match` the trip_ids it accepted.
    """

    raw_trips: pl.DataFrame
    cleaned: pl.DataFrame
    matched: pl.DataFrame
    drives: dict[str, pl.Series]


def loss_entries(passed: Passed, rejected: pl.DataFrame) -> pl.DataFrame:
    """Follow every input to its end.

    Args:
        passed: What the stages accepted.
        rejected: Their rejections: item_id, stage, reason. An item of `ingest` that is no raw trip
            is a row of the source that could not be read, an input of its own.

    Returns:
        item_id, raw_trip_id, state, stage, reason and decides, sorted by item_id; one row a piece.

    Raises:
        ContractError: A piece is in no state or in two; names the stage and the piece.
    """
    refused = {
        stage: rejected.filter(stage=stage).unique("item_id", maintain_order=True) for stage in LIFE
    }
    origin = passed.matched.select("trip_id", base="cleaned_trip_id").join(
        passed.cleaned.select("raw_trip_id", base="trip_id"), on="base", how="left"
    )
    _check_ingest(passed, refused["ingest"])
    unmatched = _check_match(passed, refused["match"])
    arrived = passed.matched["trip_id"]
    for stage in DRIVE_STAGES:
        _check_partition(stage, arrived, passed.drives[stage], refused[stage]["item_id"])
        arrived = passed.drives[stage]
    ends = [
        refused["ingest"].select("item_id", "stage", "reason", raw_trip_id="item_id"),
        unmatched,
        *(
            refused[stage].join(origin, left_on="item_id", right_on="trip_id", how="left")
            for stage in DRIVE_STAGES
        ),
        origin.filter(pl.col("trip_id").is_in(arrived.implode())).select(
            "raw_trip_id",
            item_id="trip_id",
            stage=pl.lit(RELEASE),
            reason=pl.lit(None, dtype=pl.String),
        ),
    ]
    columns = ["item_id", "raw_trip_id", "stage", "reason"]
    return _with_decisive(pl.concat([end.select(columns) for end in ends]))


def _with_decisive(ends: pl.DataFrame) -> pl.DataFrame:
    depth = {stage: number for number, stage in enumerate([*LIFE, RELEASE])}
    released = pl.col("stage") == RELEASE
    ordered = ends.with_columns(
        depth=pl.col("stage").replace_strict(depth, return_dtype=pl.Int64),
        state=pl.when(released).then(pl.lit("released")).otherwise(pl.lit("rejected")),
    ).sort("raw_trip_id", "depth", "item_id", descending=[False, True, False])
    return ordered.select(
        "item_id",
        "raw_trip_id",
        "state",
        "stage",
        "reason",
        decides=pl.col("raw_trip_id").is_first_distinct(),
    ).sort("item_id")


def _check_ingest(passed: Passed, refused: pl.DataFrame) -> None:
    """Check that each raw trip gave cleaned trips or was refused, and not both."""
    raw = passed.raw_trips["raw_trip_id"]
    unread = _without(refused["item_id"], raw)
    arrived = pl.concat([raw, unread])
    _check_partition("ingest", arrived, passed.cleaned["raw_trip_id"].unique(), refused["item_id"])


def _check_match(passed: Passed, refused: pl.DataFrame) -> pl.DataFrame:
    """Check that each cleaned trip gave drives or refusals; return the refusals with raw ids."""
    cleaned = passed.cleaned.select("raw_trip_id", base="trip_id")
    # A refusal names the cleaned trip or one drive of it, <cleaned trip>_p2.
    known = pl.col("item_id").is_in(cleaned["base"].implode())
    stem = pl.col("item_id").str.replace(r"_p\d+$", "")
    refused = refused.with_columns(base=pl.when(known).then("item_id").otherwise(stem)).join(
        cleaned, on="base", how="left"
    )
    both = pl.concat([passed.matched["cleaned_trip_id"], refused["base"]]).unique()
    _check_partition("match", cleaned["base"], both, both.clear())
    twice = refused.join(passed.matched, left_on="item_id", right_on="trip_id", how="semi")
    if twice.height:
        raise _fault("match", "one end", f"{twice['item_id'][0]!r} accepted and refused")
    return refused


def _check_partition(
    stage: str, arrived: pl.Series, accepted: pl.Series, refused: pl.Series
) -> None:
    """Check that what arrived was accepted or refused, each once, and nothing else was."""
    ends = pl.concat([accepted, refused])
    for found, what in (
        (ends.filter(ends.is_duplicated()), "accepted and refused, or one of them twice"),
        (_without(arrived, ends), "neither accepted nor refused"),
        (_without(ends, arrived), "that never arrived"),
    ):
        if found.len():
            raise _fault(stage, "each trip to end once", f"{found.min()!r} {what}")


def _without(one: pl.Series, other: pl.Series) -> pl.Series:
    return one.filter(~one.is_in(other.implode()))


def _fault(stage: str, expected: str, found: str) -> ContractError:
    return ContractError(
        f"loss ledger: stage {stage}: expected {expected}, found {found}; run"
        " `dvc repro` (tables of different runs do not fit), else mend the stage"
    )


def loss_figures(entries: pl.DataFrame, passed: Passed) -> dict[str, Any]:
    """Count the ends, by raw trips and by pieces.

    Args:
        entries: Result of `loss_entries`, with the column split (null where not released).
        passed: What the stages accepted.

    Returns:
        `raw_trips`: how many arrived, were released, and were rejected by stage and reason.
        `flow`: for each stage, pieces that arrived, were gained because a trip came apart, were
        rejected and passed; arrived + gained = rejected + passed, and what passed arrives next.
        `released`: trips and task instances, in all and by split.
    """
    decisive = entries.filter("decides")
    released = entries.filter(state="released")
    return {
        "raw_trips": {
            "arrived": decisive.height,
            "released": decisive.filter(state="released").height,
            "rejected": decisive.filter(state="rejected").height,
            "by_stage": {stage: _reasons(decisive, stage) for stage in LIFE},
        },
        "flow": _flow(entries, passed, decisive.height),
        "released": {
            "trips": released.height,
            "instances": released.height * INSTANCES_PER_TRIP,
            "splits": {split: released.filter(split=split).height for split in SPLITS},
        },
    }


def _flow(entries: pl.DataFrame, passed: Passed, arrived: int) -> dict[str, Any]:
    heights = {"ingest": passed.cleaned.height, "match": passed.matched.height}
    heights |= {stage: ids.len() for stage, ids in passed.drives.items()}
    flow = {}
    for stage in LIFE:
        reasons = _reasons(entries, stage)
        rejected = sum(reasons.values())
        flow[stage] = {
            "arrived": arrived,
            "gained": rejected + heights[stage] - arrived,
            "rejected": rejected,
            "passed": heights[stage],
            "reasons": reasons,
        }
        arrived = heights[stage]
    return flow


def _reasons(entries: pl.DataFrame, stage: str) -> dict[str, int]:
    counts = entries.filter(stage=stage).group_by("reason").len().sort("reason")
    return dict(counts.iter_rows())
