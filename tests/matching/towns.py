"""Small road networks and drives on them, in metres east and north of one point.

Town({"a": (0, 0), "b": (200, 0)}, ["a-b"])  ->  edges a>b and b>a
"a>b" is a one-way street; "a>b via 100,50" bends
"""

from functools import cache

import numpy as np
import polars as pl
import shapely
from pyproj import Transformer

from pipeline.trips.matching.matcher import Matcher
from pipeline.trips.matching.network import Network
from pipeline.trips.matching.path_table import PathTable
from tests.matching.settings_for_tests import settings

ORIGIN = (500_000.0, 4_650_000.0)  # in UTM zone 31: 3 degrees east, 42 north
TO_DEGREES = Transformer.from_crs(32631, 4326, always_xy=True)


def degrees(x: float, y: float) -> tuple[float, float]:
    return TO_DEGREES.transform(ORIGIN[0] + x, ORIGIN[1] + y)


def edge_rows(nodes, streets, speeds=None):
    rows = []
    for street in streets:
        text, _, via = street.partition(" via ")
        name, _, tag = text.partition("#")
        one_way = ">" in name
        tail, head = name.split(">" if one_way else "-")
        bends = [tuple(map(float, spot.split(","))) for spot in via.split()] if via else []
        line = [nodes[tail], *bends, nodes[head]]
        suffix = f"#{tag}" if tag else ""
        rows.append((f"{tail}>{head}{suffix}", tail, head, line))
        if not one_way:
            rows.append((f"{head}>{tail}{suffix}", head, tail, line[::-1]))
    return pl.DataFrame(
        {
            "edge_id": [row[0] for row in rows],
            "u": [row[1] for row in rows],
            "v": [row[2] for row in rows],
            "length_m": pl.Series([None] * len(rows), dtype=pl.Float64),
            "speed_kph": pl.Series([(speeds or {}).get(row[0]) for row in rows], dtype=pl.Float64),
            "geometry": pl.Series(
                [shapely.to_wkb(shapely.LineString([degrees(*p) for p in row[3]])) for row in rows],
                dtype=pl.Binary,
            ),
        }
    )


class Town:
    def __init__(self, nodes, streets, speeds=None, **changed):
        self.nodes = nodes
        self.frame = edge_rows(nodes, streets, speeds)
        self.network = Network.from_frame(self.frame)
        self.settings = settings(**changed)
        self.table = PathTable.build(
            self.network,
            bound_m=self.settings.table_bound_m,
            max_mb=self.settings.table_max_mb,
            workers=1,
        )
        self.matcher = Matcher(self.network, self.settings, self.table)

    def match(self, *traces, workers=1):
        return self.matcher.match(points(*traces), workers=workers)

    def path(self, trace):
        """The edges of one trace as text, parts divided by a bar."""
        return edges_of(self.match(trace).path)


def points(*traces, ids=None):
    rows = [
        (ids[k] if ids else k, float(t), *degrees(x, y))
        for k, trace in enumerate(traces)
        for x, y, t in trace
    ]
    return pl.DataFrame(
        rows,
        schema={
            "trace_id": pl.String if ids and isinstance(ids[0], str) else pl.Int64,
            "t": pl.Float64,
            "lon": pl.Float64,
            "lat": pl.Float64,
        },
        orient="row",
    )


def edges_of(path):
    parts = path.group_by("part", maintain_order=True).agg(pl.col("edge_id"))
    return " | ".join(" ".join(edges) for edges in parts["edge_id"])


def drive(*corners, speed=10.0, step_s=15.0, start=0.0, off=0.0):
    """Fixes (x, y, t) along the straight lines between corners, `off` metres to the left."""
    spots = np.array(corners, float)
    legs = np.hypot(*np.diff(spots, axis=0).T)
    along = np.concatenate([[0], np.cumsum(legs)])
    fixes = []
    for metres in np.arange(0, along[-1] + 1e-6, speed * step_s):
        leg = min(int(np.searchsorted(along, metres, side="right")) - 1, len(legs) - 1)
        ahead = (spots[leg + 1] - spots[leg]) / legs[leg]
        x, y = spots[leg] + ahead * (metres - along[leg]) + off * np.array([-ahead[1], ahead[0]])
        fixes.append((x, y, start + metres / speed))
    return fixes


@cache
def chequerboard(size=6, block=200.0):
    """A town of two-way streets on a square lattice; node (i, j) is called i.j."""
    nodes = {f"{i}.{j}": (i * block, j * block) for i in range(size) for j in range(size)}
    streets = [f"{i}.{j}-{i + 1}.{j}" for i in range(size - 1) for j in range(size)]
    streets += [f"{i}.{j}-{i}.{j + 1}" for i in range(size) for j in range(size - 1)]
    return Town(nodes, streets)


def joints_hold(path, frame):
    """Whether consecutive edges of each part touch."""
    ends = frame.select("edge_id", "u", "v")
    rows = path.join(ends, on="edge_id", how="left", maintain_order="left")
    inside = (rows["trace_id"] == rows["trace_id"].shift(1)) & (
        rows["part"] == rows["part"].shift(1)
    )
    return bool(((rows["v"].shift(1) == rows["u"]) | ~inside.fill_null(value=False)).all())
