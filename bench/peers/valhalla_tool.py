"""Valhalla 3.9 (Meili) through pyvalhalla: its own settings, and tuned ones.

Default: radius 50 m, breakage 2 km. Tuned: radius 100 m, sigma_z 8 m, turn_penalty_factor 100.
Valhalla reports no time of entry for an edge, so none is given.
"""

import json
import subprocess
from pathlib import Path

import numpy as np
import polars as pl
import shapely
import valhalla
from valhalla.baldr import GraphId
from valhalla.baldr.utils import GraphUtils

from bench.peers.frames import Matched, Route, Trace, traces
from bench.peers.osm_file import OsmWay, write_osm_file

OPTIONS = {
    "default": {"search_radius": 50, "breakage_distance": 2000},
    "tuned": {
        "search_radius": 100,
        "breakage_distance": 2000,
        "sigma_z": 8,
        "turn_penalty_factor": 100,
    },
}
ATTRIBUTES = (
    "edge.id", "edge.way_id", "matched.edge_index", "matched.type",
    "matched.distance_along_edge", "matched.begin_route_discontinuity",
)  # fmt: skip


class Valhalla:
    """Valhalla on tiles built from the network written as an OSM file."""

    variants = tuple(OPTIONS)

    def __init__(self, network: pl.DataFrame, folder: Path) -> None:
        file = folder / "network.osm.pbf"
        ways = write_osm_file(network, file)
        tiles = folder / "tiles"
        tiles.mkdir(parents=True, exist_ok=True)
        config = _config(tiles)
        config_file = folder / "valhalla.json"
        config_file.write_text(json.dumps(config))
        build = Path(valhalla.__file__).parent / "bin" / "valhalla_build_tiles"
        subprocess.run(
            [str(build), "-c", str(config_file), "-j", "1", str(file)],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.actor = valhalla.Actor(str(config_file))
        self.length_m = dict(network.select("edge_id", "length_m").iter_rows())
        self.ways = ways
        self.lines = dict(
            zip(
                network["edge_id"].to_list(),
                shapely.from_wkb(network["geometry"].to_numpy()),
                strict=True,
            )
        )
        self.shapes = GraphUtils(str(config_file))
        self.edge_of: dict[int, int] = {}

    def match(self, points: pl.DataFrame, variant: str, workers: int) -> Matched:
        """Match all traces one by one; `workers` changes nothing."""
        del workers
        route = Route(len(points))
        lon, lat = points["lon"].to_numpy(), points["lat"].to_numpy()
        for trace in traces(points, lon, lat):
            self._match_one(trace, OPTIONS[variant], route)
        return route.matched(points)

    def _match_one(self, trace: Trace, options: dict[str, float], route: Route) -> None:
        shape = [
            {"lon": lon, "lat": lat, "time": t}
            for lon, lat, t in zip(
                trace.x.tolist(), trace.y.tolist(), trace.t.tolist(), strict=True
            )
        ]
        asked = {
            "shape": shape,
            "costing": "auto",
            "shape_match": "map_snap",
            "trace_options": options,
            "filters": {"attributes": ATTRIBUTES, "action": "include"},
        }
        try:
            answer = json.loads(self.actor.trace_attributes(json.dumps(asked)))
        except valhalla.ValhallaError:
            # Valhalla has no answer for this trace; it stays empty.
            return
        self._add_answer(trace, answer, route)

    def _add_answer(self, trace: Trace, answer: dict, route: Route) -> None:
        edges = [self._edge(edge) for edge in answer["edges"]]
        breaks = set()
        first_along: dict[int, float] = {}
        last_along: dict[int, float] = {}
        for i, point in enumerate(answer["matched_points"]):
            at = point.get("edge_index", len(edges))
            if point["type"] == "unmatched" or at >= len(edges):
                continue
            route.point_edge[trace.first + i] = edges[at]
            first_along.setdefault(at, point["distance_along_edge"])
            last_along[at] = point["distance_along_edge"]
            if point.get("begin_route_discontinuity"):
                breaks.add(at)
        part = -1
        for at, edge in enumerate(edges):
            begins = at == 0 or at in breaks
            part += begins
            before = len(route.rows)
            route.add(trace.trace_id, part, edge)
            if begins:
                route.begin_at(before, first_along.get(at, 0.0) * self.length_m[edge])
            if at + 1 == len(edges) or at + 1 in breaks:
                route.end_at(last_along.get(at, 1.0) * self.length_m[edge])

    def _edge(self, answered: dict) -> int:
        """Return the directed edge of one of Valhalla's edges; each is looked up once."""
        known = self.edge_of.get(answered["id"])
        if known is None:
            way = self.ways[answered["way_id"] - 1]
            known = way.forward_edge
            if way.backward_edge >= 0:
                shape = np.array(self.shapes.get_edge_shape(GraphId(answered["id"])))
                known = self._nearer_direction(way, shape)
            self.edge_of[answered["id"]] = known
        return known

    def _nearer_direction(self, way: OsmWay, shape: np.ndarray) -> int:
        """Return the edge along which the shape's first and last point come in driving order."""
        line = self.lines[way.forward_edge]
        start, end = (line.project(shapely.Point(*shape[place])) for place in (0, -1))
        return way.forward_edge if start < end else way.backward_edge


def _config(tiles: Path) -> dict:
    config = valhalla.get_config(tile_dir=str(tiles), tile_extract="")
    for section in ("mjolnir", "loki", "thor", "odin", "meili"):
        config[section]["logging"] = {"type": ""}
    config["service_limits"]["trace"] |= {"max_distance": 1e7, "max_shape": 100_000}
    config["meili"]["default"] |= {"max_search_radius": 200}
    return config
