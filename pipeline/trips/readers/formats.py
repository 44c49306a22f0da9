"""The table of formats: which reader a city's `traces.format` names, and what holds for all.

read_batches(PortoTraces(...), Path("data/porto/raw/traces")) -> batches of trips in the raw form
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import polars as pl

from pipeline.errors import SourceError
from pipeline.trips.readers import cabspotting, geolife, gpx, porto, tdrive
from pipeline.trips.readers.batch import RAW_COLUMNS, Batch, data_files, empty_unread, fits
from pipeline.trips.readers.cabspotting import read_cabspotting
from pipeline.trips.readers.geolife import read_geolife
from pipeline.trips.readers.gpx import read_gpx
from pipeline.trips.readers.hoser import read_hoser
from pipeline.trips.readers.porto import read_porto
from pipeline.trips.readers.settings import (
    CabspottingTraces,
    GeolifeTraces,
    GpxTraces,
    HoserTraces,
    PortoTraces,
    TableTraces,
    TdriveTraces,
    TracesSettings,
)
from pipeline.trips.readers.table import read_table
from pipeline.trips.readers.tdrive import read_tdrive
from pipeline.trips.readers.trip_ids import keep_apart


class Reader(NamedTuple):
    """How a format is read.

    Attributes:
        read: Yields the batches of a folder.
        files: Patterns of the files the format consists of, the first of those that hold its rows;
            others in the folder are not read.
        row: What one row of the format is.
        header_lines: Lines of a file before its first row.
        fragments: True where equal ids in two batches are parts of one trip, not two copies of it.
    """

    read: Callable[[Any, Path], Iterator[Batch]]
    files: Callable[[Any], tuple[str, ...]]
    row: Literal["trip", "point"]
    header_lines: int
    fragments: bool


def reader_of(traces: TracesSettings) -> Reader:
    """Return the reader of the format a city's settings name."""
    return READERS[type(traces)]


def read_batches(traces: TracesSettings, folder: Path) -> Iterator[Batch]:
    """Yield the batches of a folder of raw files, longitude and latitude as the config orders them.

    Files that no format's pattern takes are counted as excluded (`file_not_read`).

    Raises:
        SourceError: The folder is missing, or a file is not of the format.
    """
    if not folder.is_dir():
        raise SourceError(
            f"{folder}: expected the folder of raw trace files, found none; make it and put the"
            " files there, or name another under `cities:` in params.yaml"
        )
    reader = reader_of(traces)
    for batch in reader.read(traces, folder):
        trips = batch.trips.with_columns(keep_apart(pl.col("raw_trip_id")))
        if traces.coordinate_order == "swapped":
            trips = trips.rename({"lon": "lat", "lat": "lon"}).select(batch.trips.columns)
        yield batch._replace(trips=trips)
    names = [path.relative_to(folder) for path in data_files(folder)]
    patterns = reader.files(traces)
    others = sum(not any(fits(name, pattern) for pattern in patterns) for name in names)
    if others:
        none = pl.DataFrame(schema=RAW_COLUMNS)
        yield Batch(none, empty_unread(), 0, {"file_not_read": others})


def _table_files(traces: TableTraces) -> tuple[str, ...]:
    return (traces.pattern,)


def _hoser_files(traces: HoserTraces) -> tuple[str, ...]:
    roadmap = Path(traces.roadmap)
    return traces.trajectories, roadmap.name, roadmap.with_suffix(".rel").name


READERS: dict[type, Reader] = {
    PortoTraces: Reader(
        read_porto, lambda _: (porto.PATTERN,), "trip", header_lines=1, fragments=False
    ),
    CabspottingTraces: Reader(
        read_cabspotting, lambda _: cabspotting.FILES, "point", header_lines=0, fragments=False
    ),
    TdriveTraces: Reader(
        read_tdrive, lambda _: (tdrive.PATTERN,), "point", header_lines=0, fragments=True
    ),
    GeolifeTraces: Reader(
        read_geolife,
        lambda _: geolife.FILES,
        "point",
        header_lines=geolife.HEADER_LINES,
        fragments=False,
    ),
    GpxTraces: Reader(read_gpx, lambda _: (gpx.PATTERN,), "point", header_lines=0, fragments=False),
    TableTraces: Reader(read_table, _table_files, "point", header_lines=1, fragments=True),
    HoserTraces: Reader(read_hoser, _hoser_files, "trip", header_lines=1, fragments=False),
}
