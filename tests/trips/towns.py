"""A small town on a grid: streets 120 m apart, two-way except each third one, with WKB lines."""

from pathlib import Path

import msgspec
import numpy as np
import polars as pl
import shapely
import yaml

from pipeline.trips.distance import distance_m
from pipeline.trips.simulation.settings import CitySimulation, SimulateSettings
from pipeline.trips.simulation.simulate import World, make_world
from tests.trips.builders import lon_lat

SPACING_M = 120.0
SIDE = 12
BBOX = (*lon_lat(-200, -200), *lon_lat(SPACING_M * SIDE + 80, SPACING_M * SIDE + 80))


def grid_roads() -> pl.DataFrame:
    """Return the directed segments of the town, in the columns of roads that trips need."""
    rows = []
    for i in range(SIDE):
        for j in range(SIDE):
            for di, dj in ((1, 0), (0, 1)):
                k, m = i + di, j + dj
                if k >= SIDE or m >= SIDE:
                    continue
                ends = (i * SIDE + j, k * SIDE + m)
                places = (place(i, j), place(k, m))
                rows.append(segment(ends, places))
                if (j if di else i) % 3:
                    rows.append(segment(ends[::-1], places[::-1]))
    return pl.DataFrame(rows)


def place(i: int, j: int) -> tuple[float, float]:
    return lon_lat(SPACING_M * i, SPACING_M * j)


def segment(ends: tuple[int, int], places) -> dict:
    (x, y), (z, w) = places
    # A bend in the middle, so that lines are more than their ends.
    middle = ((x + z) / 2 + 2e-5, (y + w) / 2 + 2e-5)
    line = [places[0], middle, places[1]]
    lon, lat = np.array(line).T
    return {
        "edge_id": f"7:{ends[0]}:{ends[1]}",
        "u": ends[0],
        "v": ends[1],
        "length_m": float(distance_m(lon[:-1], lat[:-1], lon[1:], lat[1:]).sum()),
        "bearing_deg": float(np.degrees(np.arctan2((z - x) * np.cos(np.radians(y)), w - y)) % 360),
        "speed_kph": 40.0,
        "geometry": shapely.to_wkb(shapely.LineString(line)),
    }


def town() -> World:
    roads = grid_roads()
    weights = roads.sort("edge_id")["length_m"].to_numpy()
    return make_world(roads, weights, BBOX, "Europe/Lisbon")


_PARAMS = yaml.safe_load((Path(__file__).resolve().parents[2] / "params.yaml").read_text("utf-8"))
SIMULATE = msgspec.convert(_PARAMS["simulate"], SimulateSettings)


def simulate(**changes) -> SimulateSettings:
    return msgspec.structs.replace(SIMULATE, **changes)


def defects(**shares):
    """Return settings with the shares given and no other defect."""
    none = dict.fromkeys(("missing", "dwell", "short", "spike", "leaving", "copied"), 0.0)
    return simulate(defects=msgspec.structs.replace(SIMULATE.defects, **(none | shares)))


def plan(**changes) -> CitySimulation:
    keys = {
        "trips": 60,
        "format": "porto",
        "sampling": {"kind": "fixed", "interval_s": 15},
        "year": 2024,
        "fleet": 20,
        "via_share": 0.5,
    }
    return msgspec.convert(keys | changes, CitySimulation)


JITTERED = {
    "kind": "jittered",
    "shares": [0, 0.1, 0.5, 0.9, 0.99, 1],
    "intervals_s": [4, 11, 20, 24, 88, 170],
}
