"""Read a CSV or Parquet table of one point per row, its columns named in the city's config.

trip,car,when,x,y with `7,c1,2024-05-01T07:00:00Z,24.94,60.17` -> raw_trip_id "7",
vehicle_id "c1", t [1714546800.0], lon [24.94], lat [60.17]; rows may come in any order
"""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from pipeline.errors import SourceError
from pipeline.trips.readers.batch import Batch, line_blocks, raw_files, unread_rows
from pipeline.trips.readers.csv_rows import split_row
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
        frames = _parquet(path, traces) if path.suffix.lower() == ".parquet" else _csv(path, traces)
        for frame in frames:
            rows = _rows(frame, traces)
            good = rows.filter(pl.col("reason").is_null())
            yield Batch(gather_trips(good), unread_rows(rows, shown), rows.height, {})


def _csv(path: Path, traces: TableTraces) -> Iterator[pl.DataFrame]:
    header: list[str] = []
    for lines in line_blocks(path, traces.block_bytes):
        rows = lines
        if not header:
            header = split_row(lines["text"][0]) or []
            _check_columns(path, header, traces)
            rows = lines.slice(1)
        yield _fields(rows, header, traces)


def _fields(lines: pl.DataFrame, header: list[str], traces: TableTraces) -> pl.DataFrame:
    if lines["text"].str.contains('"', literal=True).any():
        split = pl.Series([split_row(text) for text in lines["text"]], dtype=pl.List(pl.String))
    else:
        split = lines["text"].str.split(",")
    # A row of another length than the header is cut off or run together.
    whole = (split.list.len() == len(header)).fill_null(value=False)
    columns = {
        role: split.list.get(header.index(name), null_on_oob=True)
        for role, name in _stated(traces).items()
    }
    return lines.with_columns(whole=whole, **columns)


def _parquet(path: Path, traces: TableTraces) -> Iterator[pl.DataFrame]:
    try:
        scan = pl.scan_parquet(path, glob=False)
        schema = scan.collect_schema()
        _check_columns(path, schema.names(), traces)
        _check_types(path, schema, traces)
        table = scan.select(pl.col(name).alias(role) for role, name in _stated(traces).items())
        height = int(table.select(pl.len()).collect().item())
        for start in range(0, height, _ROWS_AT_ONCE):
            rows = table.slice(start, _ROWS_AT_ONCE).collect()
            text = pl.concat_str(pl.all().cast(pl.String), separator=",", ignore_nulls=True)
            yield rows.with_columns(text=text, whole=True).with_row_index("line", start + 1)
    except (pl.exceptions.PolarsError, OSError) as fault:
        found = " ".join(str(fault).split())[:200]
        raise SourceError(f"{path}: expected Parquet, found {found}; replace the file") from fault


def _stated(traces: TableTraces) -> dict[str, str]:
    """Return the table's columns by what they hold."""
    columns = traces.columns
    stated = {"trip": columns.trip, "time": columns.time, "lon": columns.lon, "lat": columns.lat}
    return stated if columns.vehicle is None else stated | {"vehicle": columns.vehicle}


def _check_columns(path: Path, found: list[str], traces: TableTraces) -> None:
    stated = _stated(traces).values()
    missing = [name for name in stated if name not in found]
    if missing:
        raise SourceError(
            f"{path}: expected the columns {', '.join(missing)} that `traces.columns` names, found"
            f" only {', '.join(found)[:200]}; mend the config or the file"
        )
    repeated = [name for name in stated if found.count(name) > 1]
    if repeated:
        raise SourceError(
            f"{path}: expected one column {repeated[0]}, found {found.count(repeated[0])}; rename"
            " the others in the file"
        )


def _check_types(path: Path, schema: pl.Schema, traces: TableTraces) -> None:
    for name in _stated(traces).values():
        if schema[name].is_nested() or schema[name] in (pl.Binary, pl.Object):
            raise SourceError(
                f"{path}: expected text, numbers or times in the column {name}, found"
                f" {schema[name]}; mend the config or the file"
            )


def _rows(frame: pl.DataFrame, traces: TableTraces) -> pl.DataFrame:
    no_vehicle = pl.lit(None, dtype=pl.String)
    vehicle = no_vehicle if traces.columns.vehicle is None else pl.col("vehicle")
    rows = frame.select(
        "line",
        "text",
        "whole",
        pl.col("trip").cast(pl.String).str.strip_chars().alias("raw_trip_id"),
        vehicle.cast(pl.String).str.strip_chars().replace("", None).alias("vehicle_id"),
        _times(frame["time"], traces).alias("t"),
        *numbers({"lon": "lon", "lat": "lat"}),
    )
    whole = pl.when("whole").then(pl.lit(""))
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
