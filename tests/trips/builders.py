"""Small trips on a flat patch of Porto, in metres, and settings that reject nothing by chance."""

from datetime import date
from typing import Any

import msgspec
import polars as pl

from pipeline.trips.cleaning.contract import CleanedTrips, clean
from pipeline.trips.cleaning.settings import CleaningSettings
from pipeline.trips.cleaning.trip_rules import trip_index, vehicle_conflicts
from pipeline.trips.distance import distance_m
from pipeline.trips.readers.batch import RAW_COLUMNS
from pipeline.trips.readers.settings import TracesSettings

LON, LAT = -8.6, 41.15
BBOX = (-8.7, 41.1, -8.5, 41.2)
LON_M = float(distance_m(LON, LAT, LON + 1e-3, LAT)) * 1e3
LAT_M = float(distance_m(LON, LAT, LON, LAT + 1e-3)) * 1e3
START = 1_372_636_800.0

CLEANING = CleaningSettings(
    least_share_in_bbox=0.0,
    earliest=date(1990, 1, 1),
    latest=date(2100, 1, 1),
    thin_to_s=0.0,
    most_speed_mps=40.0,
    lasting_jump="split",
    retime_speed_mps=10.0,
    retime_grid_s=15.0,
    most_gap_s=120.0,
    standing_radius_m=30.0,
    standing_least_s=60.0,
    standing_away_s=45.0,
    dwell_least_s=300.0,
    long_dwell="note",
    outside="clip",
    fewest_points=3,
    shortest_m=100.0,
    longest_m=20_000.0,
    shortest_s=20.0,
    longest_s=3600.0,
    most_detour=5.0,
)


def cleaning(**changes: Any) -> CleaningSettings:
    return msgspec.structs.replace(CLEANING, **changes)


def lon_lat(x_m: float, y_m: float = 0.0) -> tuple[float, float]:
    return LON + x_m / LON_M, LAT + y_m / LAT_M


def trip(
    trip_id: str,
    x_m: list[float],
    *,
    y_m: list[float] | None = None,
    t: list[float] | None = None,
    vehicle: str | None = None,
    flag: str | None = None,
    edges: list[str] | None = None,
) -> dict[str, Any]:
    """A raw trip: one point each 15 s unless told, `x_m` metres east of the centre."""
    places = [lon_lat(x, y) for x, y in zip(x_m, y_m or [0.0] * len(x_m), strict=True)]
    return {
        "raw_trip_id": trip_id,
        "vehicle_id": vehicle,
        "flag": flag,
        "t": t if t is not None else [START + 15.0 * i for i in range(len(x_m))],
        "lon": [lon for lon, _ in places],
        "lat": [lat for _, lat in places],
        "edge_ids": edges or [],
    }


def drive(count: int, *, step_m: float = 100.0, first_m: float = 0.0) -> list[float]:
    return [first_m + step_m * i for i in range(count)]


def raw(*trips: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(list(trips), schema=RAW_COLUMNS)


def cleaned(*trips: dict[str, Any], bbox: Any = BBOX, **changes: Any) -> CleanedTrips:
    frame, settings = raw(*trips), cleaning(**changes)
    return clean(
        frame,
        settings=settings,
        bbox=bbox,
        conflicts=vehicle_conflicts(trip_index(frame, settings), fragments=False),
        simulated=False,
    )


def outcome(result: CleanedTrips, trip_id: str) -> str:
    row = result.raw_trips.filter(pl.col("raw_trip_id") == trip_id)
    return str(row["outcome"][0])


def decisions(result: CleanedTrips, trip_id: str) -> list[str]:
    row = result.raw_trips.filter(pl.col("raw_trip_id") == trip_id)
    return list(row["decisions"][0])


# What the files of most tests are like.
_KEYS: dict[str, dict[str, Any]] = {
    "gpx": {"time_zone": None},
    "hoser": {"time_zone": None},
    "table": {"delimiter": ",", "decimal": "."},
}


def traces(form: str, **keys: Any) -> TracesSettings:
    settings = {
        "format": form,
        "kind": "real",
        "source": {"city": "toy", "name": "made by hand", "licence": "none", "attribution": ""},
        "coordinate_order": "as_format",
        "shards": 2,
        "block_bytes": 4096,
    }
    if keys.get("kind") == "simulated":
        settings["source"] = None
    settings |= _KEYS.get(form, {}) | keys
    if form == "table":
        settings["columns"] = {"lon": None, "lat": None, "point": None} | settings["columns"]
    return msgspec.convert(settings, TracesSettings)
