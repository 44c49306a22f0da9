"""Read Porto's train.csv (ECML/PKDD 2015): one quoted row per trip, POLYLINE with lon first.

"1372636858620000589","C","","","20000589","1372636858","A","False","[[-8.61,41.14],[-8.60,41.15]]"
-> raw_trip_id "1372636858620000589", vehicle_id "20000589", t [1372636858.0, 1372636873.0],
   lon [-8.61, -8.60], lat [41.14, 41.15]; an id that is not made of the row's own time and taxi, as
   all of this data set are, is given its taxi: "20000589/T17"
"""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from pipeline.trips.readers.batch import (
    MISSING_DATA,
    RAW_COLUMNS,
    Batch,
    check_header,
    line_blocks,
    raw_files,
    unread_rows,
)
from pipeline.trips.readers.settings import PortoTraces
from pipeline.trips.readers.trip_ids import of_vehicle

PATTERN = "*.csv"
COLUMNS = (
    "TRIP_ID",
    "CALL_TYPE",
    "ORIGIN_CALL",
    "ORIGIN_STAND",
    "TAXI_ID",
    "TIMESTAMP",
    "DAY_TYPE",
    "MISSING_DATA",
    "POLYLINE",
)
# At most 15 digits before the point and two in the exponent: such a number is always finite.
_NUMBER = r"-?\d{1,15}(?:\.\d+)?(?:[eE][+-]?\d{1,2})?"
_POLYLINE = rf"^\[(?:\[{_NUMBER},{_NUMBER}\](?:,\[{_NUMBER},{_NUMBER}\])*)?\]$"


def read_porto(traces: PortoTraces, folder: Path) -> Iterator[Batch]:
    """Yield every *.csv of the folder in batches; a row is a trip, times are start + interval x i.

    Raises:
        SourceError: No file, an empty or binary file, or other columns than `COLUMNS`.
    """
    for path in raw_files(folder, PATTERN):
        shown = path.relative_to(folder).as_posix()
        for number, lines in enumerate(line_blocks(path, traces.block_bytes)):
            rows = lines
            if number == 0:
                header = lines["text"][0].split(",")
                check_header(path, [name.strip('" \r') for name in header], COLUMNS)
                rows = lines.slice(1)
            yield _batch(rows, shown, traces.interval_s)


def _batch(lines: pl.DataFrame, shown: str, interval_s: int) -> Batch:
    fields = (
        lines.with_columns(pl.col("text").str.splitn(",", len(COLUMNS)).alias("fields"))
        .with_columns(pl.col("fields").struct.rename_fields(list(COLUMNS)).struct.unnest())
        .with_columns(pl.col(COLUMNS).str.strip_chars('" \r'), torn=_torn(pl.col("TRIP_ID")))
        .with_columns(pl.col("POLYLINE").str.replace_all(" ", "", literal=True))
        .with_columns(start=pl.col("TIMESTAMP").cast(pl.Int64, strict=False), reason=_reason())
    )
    # "[[a,b],[c,d]]" -> a,b,c,d -> every second number is a longitude: no loop over points.
    numbers = pl.col("POLYLINE").str.strip_chars("[]").str.replace_all("],[", ",", literal=True)
    good = fields.filter(pl.col("reason").is_null()).with_columns(
        numbers.str.split(",").cast(pl.List(pl.Float64), strict=False).list.drop_nulls().alias("xy")
    )
    # In floats: a start or an interval that cannot be must not overflow; cleaning judges times.
    number = pl.int_ranges(0, pl.col("xy").list.len() // 2, dtype=pl.Int64)
    missing = pl.col("MISSING_DATA").str.to_lowercase() == "true"
    trips = good.select(
        raw_trip_id=_trip_id(),
        vehicle_id=pl.col("TAXI_ID").replace("", None),
        flag=pl.when(missing).then(pl.lit(MISSING_DATA)),
        t=number.cast(pl.List(pl.Float64)) * float(interval_s) + pl.col("start").cast(pl.Float64),
        lon=pl.col("xy").list.gather_every(2, 0),
        lat=pl.col("xy").list.gather_every(2, 1),
        edge_ids=pl.lit([], dtype=pl.List(pl.String)),
    )
    return Batch(trips.cast(RAW_COLUMNS), unread_rows(fields, shown), lines.height, {})


def _trip_id() -> pl.Expr:
    """Return TRIP_ID where it names its own taxi and second, else the taxi and it."""
    taxi = pl.col("TAXI_ID").replace("", None)
    own = pl.concat_str("TIMESTAMP", pl.lit("6"), "TAXI_ID")
    return (
        pl.when(pl.col("TRIP_ID") == own)
        .then("TRIP_ID")
        .otherwise(of_vehicle(taxi, pl.col("TRIP_ID")))
    )


def _torn(field: pl.Expr) -> pl.Expr:
    """Tell whether only one quote of a field is there: the other stands on the line before."""
    return field.str.starts_with('"') != field.str.ends_with('"')


def _reason() -> pl.Expr:
    polyline = pl.col("POLYLINE")
    unparsable = (
        pl.col("TRIP_ID").eq("")
        | pl.col("torn")
        | ~pl.col("MISSING_DATA").str.to_lowercase().is_in(["true", "false"])
        | ~polyline.str.contains(_POLYLINE)
    )
    return (
        pl.when(polyline.is_null() | ~polyline.str.ends_with("]"))
        .then(pl.lit("row_truncated"))
        .when(polyline.str.contains(r"(?i)nan|inf"))
        .then(pl.lit("coordinate_not_finite"))
        .when(pl.col("TIMESTAMP").cast(pl.Int64, strict=False).is_null())
        .then(pl.lit("time_unparsable"))
        .when(unparsable)
        .then(pl.lit("row_unparsable"))
    )
