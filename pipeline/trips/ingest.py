"""Stage `ingest`: read raw traces in the city's own format and clean them, one shard at a time.

data/porto/raw/traces/train.csv -> raw_trips/ (every trip as read, with the decision on each point),
cleaned/, cleaning_audit.json, rejected/ingest.parquet

Two passes bound the memory: the first reads batches and deals each trip to a temporary shard by a
hash of its id, so that all copies and fragments of a trip meet; the second cleans shard by shard.
One vehicle in two places may span shards, so the first pass also keeps an index of the whole city
(id, vehicle, points, first and last time: about 100 bytes a trip) that settles those conflicts
before the second pass. Neither the order of files or rows nor the batches change a byte.
"""

import os
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from pipeline.store import StageIO
from pipeline.trips.cleaning.audit import Reading, check_yield, cleaning_audit
from pipeline.trips.cleaning.contract import CleanedTrips, Tally, clean
from pipeline.trips.cleaning.coordinate_order import Bbox, check_order, count_orders
from pipeline.trips.cleaning.settings import CleaningSettings
from pipeline.trips.cleaning.trip_rules import INDEX_COLUMNS, trip_index, vehicle_conflicts
from pipeline.trips.provenance import check_credit, check_folder
from pipeline.trips.readers.batch import RAW_COLUMNS, Batch
from pipeline.trips.readers.formats import read_batches, reader_of
from pipeline.trips.readers.settings import TracesSettings

_POINTS_AT_ONCE = 2_000_000  # dealt together, so that a folder of small files makes few parts


class Dealt(NamedTuple):
    """What the first pass leaves.

    Attributes:
        folder: Holds a folder of parts per shard.
        trips: Rows of `trip_rules.trip_index` of the whole city.
        reading: What was read, unread and left out.
        orders: Counts of `coordinate_order.count_orders`.
    """

    folder: Path
    trips: pl.DataFrame
    reading: Reading
    orders: Counter[str]


def run(
    io: StageIO, *, city: str, traces: TracesSettings, cleaning: CleaningSettings, bbox: Bbox
) -> None:
    """Read, clean and audit a city's raw traces."""
    check_credit(city, traces)
    check_folder(city, traces, os.path.relpath(io.path("traces"), io.root))
    batches = io.progress(read_batches(traces, io.path("traces")), None, "batch", "read")
    dealt = deal(_rejecting(io, batches), io.scratch(), traces=traces, cleaning=cleaning, bbox=bbox)
    shards = clean_shards(dealt, traces=traces, cleaning=cleaning, bbox=bbox)
    tally: Tally = Counter()
    with io.open_shards("raw_trips") as raw_trips, io.open_shards("cleaned") as cleaned:
        for shard in io.progress(shards, traces.shards, "shard", "clean"):
            raw_trips.write(shard.raw_trips)
            cleaned.write(shard.cleaned)
            io.reject(shard.rejected.with_columns(stage=pl.lit("ingest")))
            tally += shard.tally
    io.write_json(
        "cleaning_audit", cleaning_audit(city, traces, dealt.reading, dealt.orders, tally)
    )


def _rejecting(io: StageIO, batches: Iterable[Batch]) -> Iterator[Batch]:
    for batch in batches:
        io.reject(batch.unread.with_columns(stage=pl.lit("ingest")))
        yield batch


def deal(
    batches: Iterable[Batch],
    folder: Path,
    *,
    traces: TracesSettings,
    cleaning: CleaningSettings,
    bbox: Bbox,
) -> Dealt:
    """Deal trips to shards by a hash of their id and gather what the whole city must know.

    Args:
        batches: Batches of a reader.
        folder: An empty folder for the shards.
        traces: The city's `traces`.
        cleaning: The city's `cleaning`.
        bbox: The city's west, south, east, north in degrees.

    Raises:
        SourceError: No point was read, or none with a believable time.
    """
    indexes = [pl.DataFrame(schema=INDEX_COLUMNS)]
    orders: Counter[str] = Counter()
    reading = Reading(reader_of(traces).row)
    waiting: list[pl.DataFrame] = []
    held = parts = 0
    for batch in batches:
        reading.add(batch, cleaning)
        lon, lat = (
            batch.trips[name].explode(empty_as_null=False).to_numpy().astype(np.float64)
            for name in ("lon", "lat")
        )
        orders += count_orders(lon, lat, bbox)
        indexes.append(trip_index(batch.trips, cleaning))
        waiting.append(batch.trips)
        held += lon.size
        if held >= _POINTS_AT_ONCE:
            _deal_out(waiting, folder, traces.shards, parts)
            waiting, held, parts = [], 0, parts + 1
    if waiting:
        _deal_out(waiting, folder, traces.shards, parts)
    check_yield(reading, traces)
    return Dealt(folder, pl.concat(indexes), reading, orders)


