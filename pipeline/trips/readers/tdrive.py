"""Read T-Drive files: `taxi_id,YYYY-MM-DD HH:MM:SS,lon,lat`, Beijing time, lon first.

1,2008-02-02 15:36:08,116.51172,39.92123 -> raw_trip_id "1" (a taxi's whole week; the gaps and
stops of `cleaning` cut it into trips), t 1201937768.0
"""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from pipeline.errors import SourceError
from pipeline.trips.readers.batch import (
    Batch,
    empty_unread,
    line_blocks,
    open_raw,
    raw_files,
    unread_rows,
)
from pipeline.trips.readers.point_rows import gather_trips, numbers, point_reason
from pipeline.trips.readers.settings import TdriveTraces
from pipeline.trips.readers.times import check_zone, epoch_seconds

PATTERN = "*.txt"
FIELDS = ("taxi", "time", "lon_text", "lat_text")


def read_tdrive(traces: TdriveTraces, folder: Path) -> Iterator[Batch]:
    """Yield the <taxi>.txt files in batches; a batch may hold a part of a taxi's week.

    Empty files belong to the data set and are counted as excluded (`empty_file`).

    Raises:
        SourceError: No file, a binary one, or one with no row of the format.
    """
    check_zone(traces.time_zone)
    for path in raw_files(folder, PATTERN):
        shown = path.relative_to(folder).as_posix()
        with open_raw(path) as file:
            empty = not file.read(1)
        if empty:
            yield Batch(gather_trips(_points(_no_lines())), empty_unread(), 0, {"empty_file": 1})
            continue
        first, read = "", 0
        for lines in line_blocks(path, traces.block_bytes):
            rows = _rows(lines, traces.time_zone)
            first = first or rows["text"][0]
            read += rows["reason"].null_count()
            trips = gather_trips(_points(rows.filter(pl.col("reason").is_null())))
            yield Batch(trips, unread_rows(rows, shown), rows.height, {})
        if not read:
            raise SourceError(
                f"{path}: expected lines `taxi_id,YYYY-MM-DD HH:MM:SS,lon,lat`, found"
                f" {first[:80]!r}; check `traces.format` in the city's config"
            )


def _rows(lines: pl.DataFrame, time_zone: str) -> pl.DataFrame:
    split = pl.col("text").str.strip_chars().str.splitn(",", 4).struct.rename_fields(list(FIELDS))
    rows = lines.with_columns(split.struct.unnest())
    rows = rows.with_columns(numbers({"lon": "lon_text", "lat": "lat_text"})).with_columns(
        epoch_seconds(rows["time"], time_zone).alias("t")
    )
    no_taxi = pl.col("taxi").str.strip_chars() == ""
    return rows.with_columns(
        reason=pl.coalesce(
            point_reason(pl.col("lat_text")), pl.when(no_taxi).then(pl.lit("row_unparsable"))
        )
    )


def _points(rows: pl.DataFrame) -> pl.DataFrame:
    taxi = pl.col("taxi").str.strip_chars()
    return rows.select(raw_trip_id=taxi, vehicle_id=taxi, t="t", lon="lon", lat="lat")


def _no_lines() -> pl.DataFrame:
    numbers_of = dict.fromkeys(("t", "lon", "lat"), pl.Float64())
    return pl.DataFrame(schema={"taxi": pl.String(), **numbers_of})
