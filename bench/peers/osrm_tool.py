"""OSRM 26.10 through osrm-bindings: a contraction hierarchy, stated accuracy 10 m and 20 m.

OSRM reports no times; of the offsets at the two ends of a matching only their sum is known, which
is what the length of the route needs.
"""

import subprocess
from itertools import pairwise
from pathlib import Path

import osrm
import polars as pl

from bench.peers.frames import Matched, Route, Trace, traces
from bench.peers.osm_file import OsmWay, write_osm_file

RADIUS_M = {"r10": 10.0, "r20": 20.0}


class Osrm:
    """OSRM on a network written as an OSM file, with the car profile of the package."""

    variants = tuple(RADIUS_M)

    def __init__(self, network: pl.DataFrame, folder: Path) -> None:
        file = folder / "network.osm.pbf"
        ways = write_osm_file(network, file)
        self.length_m = dict(network.select("edge_id", "length_m").iter_rows())
        self.edge_of = edges_by_node_pair(ways)
        package = Path(osrm.__file__).parent
        profile = package / "share" / "profiles" / "car.lua"
        base = folder / "network.osrm"
        _run(package / "bin" / "osrm-extract", "-t", "1", "-p", profile, file)
        _run(package / "bin" / "osrm-contract", "-t", "1", base)
        self.engine = osrm.OSRM(
            algorithm="CH",
            storage_config=str(base),
            use_shared_memory=False,
            max_locations_map_matching=-1,
            max_radius_map_matching=-1.0,
        )

    def match(self, points: pl.DataFrame, variant: str, workers: int) -> Matched:
        """Match all traces one by one; `workers` changes nothing."""
        del workers
        route = Route(len(points))
        lon, lat = points["lon"].to_numpy(), points["lat"].to_numpy()
        for trace in traces(points, lon, lat):
            self._match_one(trace, RADIUS_M[variant], route)
        return route.matched(points)

    def _match_one(self, trace: Trace, radius_m: float, route: Route) -> None:
        asked = osrm.MatchParameters(
            coordinates=list(zip(trace.x.tolist(), trace.y.tolist(), strict=True)),
            timestamps=trace.t.astype(int).tolist(),
            radiuses=[radius_m] * len(trace.t),
            annotations=["nodes"],
            overview="false",
            gaps="ignore",
            generate_hints=False,
        )
        try:
            answer = self.engine.Match(asked)
        except RuntimeError:
            # "NoMatch": OSRM has no answer for this trace; it stays empty.
            return
        waypoints: dict[tuple[int, int], int] = {}
        for i, point in enumerate(answer["tracepoints"]):
            if point is not None:
                waypoints[int(point["matchings_index"]), int(point["waypoint_index"])] = i
        for part, matching in enumerate(answer["matchings"]):
            self._add_matching(trace, part, matching, waypoints, route)

    def _add_matching(
        self,
        trace: Trace,
        part: int,
        matching: osrm.Object,
        waypoints: dict[tuple[int, int], int],
        route: Route,
    ) -> None:
        before = len(route.rows)
        for at, leg in enumerate(matching["legs"]):
            nodes = [int(node) for node in leg["annotation"]["nodes"]]
            edges = [self._edge(a, b) for a, b in pairwise(nodes) if a != b]
            if not edges:
                continue
            for place, edge in ((at, edges[0]), (at + 1, edges[-1])):
                if (part, place) in waypoints:
                    route.point_edge[trace.first + waypoints[part, place]] = edge
            for edge in edges:
                route.add(trace.trace_id, part, edge)
        if len(route.rows) > before:
            whole_m = sum(self.length_m[row[2]] for row in route.rows[before:])
            route.begin_at(before, max(whole_m - matching["distance"], 0.0))

    def _edge(self, a: int, b: int) -> int:
        """Return the edge from node to node; a small step back on a one-way street stays on it."""
        edge = self.edge_of.get((a, b))
        return self.edge_of[b, a] if edge is None else edge


def edges_by_node_pair(ways: list[OsmWay]) -> dict[tuple[int, int], int]:
    """Return the directed edge of each pair of neighbouring nodes, in driving order."""
    edge_of: dict[tuple[int, int], int] = {}
    for way in ways:
        for a, b in pairwise(way.nodes):
            edge_of.setdefault((a, b), way.forward_edge)
            if way.backward_edge >= 0:
                edge_of.setdefault((b, a), way.backward_edge)
    return edge_of


def _run(*command: object) -> None:
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)
