"""Put the release of a city into numbers: splits, shared routes, lengths, names.

data/<city>/metrics/release.json   what `dvc metrics show` prints, and what the card tells
"""

from typing import Any

import polars as pl

from pipeline.release.loss import INSTANCES_PER_TRIP
from pipeline.release.routes import ROUTE, routes_of, shared_routes, twins_of
from pipeline.release.splits import SPLITS

# Task: prefix of its texts, number of them.
TASKS = {
    "generation": ("instruction_", 3),
    "retrieval": ("retrieval_query_", 3),
    "captioning": ("trajectory_caption", 1),
}
AUTHOR = ("engine", "model", "revision", "prompt_hash")
VERDICTS = ("grounded", "off_route", "invented")


def traits_of(trips: pl.DataFrame) -> pl.DataFrame:
    """Keep of trips what the figures are made of, so that texts and paths need not be held.

    Args:
        trips: Released trips, as `released_trips` joins them.

    Returns:
        trip_id, split, sizes and score, who wrote and judged it, the words of each text as
        `words_<text>`, the names in the texts of each task as `<task>_names` and by verdict, and
        what `routes_of` keeps.
    """
    meta, texts = pl.col("meta").struct, pl.col("texts").struct
    fields = trips["texts"].struct.fields
    traits = trips.select(
        "trip_id",
        "split",
        "score",
        meta.field("length_m", "duration_s"),
        *(texts.field(f).str.split(" ").list.len().alias(f"words_{f}") for f in fields),
        *(_names(task, verdict) for task in TASKS for verdict in (None, *VERDICTS)),
        segments=pl.col("edge_ids").list.len(),
        cells=pl.col("cells").list.len(),
        writer=pl.struct(pl.col("provenance").struct.field(*AUTHOR)),
        judge=pl.struct(pl.col("judge").struct.field(*AUTHOR)),
    )
    return traits.hstack(routes_of(trips))


def _names(task: str, verdict: str | None) -> pl.Expr:
    """Count the names in the texts of a task, all or those with one verdict."""
    mention = pl.element().struct
    meant = mention.field("field").str.starts_with(TASKS[task][0])
    if verdict is not None:
        meant &= mention.field("verdict") == verdict
    counted = pl.col("mentions").list.eval(pl.element().filter(meant)).list.len()
    return counted.alias(f"{task}_{verdict or 'names'}")


def split_figures(traits: pl.DataFrame) -> dict[str, Any]:
    """Count trips and instances by split; shares are null where there are no trips."""
    figures = {}
    for split in SPLITS:
        height = traits.filter(split=split).height
        share = round(height / traits.height, 4) if traits.height else None
        instances = {task: number * height for task, (_, number) in TASKS.items()}
        figures[split] = {"trips": height, "share": share, **instances}
    return figures


def sharing_figures(traits: pl.DataFrame, *, near: float) -> dict[str, Any]:
    """Count the trips of val and test whose route is known from train."""
    train = _routes(traits, "train")
    shared = {
        split: shared_routes(_routes(traits, split), train, near=near) for split in SPLITS[1:]
    }
    return {"near_jaccard": near, **shared}


def scored_sharing_figures(traits: pl.DataFrame, *, near: float) -> dict[str, Any]:
    """Count the trips of val whose route occurs in test, and those of test that occur in val."""
    val, test = (_routes(traits, split) for split in SPLITS[1:])
    return {
        "val": shared_routes(val, test, near=near),
        "test": shared_routes(test, val, near=near),
    }


def _routes(traits: pl.DataFrame, split: str) -> pl.DataFrame:
    return traits.lazy().filter(split=split).select(ROUTE).collect()


def pool_figures(traits: pl.DataFrame) -> dict[str, int]:
    """Count by split the trips whose pool holds another on the very same segments."""
    twins = {split: twins_in(traits, split) for split in SPLITS}
    return {split: int(groups["ids"].list.len().sum()) for split, groups in twins.items()}


def twins_in(traits: pl.DataFrame, split: str) -> pl.DataFrame:
    """Return what `twins_of` says of the pool of a split."""
    return twins_of(traits.select("split", "trip_id", "same_segments").filter(split=split))


def trip_figures(traits: pl.DataFrame) -> dict[str, Any]:
    """Return the 10th, 50th and 90th percentile of sizes and scores; null without trips."""
    names = ("segments", "cells", "length_m", "duration_s", "score")
    return {name: quantiles(traits[name]) for name in names}


def text_figures(traits: pl.DataFrame) -> dict[str, Any]:
    """Return for each task how long its texts are, and on what the names in them rest."""
    figures = {}
    for task, (prefix, _) in TASKS.items():
        words = pl.concat(traits.select(pl.col(f"^words_{prefix}.*$")).get_columns())
        counts = ("names", *VERDICTS)
        figures[task] = {
            "words": quantiles(words),
            **{name: int(traits[f"{task}_{name}"].sum()) for name in counts},
        }
    return figures


def quantiles(values: pl.Series) -> dict[str, float | None]:
    """Return the 10th, 50th and 90th percentile; null of an empty series."""
    found = {p: values.cast(pl.Float64).quantile(p / 100, "linear") for p in (10, 50, 90)}
    return {f"p{p}": None if v is None else round(v, 3) for p, v in found.items()}


def check_counts(traits: pl.DataFrame, loss: dict[str, Any], written: dict[str, int]) -> list[str]:
    """Return where the release and the loss ledger disagree; empty where they tell the same.

    Args:
        traits: Result of `traits_of` for all released trips.
        loss: Record of `loss_metrics`.
        written: Instances written, by task.
    """
    told = loss["released"]
    found = {split: traits.filter(split=split).height for split in SPLITS}
    expected = {
        "trips": (told["trips"], traits.height),
        "instances": (told["instances"], sum(written.values())),
        "seven a trip": (traits.height * INSTANCES_PER_TRIP, sum(written.values())),
        **{f"trips in {split}": (told["splits"][split], found[split]) for split in SPLITS},
    }
    return [
        f"{name}: {want} in the loss ledger, {have} in the release"
        for name, (want, have) in expected.items()
        if want != have
    ]
