"""Read positions from one column: WKT text, or the geometry of a GeoParquet file.

"POINT (24.94 60.17)", its WKB, or {x: 24.94, y: 60.17} -> lon 24.94, lat 60.17
"""

import json
from pathlib import Path

import numpy as np
import polars as pl

from pipeline.errors import SourceError
from pipeline.trips.distance import Floats

_SRID = r"(?i)^\s*(?:SRID\s*=\s*4326\s*;)?"
_WGS84 = {("EPSG", "4326"), ("EPSG", "4979"), ("OGC", "CRS84"), ("OGC", "CRS84h")}


def lon_lat_of(column: pl.Series) -> pl.DataFrame:
    """Return the columns lon and lat, degrees; both null where the value is no point.

    Lines, areas and empty points are no positions, nor is text with an SRID other than 4326.

    Args:
        column: WKT as text, WKB as bytes, or structs with x and y (GeoParquet's own encoding).
    """
    import shapely  # noqa: PLC0415 - slow import

    if isinstance(column.dtype, pl.Struct):
        if not {"x", "y"} <= {field.name for field in column.dtype.fields}:
            return _frame(np.full(column.len(), np.nan), np.full(column.len(), np.nan))
        fields = column.struct.unnest()
        x, y = (fields[name].cast(pl.Float64, strict=False).fill_null(np.nan) for name in "xy")
        return _frame(x.to_numpy(), y.to_numpy())
    if column.dtype == pl.Binary:
        shapes = shapely.from_wkb(column.to_numpy(), on_invalid="ignore")
    else:
        texts = column.cast(pl.String).str.replace(_SRID, "")
        shapes = shapely.from_wkt(texts.to_numpy(), on_invalid="ignore")
    shapes[shapely.is_empty(shapes)] = None  # asking an empty point for its place is an error
    return _frame(shapely.get_x(shapes), shapely.get_y(shapes))  # NaN of anything but a point


def _frame(lon: Floats, lat: Floats) -> pl.DataFrame:
    return pl.DataFrame({"lon": lon, "lat": lat}).fill_nan(None)


def check_crs(path: Path, column: str) -> None:
    """Raise SourceError where a GeoParquet file states another reference system than WGS 84.

    A Parquet file without GeoParquet's metadata states none, as does a null in them.
    """
    try:
        stated = json.loads(pl.read_parquet_metadata(path).get("geo", "{}"))
        crs = stated.get("columns", {}).get(column, {}).get("crs")
        found = (crs["id"]["authority"], str(crs["id"]["code"])) if crs else None
        name = str(crs.get("name", "")) if crs else ""
    except (ValueError, KeyError, AttributeError, TypeError):
        found, name = ("", ""), "metadata `geo` that cannot be read"
    if found is not None and found not in _WGS84:
        raise SourceError(
            f"{path}: expected positions of {column} in WGS 84 (EPSG:4326), found"
            f" {':'.join(found)} {name}; reproject the file"
        )
