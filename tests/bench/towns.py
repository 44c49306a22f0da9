"""A square town in metres, small enough to count on fingers."""

import numpy as np
import polars as pl
import shapely
from pyproj import Geod

GEOD = Geod(ellps="WGS84")
CORNER = (-8.62, 41.15)


def chain(lengths_m: dict[str, float]) -> pl.DataFrame:
    """Return a network with the one column pair that metrics read."""
    return pl.DataFrame({
        "edge_id": list(lengths_m), "length_m": list(lengths_m.values()),
        "u": list(range(len(lengths_m))), "v": list(range(1, len(lengths_m) + 1)),
    })  # fmt: skip


def square_town(side: int, block_m: float) -> pl.DataFrame:
    """Return side x side junctions with two-way streets of `block_m` between neighbours."""
    lon = GEOD.fwd([CORNER[0]] * side, [CORNER[1]] * side, [90] * side, block_m * np.arange(side))
    lat = GEOD.fwd([CORNER[0]] * side, [CORNER[1]] * side, [0] * side, block_m * np.arange(side))
    place = [(x, y) for y in lat[1] for x in lon[0]]
    rows = []
    for node in range(side * side):
        for other, inside in ((node + 1, (node + 1) % side), (node + side, node < side**2 - side)):
            if inside:
                rows += [(node, other), (other, node)]
    lines = [shapely.LineString([place[u], place[v]]) for u, v in rows]
    return pl.DataFrame({
        "edge_id": [1000 + k for k in range(len(rows))],
        "u": [u for u, _ in rows], "v": [v for _, v in rows],
        "length_m": [GEOD.line_length(*line.xy) for line in lines],
        "speed_kph": [36.0] * len(rows),
        "geometry": list(shapely.to_wkb(lines)), "highway": ["residential"] * len(rows),
    })  # fmt: skip
