"""The table of formats: which reader a city's `traces.format` names.

read_batches(PortoTraces(...), Path("data/porto/raw/traces")) -> batches of trips in the raw form
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pipeline.errors import SourceError
from pipeline.trips.readers.batch import Batch
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


class Reader(NamedTuple):
    """How a format is read.

    Attributes:
        read: Yields the batches of a folder.
        row: What one row of the format is.
        fragments: True where equal ids in two batches are parts of one trip, not two copies of it.
    """

    read: Callable[[Any, Path], Iterator[Batch]]
    row: Literal["trip", "point"]
    fragments: bool


def reader_of(traces: TracesSettings) -> Reader:
    """Return the reader of the format a city's settings name."""
    return READERS[type(traces)]


def read_batches(traces: TracesSettings, folder: Path) -> Iterator[Batch]:
    """Yield the batches of a folder of raw files, longitude and latitude as the config orders them.

    Raises:
        SourceError: The folder is missing, or a file is not of the format.
    """
    if not folder.is_dir():
        raise SourceError(
            f"{folder}: expected the folder of raw trace files, found none; make it and put the"
            " files there, or name another under `cities:` in params.yaml"
        )
    for batch in reader_of(traces).read(traces, folder):
        if traces.coordinate_order == "swapped":
            trips = batch.trips.rename({"lon": "lat", "lat": "lon"}).select(batch.trips.columns)
            yield batch._replace(trips=trips)
        else:
            yield batch


READERS: dict[type, Reader] = {
    PortoTraces: Reader(read_porto, row="trip", fragments=False),
    CabspottingTraces: Reader(read_cabspotting, row="point", fragments=False),
    TdriveTraces: Reader(read_tdrive, row="point", fragments=True),
    GeolifeTraces: Reader(read_geolife, row="point", fragments=False),
    GpxTraces: Reader(read_gpx, row="point", fragments=False),
    TableTraces: Reader(read_table, row="point", fragments=True),
    HoserTraces: Reader(read_hoser, row="trip", fragments=False),
}
