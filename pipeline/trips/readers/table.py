"""Read a CSV or Parquet table of one point per row, its columns named in the city's config.

trip,car,when,x,y with `7,c1,2024-05-01T07:00:00Z,24.94,60.17` -> raw_trip_id "7",
vehicle_id "c1", t [1714546800.0], lon [24.94], lat [60.17]; rows may come in any order
"""

import csv
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from pipeline.errors import SourceError
from pipeline.trips.readers.batch import Batch, line_blocks, raw_files, unread_rows
from pipeline.trips.readers.point_rows import gather_trips, numbers, point_reason
from pipeline.trips.readers.settings import TableTraces
from pipeline.trips.readers.times import check_zone, epoch_seconds, naive_seconds

_ROWS_AT_ONCE = 1_000_000


def read_table(traces: TableTraces, folder: Path) -> Iterator[Batch]:
    """Yield the tables in batches; a batch may hold a part of a trip.

    Raises:
        SourceError: No file, an empty or binary one, or a stated column is not there.
        ParameterError: Times state no zone and `traces.time_zone` is null.
    """
    if traces.time_zone is not None:
        check_zone(traces.time_zone)
    for path in raw_files(folder, traces.pattern):
        shown = path.relative_to(folder).as_posix()
        frames = _parquet(path, traces) if path.suffix == ".parquet" else _csv(path, traces)
        for frame in frames:
            rows = _rows(frame, traces)
            good = rows.filter(pl.col("reason").is_null())
            yield Batch(gather_trips(good), unread_rows(rows, shown), rows.height, {})


def _csv(path: Path, traces: TableTraces) -> Iterator[pl.DataFrame]:
    header: list[str] = []
    for lines in line_blocks(path, traces.block_bytes):
        rows = lines
        if not header:
            header = next(csv.reader([lines["text"][0].lstrip("\ufeff")]))
            _check_columns(path, header, traces)
            rows = lines.slice(1)
        yield _fields(rows, header)


def _fields(lines: pl.DataFrame, header: list[str]) -> pl.DataFrame:
    if lines["text"].str.contains('"', literal=True).any():
        split = pl.Series(list(csv.reader(lines["text"])), dtype=pl.List(pl.String))
    else:
        split = lines["text"].str.split(",")
    columns = [split.list.get(i, null_on_oob=True).alias(name) for i, name in enumerate(header)]
    # A row of another length than the header is cut off or run together: its last field is null.
    columns.append((split.list.len() == len(header)).alias("\x00whole"))
    return lines.hstack(columns)


def _parquet(path: Path, traces: TableTraces) -> Iterator[pl.DataFrame]:
    try:
        scan = pl.scan_parquet(path)
        _check_columns(path, scan.collect_schema().names(), traces)
        height = int(scan.select(pl.len()).collect().item())
    except (pl.exceptions.ComputeError, OSError) as fault:
        raise SourceError(f"{path}: expected Parquet, found {fault}; replace the file") from fault
    names = [name for name in _stated(traces) if name is not None]
    for start in range(0, height, _ROWS_AT_ONCE):
        rows = scan.select(names).slice(start, _ROWS_AT_ONCE).collect()
        whole = pl.lit(value=True).alias("\x00whole")
        text = pl.concat_str(pl.all().cast(pl.String), separator=",", ignore_nulls=True)
        yield rows.with_columns(whole, text.alias("text")).with_row_index("line", start + 1)


def _stated(traces: TableTraces) -> tuple[str | None, ...]:
    columns = traces.columns
    return columns.trip, columns.vehicle, columns.time, columns.lon, columns.lat


def _check_columns(path: Path, found: list[str], traces: TableTraces) -> None:
    missing = [name for name in _stated(traces) if name is not None and name not in found]
    if missing:
        raise SourceError(
            f"{path}: expected the columns {', '.join(missing)} that `traces.columns` names, found"
            f" only {', '.join(found)[:200]}; mend the config or the file"
        )


def _rows(frame: pl.DataFrame, traces: TableTraces) -> pl.DataFrame:
    columns = traces.columns
    vehicle = pl.lit(None) if columns.vehicle is None else pl.col(columns.vehicle)
    rows = frame.select(
        "line",
        "text",
        "\x00whole",
        pl.col(columns.trip).cast(pl.String).str.strip_chars().alias("raw_trip_id"),
        vehicle.cast(pl.String).str.strip_chars().replace("", None).alias("vehicle_id"),
        _times(frame[columns.time], traces).alias("t"),
        *numbers({"lon": columns.lon, "lat": columns.lat}),
    )
    whole = pl.when("\x00whole").then(pl.lit(""))
    no_trip = pl.col("raw_trip_id").fill_null("") == ""
    reason = pl.coalesce(point_reason(whole), pl.when(no_trip).then(pl.lit("row_unparsable")))
    return rows.with_columns(reason=reason)


def _times(times: pl.Series, traces: TableTraces) -> pl.Series:
    if isinstance(times.dtype, pl.Datetime):
        if times.dtype.time_zone is None:
            return naive_seconds(times, traces.time_zone)
        return times.dt.epoch("us").cast(pl.Float64) / 1e6
    if traces.time == "iso":
        return epoch_seconds(times.cast(pl.String), traces.time_zone)
    seconds = times.cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
    return seconds / 1000 if traces.time == "epoch_ms" else seconds
