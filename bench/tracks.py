"""Read the two real sets: test tracks with a surveyed route, and taxi trips without one.

00000003.track  "37.201469  56.007387  1.0" each second   ->  one trace thinned to 15, 30, 60 s
train.csv       POLYLINE "[[-8.61,41.14],...]" each 15 s  ->  one trace a trip, t = start + 15 i
"""

import json
from pathlib import Path

import numpy as np
import polars as pl
import shapely

from bench.network import geodesic_length_m

POINTS_SCHEMA = {"trace_id": pl.Int64, "t": pl.Float64, "lon": pl.Float64, "lat": pl.Float64}


def read_track_network(folder: Path) -> pl.DataFrame:
    """Return the network of one test track; `edge_id` is the row of its arc; no class, no speed."""
    name = folder.name
    nodes = np.loadtxt(folder / f"{name}.nodes")
    arcs = np.loadtxt(folder / f"{name}.arcs", dtype=np.int64)
    lines = list(shapely.linestrings(nodes[arcs]))
    return pl.DataFrame({
        "edge_id": np.arange(len(arcs)), "u": arcs[:, 0], "v": arcs[:, 1],
        "length_m": geodesic_length_m(lines),
        "speed_kph": pl.Series([None] * len(arcs), dtype=pl.Float64),
        "geometry": list(shapely.to_wkb(lines)), "highway": ["residential"] * len(arcs),
    })  # fmt: skip


def read_track(folder: Path, *, interval_s: float, trace_id: int) -> tuple[pl.DataFrame, pl.Series]:
    """Return the points of one test track, thinned, and the arc ids of its true route in order.

    A point is kept when `interval_s` has passed since the last one kept; the last point always is,
    because the route ends there.
    """
    name = folder.name
    track = np.loadtxt(folder / f"{name}.track")
    kept = [0]
    for i in range(1, len(track)):
        if track[i, 2] - track[kept[-1], 2] >= interval_s or i == len(track) - 1:
            kept.append(i)
    lon, lat, t = track[kept].T
    points = pl.DataFrame({"t": t, "lon": lon, "lat": lat}).select(
        pl.lit(trace_id, dtype=pl.Int64).alias("trace_id"), pl.all()
    )
    return points, pl.Series("edge_id", np.loadtxt(folder / f"{name}.route", dtype=np.int64))


def read_taxi_trips(csv: Path) -> pl.DataFrame:
    """Return the points of all taxi trips with more than three points; `trace_id` is the row."""
    rows = pl.read_csv(csv, columns=["TIMESTAMP", "POLYLINE"]).with_row_index("trace_id")
    traces = []
    for trace_id, start_s, polyline in rows.iter_rows():
        lonlat = json.loads(polyline)
        if len(lonlat) > 3:
            traces += [
                (trace_id, start_s + 15.0 * i, lon, lat) for i, (lon, lat) in enumerate(lonlat)
            ]
    return pl.DataFrame(traces, schema=POINTS_SCHEMA, orient="row")
