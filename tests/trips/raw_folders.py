"""Mini files of the raw formats as text, and how a test reads a folder of them."""

from pathlib import Path

import polars as pl

from pipeline.trips.readers.batch import RAW_COLUMNS
from pipeline.trips.readers.formats import read_batches

HEADER = (
    '"TRIP_ID","CALL_TYPE","ORIGIN_CALL","ORIGIN_STAND","TAXI_ID","TIMESTAMP","DAY_TYPE",'
    '"MISSING_DATA","POLYLINE"'
)


def row(trip_id="T1", taxi="20000589", time="1372636858", missing="False", line="[[-8.6,41.1]]"):
    """A row of Porto's train.csv."""
    return f'"{trip_id}","C","","","{taxi}","{time}","A","{missing}","{line}"'


def read(folder: Path, settings):
    """Return trips sorted by id, unread rows, excluded rows by reason, and the rows seen."""
    batches = list(read_batches(settings, folder))
    trips = pl.concat([batch.trips for batch in batches])
    assert trips.schema == RAW_COLUMNS
    unread = pl.concat([batch.unread for batch in batches])
    excluded: dict[str, int] = {}
    for batch in batches:
        for name, count in batch.excluded.items():
            excluded[name] = excluded.get(name, 0) + count
    return trips.sort("raw_trip_id"), unread, excluded, sum(batch.rows for batch in batches)
