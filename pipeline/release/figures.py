"""Put the release of a city into numbers: splits, shared routes, lengths, names.

data/<city>/metrics/release.json   what `dvc metrics show` prints, and what the card tells
"""

from typing import Any

import polars as pl

from pipeline.release.loss import INSTANCES_PER_TRIP
from pipeline.release.routes import same_route_ids, shared_routes
from pipeline.release.splits import SPLITS

# Task: prefix of its texts, number of them.
TASKS = {
    "generation": ("instruction_", 3),
    "retrieval": ("retrieval_query_", 3),
    "captioning": ("trajectory_caption", 1),
}


def split_figures(trips: pl.DataFrame) -> dict[str, Any]:
    """Count trips and instances by split; shares are null where there are no trips.

    Args:
        trips: Released trips, as `released_trips` joins them.
    """
    figures = {}
    for split in SPLITS:
        height = trips.filter(split=split).height
        share = round(height / trips.height, 4) if trips.height else None
        instances = {task: number * height for task, (_, number) in TASKS.items()}
        figures[split] = {"trips": height, "share": share, **instances}
    return figures


def sharing_figures(trips: pl.DataFrame, *, near: float) -> dict[str, Any]:
    """Count the trips of val and test whose route is known from train."""
    train = trips.filter(split="train")
    shared = {
        split: shared_routes(trips.filter(split=split), train, near=near) for split in SPLITS[1:]
    }
    return {"near_jaccard": near, **shared}


def pool_figures(trips: pl.DataFrame) -> dict[str, int]:
    """Count by split the trips whose pool holds another on the very same segments."""
    pools = {split: trips.filter(split=split) for split in SPLITS}
    return {
        split: int((same_route_ids(pool).list.len() > 0).sum()) for split, pool in pools.items()
    }


def trip_figures(trips: pl.DataFrame) -> dict[str, Any]:
    """Return the 10th, 50th and 90th percentile of sizes and scores; null without trips."""
    meta = trips["meta"].struct
    return {
        "segments": quantiles(trips["edge_ids"].list.len()),
        "cells": quantiles(trips["cells"].list.len()),
        "length_m": quantiles(meta.field("length_m")),
        "duration_s": quantiles(meta.field("duration_s")),
        "score": quantiles(trips["score"]),
    }


def text_figures(trips: pl.DataFrame) -> dict[str, Any]:
    """Return for each task how long its texts are, and on what the names in them rest."""
    texts = trips["texts"].struct.unnest()
    mention = pl.col("mentions").struct
    mentions = (
        trips.select("mentions")
        .explode("mentions")
        .drop_nulls()
        .select(field=mention.field("field"), verdict=mention.field("verdict"))
    )
    figures = {}
    for task, (prefix, _) in TASKS.items():
        of_task = texts.select(pl.col(f"^{prefix}.*$"))
        words = pl.concat([column.str.split(" ").list.len() for column in of_task])
        names = mentions.filter(pl.col("field").str.starts_with(prefix))["verdict"]
        figures[task] = {
            "words": quantiles(words),
            "names": names.len(),
            **{v: int((names == v).sum()) for v in ("grounded", "off_route", "invented")},
        }
    return figures


def quantiles(values: pl.Series) -> dict[str, float | None]:
    """Return the 10th, 50th and 90th percentile; null of an empty series."""
    found = {p: values.cast(pl.Float64).quantile(p / 100, "linear") for p in (10, 50, 90)}
    return {f"p{p}": None if v is None else round(v, 3) for p, v in found.items()}


def check_counts(trips: pl.DataFrame, loss: dict[str, Any], written: dict[str, int]) -> list[str]:
    """Return where the release and the loss ledger disagree; empty where they tell the same.

    Args:
        trips: Released trips.
        loss: Record of `loss_metrics`.
        written: Instances written, by task.
    """
    told = loss["released"]
    found = {split: trips.filter(split=split).height for split in SPLITS}
    expected = {
        "trips": (told["trips"], trips.height),
        "instances": (told["instances"], sum(written.values())),
        "seven a trip": (trips.height * INSTANCES_PER_TRIP, sum(written.values())),
        **{f"trips in {split}": (told["splits"][split], found[split]) for split in SPLITS},
    }
    return [
        f"{name}: {want} in the loss ledger, {have} in the release"
        for name, (want, have) in expected.items()
        if want != have
    ]