def _deal_out(waiting: list[pl.DataFrame], folder: Path, shards: int, part: int) -> None:
    trips = pl.concat(waiting)
    shard = [zlib.crc32(name.encode()) % shards for name in trips["raw_trip_id"]]
    marked = trips.with_columns(pl.Series("shard", shard, dtype=pl.Int64))
    for (number,), rows in marked.partition_by("shard", as_dict=True, include_key=False).items():
        target = folder / f"{number:05d}"
        target.mkdir(exist_ok=True)
        rows.write_ipc(target / f"{part:06d}.arrow", compression="lz4")


def clean_shards(
    dealt: Dealt, *, traces: TracesSettings, cleaning: CleaningSettings, bbox: Bbox
) -> Iterator[CleanedTrips]:
    """Yield each shard cleaned.

    Raises:
        SourceError: Too few points of the whole input lie in the city as read.
    """
    check_order(dealt.orders, bbox, cleaning.least_share_in_bbox)
    fragments = reader_of(traces).fragments
    conflicts = vehicle_conflicts(dealt.trips, fragments=fragments)
    for number in range(traces.shards):
        files = sorted((dealt.folder / f"{number:05d}").glob("*.arrow"))
        parts = [pl.read_ipc(file) for file in files]
        raw = pl.concat([pl.DataFrame(schema=RAW_COLUMNS), *parts])
        yield clean(
            join_fragments(raw) if fragments else raw,
            settings=cleaning,
            bbox=bbox,
            conflicts=conflicts,
            simulated=traces.kind == "simulated",
        )


def join_fragments(raw: pl.DataFrame) -> pl.DataFrame:
    """Put the parts of each trip together, its points in order of time, longitude and latitude."""
    whole = raw.filter(pl.len().over("raw_trip_id") == 1)
    parts = raw.filter(pl.len().over("raw_trip_id") > 1)
    points = parts.select("raw_trip_id", "vehicle_id", "t", "lon", "lat").explode(
        "t", "lon", "lat", empty_as_null=False
    )
    joined = (
        points.sort("raw_trip_id", "t", "lon", "lat")
        .group_by("raw_trip_id", maintain_order=True)
        .agg(pl.col("vehicle_id").min(), "t", "lon", "lat")
        .with_columns(
            flag=pl.lit(None, dtype=pl.String), edge_ids=pl.lit([], dtype=pl.List(pl.String))
        )
    )
    return pl.concat([whole, joined.select(raw.columns)])


def ingest_folder(
    folder: Path, *, traces: TracesSettings, cleaning: CleaningSettings, bbox: Bbox
) -> CleanedTrips:
    """Read and clean a folder of raw files into memory, as `run` does shard by shard."""
    with tempfile.TemporaryDirectory(prefix="ingest-") as scratch:
        batches = read_batches(traces, folder)
        dealt = deal(batches, Path(scratch), traces=traces, cleaning=cleaning, bbox=bbox)
        shards = list(clean_shards(dealt, traces=traces, cleaning=cleaning, bbox=bbox))
    tally: Tally = Counter()
    for shard in shards:
        tally += shard.tally
    return CleanedTrips(
        pl.concat([shard.raw_trips for shard in shards]).sort("raw_trip_id"),
        pl.concat([shard.cleaned for shard in shards]).sort("trip_id"),
        pl.concat([shard.rejected for shard in shards]).sort("item_id"),
        tally,
    )
