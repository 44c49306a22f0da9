"""Check rows of one point each and gather them into trips: what the point-per-row formats share.

line 12: t 1211033000.0, lon -122.39, lat 37.75 -> read; lon "nan" -> coordinate_not_finite
"""

import polars as pl

from pipeline.trips.readers.batch import RAW_COLUMNS


def numbers(columns: dict[str, str]) -> list[pl.Expr]:
    """Return the casts of columns (text or not) to numbers, by new name; no number gives null."""
    return [number(pl.col(old)).alias(new) for new, old in columns.items()]


def number(column: pl.Expr, decimal: str = ".") -> pl.Expr:
    """Return the cast of a column (text or not) to numbers; no number gives null.

    With a decimal comma a point is no part of a number: it would separate thousands.
    """
    text = column.cast(pl.String).str.strip_chars()
    if decimal == ",":
        pointed = text.str.replace(",", ".", literal=True)
        text = pl.when(~text.str.contains(".", literal=True)).then(pointed)
    return text.cast(pl.Float64, strict=False)


def point_reason(last_field: pl.Expr) -> pl.Expr:
    """Return why a row with the columns t, lon, lat was not read; null where it was.

    Args:
        last_field: Text of the row's last expected field; null means the row was cut off.
    """
    values = pl.concat_list("t", "lon", "lat")
    return (
        pl.when(last_field.is_null())
        .then(pl.lit("row_truncated"))
        .when(pl.col("t").is_null())
        .then(pl.lit("time_unparsable"))
        .when(values.list.eval(pl.element().is_null()).list.any())
        .then(pl.lit("row_unparsable"))
        .when(~values.list.eval(pl.element().is_finite()).list.all())
        .then(pl.lit("coordinate_not_finite"))
    )


def gather_trips(points: pl.DataFrame) -> pl.DataFrame:
    """Gather rows raw_trip_id, vehicle_id, t, lon, lat into one row per trip, sorted by time.

    Points of equal time are ordered by longitude and latitude, so that the order of the rows in
    the file decides nothing.
    """
    trips = (
        points.sort("raw_trip_id", "t", "lon", "lat")
        .group_by("raw_trip_id", maintain_order=True)
        .agg(pl.col("vehicle_id").min(), "t", "lon", "lat")
    )
    return trips.select(
        "raw_trip_id",
        "vehicle_id",
        flag=pl.lit(None, dtype=pl.String),
        t="t",
        lon="lon",
        lat="lat",
        edge_ids=pl.lit([], dtype=pl.List(pl.String)),
    ).cast(RAW_COLUMNS)
