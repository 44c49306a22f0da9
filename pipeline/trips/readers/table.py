"""Read a CSV or Parquet table of one point per row, its columns named in the city's config.

trip,car,when,x,y with `7,c1,2024-05-01T07:00:00Z,24.94,60.17` -> raw_trip_id "c1/7",
vehicle_id "c1", t [1714546800.0], lon [24.94], lat [60.17]; rows may come in any order
"""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from pipeline.errors import SourceError
from pipeline.trips.readers.batch import Batch, line_blocks, raw_files, unread_rows
from pipeline.trips.readers.csv_rows import split_row
from pipeline.trips.readers.geometry_column import check_crs, lon_lat_of
from pipeline.trips.readers.point_rows import gather_trips, number, point_reason
from pipeline.trips.readers.settings import TableTraces
from pipeline.trips.readers.times import (
    check_zone,
    epoch_seconds,
    naive_seconds,
    patterned_seconds,
)
from pipeline.trips.readers.trip_ids import of_vehicle

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
            header = [name.strip() for name in split_row(lines["text"][0], traces.delimiter) or []]
            _check_columns(path, header, traces)
            rows = lines.slice(1)
        yield _fields(rows, header, traces)


def _fields(lines: pl.DataFrame, header: list[str], traces: TableTraces) -> pl.DataFrame:
    if lines["text"].str.contains('"', literal=True).any():
        fields = [split_row(text, traces.delimiter) for text in lines["text"]]
        split = pl.Series(fields, dtype=pl.List(pl.String))
    else:
        split = lines["text"].str.split(traces.delimiter)
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
        if traces.columns.point is not None:
            check_crs(path, traces.columns.point)
        table = scan.select(pl.col(name).alias(role) for role, name in _stated(traces).items())
        height = int(table.select(pl.len()).collect().item())
        for start in range(0, height, _ROWS_AT_ONCE):
            rows = table.slice(start, _ROWS_AT_ONCE).collect()
            words = [_word(name, kind) for name, kind in rows.schema.items()]
            text = pl.concat_str(words, separator=",", ignore_nulls=True)
            yield rows.with_columns(text=text, whole=True).with_row_index("line", start + 1)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as fault:
        found = " ".join(str(fault).split())[:200]
        raise SourceError(f"{path}: expected Parquet, found {found}; replace the file") from fault


def _word(name: str, kind: pl.DataType) -> pl.Expr:
    """Return a column as the text that shows a row to people."""
    if kind == pl.Binary:
        return pl.col(name).bin.encode("hex")
    return pl.col(name).struct.json_encode() if kind.is_nested() else pl.col(name).cast(pl.String)


def _stated(traces: TableTraces) -> dict[str, str]:
    """Return the table's columns by what they hold: trip, time, lon and lat or point, vehicle."""
    columns = traces.columns
    roles = {"trip": columns.trip, "time": columns.time, "lon": columns.lon, "lat": columns.lat}
    roles |= {"point": columns.point, "vehicle": columns.vehicle}
    return {role: name for role, name in roles.items() if name is not None}


def _check_columns(path: Path, found: list[str], traces: TableTraces) -> None:
    stated = _stated(traces).values()
    missing = [name for name in stated if name not in found]
    if missing:
        raise SourceError(
            f"{path}: expected the columns {', '.join(missing)} that `traces.columns` names, found"
            f" only {', '.join(found)[:200]}; mend `traces.columns` or, of a CSV,"
            f" `traces.delimiter` ({traces.delimiter!r})"
        )
    repeated = [name for name in stated if found.count(name) > 1]
    if repeated:
        raise SourceError(
            f"{path}: expected one column {repeated[0]}, found {found.count(repeated[0])}; rename"
            " the others in the file"
        )


def _check_types(path: Path, schema: pl.Schema, traces: TableTraces) -> None:
    for role, name in _stated(traces).items():
        kind = schema[name]
        as_point = role == "point" and (kind == pl.Binary or isinstance(kind, pl.Struct))
        if not as_point and (kind.is_nested() or kind in (pl.Binary, pl.Object)):
            raise SourceError(
                f"{path}: expected text, numbers or times in the column {name}, found {kind}; mend"
                " `traces.columns` or the file"
            )


def _rows(frame: pl.DataFrame, traces: TableTraces) -> pl.DataFrame:
    columns = traces.columns
    no_vehicle = pl.lit(None, dtype=pl.String)
    vehicle = no_vehicle if columns.vehicle is None else pl.col("vehicle").cast(pl.String)
    vehicle = vehicle.str.strip_chars().replace("", None)
    trip = pl.col("trip").cast(pl.String).str.strip_chars()
    if columns.point is None:
        places = frame.select(
            number(pl.col(name), traces.decimal).alias(name) for name in ("lon", "lat")
        )
    else:
        places = lon_lat_of(frame["point"])
    keyed = columns.vehicle not in (None, columns.trip)
    rows = frame.select(
        "line",
        "text",
        "whole",
        raw_trip_id=of_vehicle(vehicle, trip) if keyed else trip,
        vehicle_id=vehicle,
        no_trip=trip.fill_null("") == "",
        t=_times(frame["time"], traces),
    ).hstack(places)
    whole = pl.when("whole").then(pl.lit(""))
    no_trip = pl.when("no_trip").then(pl.lit("row_unparsable"))
    return rows.with_columns(reason=pl.coalesce(point_reason(whole), no_trip))


def _times(times: pl.Series, traces: TableTraces) -> pl.Series:
    if isinstance(times.dtype, pl.Datetime):
        if times.dtype.time_zone is None:
            return naive_seconds(times, traces.time_zone)
        return times.dt.epoch("us").cast(pl.Float64) / 1e6
    if traces.time == "iso":
        return epoch_seconds(times.cast(pl.String), traces.time_zone)
    if traces.time not in {"epoch_s", "epoch_ms"}:
        return patterned_seconds(times, traces.time, traces.time_zone)
    seconds = times.to_frame("t").select(number(pl.col("t"), traces.decimal)).to_series()
    return seconds / 1000 if traces.time == "epoch_ms" else seconds
