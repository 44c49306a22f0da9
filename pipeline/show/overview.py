"""A city on one screen: the rows of its loss table, with a few ids of each to look at.

raw trips                      764
+ more, where trips came apart  12
- ingest: too_few_points        12  1704567634620000041  ...
= released trips               747
  in train                     531  1704397475620000023  1704525128620000006  ...

The counts are those of `python -m pipeline loss`: pieces, where a row does not say raw trips. Where
the loss ledger is not made yet, pieces are followed as far as the phases.
"""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from pipeline.artifacts import ARTIFACTS
from pipeline.params import Parameters
from pipeline.release.loss import INSTANCES_PER_TRIP, LIFE
from pipeline.release.loss_table import (
    ARRIVED,
    GAINED,
    INSTANCES,
    RAW_RELEASED,
    RELEASED,
    rejected_label,
)
from pipeline.release.splits import SPLITS
from pipeline.show.shards import CityTables
from pipeline.tables import read_table
from pipeline.trips.ledger import STAGES_THAT_REJECT

IDS_SHOWN = 4
PHASED = "= phased trips"
RAW_PHASED = "raw trips with a phased one"

# What is counted, how many, and the ids to show.
Row = tuple[str, int, pl.Series]
_NONE = pl.Series(dtype=pl.String)


def overview_of(root: Path, city: str) -> list[str]:
    """Return the lines of a city's loss table, each with the first ids that it counts.

    Args:
        root: Root of the project.
        city: Key of the city.

    Raises:
        ParameterError: Unknown city.
        SourceError: The city has no ledger yet.
    """
    tables = CityTables(root, city)
    rows = list(_accounted(tables) if tables.files("loss") else _followed(tables))
    width = max(len(label) for label, _, _ in rows)
    return [f"{label:<{width}}  {count:>7,}{_first(ids)}" for label, count, ids in rows]


def _first(ids: pl.Series) -> str:
    shown = "".join(f"  {one}" for one in ids.sort().head(IDS_SHOWN))
    return f"{shown} ..." if ids.len() > IDS_SHOWN else shown


def _accounted(tables: CityTables) -> Iterator[Row]:
    """Yield the rows of a city whose account is made."""
    loss = _read(tables, "loss")
    released = loss.filter(state="released")
    raw_trips = loss["raw_trip_id"].n_unique()
    yield from _losses(raw_trips, loss.height, loss.filter(state="rejected"))
    yield RELEASED, released.height, _NONE
    for split in SPLITS:
        ids = released.filter(split=split)["item_id"]
        yield f"  in {split}", ids.len(), ids
    yield RAW_RELEASED, released["raw_trip_id"].n_unique(), _NONE
    yield INSTANCES, released.height * INSTANCES_PER_TRIP, _NONE


def _followed(tables: CityTables) -> Iterator[Row]:
    """Yield the rows of a city that has come as far as the phases."""
    if not tables.files("ledger"):
        Parameters(tables.root).city(tables.city)
        tables.require("ledger")
    raw_trips = _read(tables, "ledger")
    rejected = pl.concat([_read(tables, f"{stage}_rejected") for stage in STAGES_THAT_REJECT])
    phased = tables.collect(tables.scan("phased").select("trip_id"), "phased")["trip_id"]
    yield from _losses(raw_trips.height, rejected.height + phased.len(), rejected)
    yield PHASED, phased.len(), phased
    yield RAW_PHASED, raw_trips.filter(state="phased").height, _NONE


def _losses(raw_trips: int, pieces: int, rejected: pl.DataFrame) -> Iterator[Row]:
    """Yield what arrived, and the pieces that each stage rejected."""
    yield ARRIVED, raw_trips, _NONE
    yield GAINED, pieces - raw_trips, _NONE
    by_reason = rejected.group_by("stage", "reason").agg("item_id").sort("reason")
    for stage in LIFE:
        for _, reason, ids in by_reason.filter(stage=stage).iter_rows():
            yield rejected_label(stage, reason), len(ids), pl.Series(ids)


def _read(tables: CityTables, name: str) -> pl.DataFrame:
    tables.require(name)
    return read_table(tables.files(name)[0], ARTIFACTS[name])
