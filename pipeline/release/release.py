"""Release a city: task instances by split, the pool for retrieval, the ground, and its contents.

data/<city>/release/{generation,retrieval,captioning,candidates}/{train,val,test}.parquet
data/<city>/release/ground/{roads,cells}.parquet
data/contents/<city>.json

Every trip the loss ledger calls released is here, seven times, and no other. Paper: 3.1, 4.2.
"""

from collections.abc import Callable
from typing import Annotated

import msgspec
import polars as pl
from msgspec import Meta

from pipeline.errors import ContractError
from pipeline.keys import H3Resolution, Text
from pipeline.release.contents import authors_of, example_of, files_of, sources_of
from pipeline.release.figures import (
    check_counts,
    pool_figures,
    sharing_figures,
    split_figures,
    text_figures,
    trip_figures,
)
from pipeline.release.instances import (
    candidates,
    caption_instances,
    generation_instances,
    released_trips,
    retrieval_instances,
    told_trips,
)
from pipeline.release.splits import SPLITS
from pipeline.store import StageIO
from pipeline.trips.readers.settings import TracesSettings

Maker = Callable[..., pl.DataFrame]
MAKERS: dict[str, Maker] = {
    "generation": generation_instances,
    "retrieval": retrieval_instances,
    "captioning": caption_instances,
    "candidates": candidates,
}
GROUND = {"released_roads": "roads", "released_cells": "cells"}


class ReleaseSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Section `release` of params.yaml.

    Attributes:
        near_jaccard: From this share of common segments on a route counts as known from train.
    """

    near_jaccard: Annotated[float, Meta(gt=0, le=1)]


def run(
    io: StageIO,
    *,
    city: str,
    release: ReleaseSettings,
    name: Text,
    language: Text,
    h3_resolution: H3Resolution,
    traces: TracesSettings,
) -> None:
    """Write the release of a city, held to the loss ledger."""
    trips = _trips(io)
    written = dict.fromkeys(MAKERS, 0)
    for task, make in MAKERS.items():
        with io.open_shards(task) as shards:
            for split in SPLITS:
                instances = make(trips.filter(split=split), city=city)
                shards.write(instances, part=split)
                written[task] += instances.height
    for copy, original in GROUND.items():
        io.write(copy, io.read(original))
    loss = io.read_json("loss_metrics")
    _check(trips, loss, written, city)
    figures = {
        "city": city,
        "traces": traces.kind,
        "h3_resolution": h3_resolution,
        "splits": split_figures(trips),
        "shared_with_train": sharing_figures(trips, near=release.near_jaccard),
        "same_route_in_pool": pool_figures(trips),
        "trips": trip_figures(trips),
        "texts": text_figures(trips),
    }
    io.write_json("release_metrics", figures)
    made = [*((task, io.path(task)) for task in MAKERS)]
    made += [(f"ground/{original}.parquet", io.path(copy)) for copy, original in GROUND.items()]
    io.write_json(
        "contents",
        {
            "city": city,
            "name": name,
            "language": language,
            "sources": sources_of(
                io.read_json("osm_manifest"),
                io.read_json("context_manifest"),
                msgspec.to_builtins(traces.source),
            ),
            "writers": authors_of(trips["provenance"]),
            "judges": authors_of(trips["judge"]),
            "example": example_of(trips),
            "release": figures,
            "loss": loss,
            "files": files_of(made),
        },
    )


def _trips(io: StageIO) -> pl.DataFrame:
    """Return the released trips; each must be in every table that tells of it."""
    entries = io.read("loss")
    ids = entries.filter(state="released").select(trip_id="item_id")
    found = {
        name: _released(io, name, ids) for name in ("selected", "judged", "matched", "checked")
    }
    for name, frame in found.items():
        lost = ids.join(frame, on="trip_id", how="anti")
        if lost.height or frame["trip_id"].is_duplicated().any():
            raise ContractError(
                f"release: expected each released trip once in {name}, found"
                f" {frame.height} of {ids.height}"
                f"{f', {lost.item(0, 0)!r} is missing' if lost.height else ''}; run `dvc repro`"
            )
    return released_trips(entries, *found.values())


def _released(io: StageIO, name: str, ids: pl.DataFrame) -> pl.DataFrame:
    frames = (frame.join(ids, on="trip_id", how="semi") for frame in io.shards(name))
    return pl.concat([told_trips(one) if name == "checked" else one for one in frames])


def _check(
    trips: pl.DataFrame, loss: dict[str, object], written: dict[str, int], city: str
) -> None:
    tasks = {task: count for task, count in written.items() if task != "candidates"}
    faults = check_counts(trips, loss, tasks)
    if faults:
        raise ContractError(
            f"release@{city}: expected what the loss ledger counts, found {'; '.join(faults)}; run"
            f" `dvc repro account@{city} release@{city}`"
        )
