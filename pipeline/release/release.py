"""Release a city: task instances by split, the pool for retrieval, the ground, and its contents.

data/<city>/release/{generation,retrieval,captioning,candidates}/{train,val,test}.parquet
data/<city>/release/ground/{roads,road_cells,cells,names}.parquet, definitions.json
data/contents/<city>.json

Every trip the loss ledger calls released is here, seven times, and no other. Paper: 3.1, 4.2.
"""

from collections.abc import Callable
from contextlib import ExitStack
from hashlib import blake2b
from itertools import chain
from typing import Annotated

import msgspec
import polars as pl
from msgspec import Meta

from pipeline.errors import ContractError
from pipeline.keys import H3Resolution, Text
from pipeline.language.intent_settings import IntentsSettings
from pipeline.release.contents import authors_of, example_of, files_of, made_by, sources_of
from pipeline.release.definitions import definitions_record
from pipeline.release.figures import (
    check_counts,
    pool_figures,
    scored_sharing_figures,
    sharing_figures,
    split_figures,
    text_figures,
    traits_of,
    trip_figures,
    twins_in,
)
from pipeline.release.gathering import Gathered
from pipeline.release.held import hold_inputs
from pipeline.release.instances import (
    candidates,
    caption_instances,
    generation_instances,
    retrieval_instances,
)
from pipeline.release.piles import Piles
from pipeline.release.routes import same_route_ids
from pipeline.release.splits import SPLITS
from pipeline.store import ShardWriter, StageIO
from pipeline.trips.provenance import source_of
from pipeline.trips.readers.settings import TracesSettings

Maker = Callable[..., pl.DataFrame]
MAKERS: dict[str, Maker] = {
    "generation": generation_instances,
    "retrieval": retrieval_instances,
    "captioning": caption_instances,
}
POOL = "candidates"
# The whole ground, driven or not: what is predicted may lie anywhere on it.
GROUND = {f"released_{name}": name for name in ("roads", "road_cells", "cells", "names")}


class ReleaseSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Section `release` of params.yaml.

    Attributes:
        near_jaccard: From this share of common segments on a route counts as known from train.
    """

    near_jaccard: Annotated[float, Meta(gt=0, le=1)]


def run(  # noqa: PLR0913 - a stage is given its sections and keys, each by itself
    io: StageIO,
    *,
    city: str,
    release: ReleaseSettings,
    intents: IntentsSettings,
    name: Text,
    language: Text,
    h3_resolution: H3Resolution,
    time_zone: Text,
    traces: TracesSettings,
) -> None:
    """Write the release of a city, held to the loss ledger and, where there is one, to dvc.lock."""
    held = hold_inputs(io, city=city)
    gathered = Gathered(io)
    traits = pl.concat(map(traits_of, gathered.all()))
    with ExitStack() as stack:
        shards = {table: stack.enter_context(io.open_shards(table)) for table in (*MAKERS, POOL)}
        written = _write_tables(io, shards, gathered, traits, city)
    for copy, original in GROUND.items():
        io.write(copy, io.read(original))
    defined = definitions_record(
        intents,
        city=city,
        time_zone=time_zone,
        h3_resolution=h3_resolution,
        near_jaccard=release.near_jaccard,
    )
    io.write_json("released_definitions", defined)
    loss = io.read_json("loss_metrics")
    _check(traits, loss, written, city)
    figures = {
        "city": city,
        "traces": traces.kind,
        "h3_resolution": h3_resolution,
        "splits": split_figures(traits),
        "shared_with_train": sharing_figures(traits, near=release.near_jaccard),
        "shared_val_and_test": scored_sharing_figures(traits, near=release.near_jaccard),
        "same_route_in_pool": pool_figures(traits),
        "trips": trip_figures(traits),
        "texts": text_figures(traits),
    }
    io.write_json("release_metrics", figures)
    made = [(table, io.path(table)) for table in (*MAKERS, POOL)]
    made += [(f"ground/{original}.parquet", io.path(copy)) for copy, original in GROUND.items()]
    made += [("ground/definitions.json", io.path("released_definitions"))]
    io.write_json(
        "contents",
        {
            "city": city,
            "name": name,
            "language": language,
            "sources": sources_of(
                io.read_json("osm_manifest"),
                io.read_json("context_manifest"),
                source_of(city, traces, io.read_json("osm_manifest")),
                traces_hash=held.hashes["traces"],
            ),
            "recorded": held.recorded,
            "writers": authors_of(traits["writer"]),
            "judges": authors_of(traits["judge"]),
            **made_by(
                io.read_json("annotation_metrics"),
                io.read_json("check_metrics"),
                io.read_json("selection_metrics"),
                io.read_json("agreement"),
            ),
            "example": example_of(chain(gathered.of("test"), gathered.all())),
            "release": figures,
            "loss": loss,
            "files": files_of(made),
        },
    )


def _write_tables(
    io: StageIO,
    shards: dict[str, ShardWriter],
    gathered: Gathered,
    traits: pl.DataFrame,
    city: str,
) -> dict[str, int]:
    """Write a file for each task and split, and the pools; return the instances of each task."""
    written = dict.fromkeys(MAKERS, 0)
    pools = Piles(io.scratch(), pool_order(gathered.splits))
    for split in SPLITS:
        twins = twins_in(traits, split)
        with ExitStack() as stack:
            files = {
                table: stack.enter_context(one.open(part=split)) for table, one in shards.items()
            }
            for trips in gathered.of(split):
                told = trips.with_columns(same_route_ids(trips, twins))
                for task, make in MAKERS.items():
                    instances = make(told, city=city)
                    files[task].write(instances)
                    written[task] += instances.height
                pools.add(candidates(trips, city=city))
            for rows in pools.of(split):
                files[POOL].write(rows)
    return written


def pool_order(splits: pl.DataFrame) -> pl.DataFrame:
    """Return the order of the pools: by a hash of the trip's id, as column `number`.

    Sorted by id like the queries, a query's trip would stand in the pool where the query stands.
    """
    hashes = [blake2b(one.encode(), digest_size=16).digest() for one in splits["trip_id"]]
    return splits.with_columns(pl.Series("number", hashes, dtype=pl.Binary))


def _check(
    traits: pl.DataFrame, loss: dict[str, object], written: dict[str, int], city: str
) -> None:
    faults = check_counts(traits, loss, written)
    if faults:
        raise ContractError(
            f"release@{city}: expected what the loss ledger counts, found {'; '.join(faults)}; run"
            f" `dvc repro account@{city} release@{city}`"
        )
