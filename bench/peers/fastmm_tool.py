"""fastmm 0.3: k 8 and k 16 candidates over one table of shortest paths.

Settings: radius 100 m, gps_error 50 m, reverse_tolerance 50 m, distance mode; the best of those
tried for this kind of data. The table's bound is 3 km, or 1.5 km on networks too dense for memory.
"""

from pathlib import Path

import fastmm
import numpy as np
import polars as pl
import shapely

from bench.network import metric_projection
from bench.peers.frames import Matched, Route, Trace, traces

CANDIDATES = {"k8": 8, "k16": 16}
RADIUS_M, GPS_ERROR_M, REVERSE_TOLERANCE_M = 100.0, 50.0, 50.0
# About 70 bytes a table row: beyond this density a 3 km table leaves the memory of a laptop.
DENSE_NODES = 20_000


class FastMM:
    """fastmm on a metric network; its table is cached in the folder."""

    variants = tuple(CANDIDATES)

    def __init__(self, network: pl.DataFrame, folder: Path) -> None:
        lines = shapely.from_wkb(network["geometry"].to_numpy())
        self.projection = metric_projection(*shapely.get_coordinates(lines).T)
        metric = shapely.transform(lines, self.projection.transform, interleaved=False)
        net = fastmm.Network()
        columns = network.select("edge_id", "u", "v", "speed_kph").iter_rows()
        for (edge_id, u, v, speed_kph), line in zip(columns, metric, strict=True):
            speed_mps = speed_kph / 3.6 if speed_kph else None
            net.add_edge(
                edge_id, u, v, [tuple(p) for p in shapely.get_coordinates(line)], speed_mps
            )
        net.finalize()
        nodes = pl.concat([network["u"], network["v"]]).n_unique()
        bound_m = 1500.0 if nodes > DENSE_NODES else 3000.0
        folder.mkdir(parents=True, exist_ok=True)
        self.matcher = fastmm.FastMapMatch(
            net,
            fastmm.TransitionMode.SHORTEST,
            max_distance_between_candidates=bound_m,
            cache_dir=folder,
        )
        # The matcher keeps no reference of its own to the network.
        self.network = net

    def match(self, points: pl.DataFrame, variant: str, workers: int) -> Matched:
        """Match all traces; fastmm holds the interpreter lock, so `workers` changes nothing."""
        del workers
        x, y = self.projection.transform(points["lon"].to_numpy(), points["lat"].to_numpy())
        route = Route(len(points))
        for trace in traces(points, x, y):
            self._match_one(trace, CANDIDATES[variant], route)
        return route.matched(points)

    def _match_one(self, trace: Trace, candidates: int, route: Route) -> None:
        fixes = np.stack([trace.x, trace.y, trace.t - trace.t[0]], axis=1)
        result = self.matcher.match(
            fastmm.Trajectory.from_xyt_tuples(list(map(tuple, fixes.tolist()))),
            max_candidates=candidates,
            candidate_search_radius=RADIUS_M,
            gps_error=GPS_ERROR_M,
            reverse_tolerance=REVERSE_TOLERANCE_M,
        )
        part = 0
        for piece in result.subtrajectories:
            if piece.error_code != fastmm.MatchErrorCode.SUCCESS or not piece.segments:
                continue
            self._add_piece(trace, part, piece, route)
            part += 1

    def _add_piece(
        self, trace: Trace, part: int, piece: fastmm.SubTrajectory, route: Route
    ) -> None:
        before = len(route.rows)
        for segment in piece.segments:
            edges = segment.edges
            if not edges:
                continue
            # Counted from 0, whatever its docstring says.
            route.point_edge[trace.first + segment.p0.trajectory_index] = edges[0].edge_id
            route.point_edge[trace.first + segment.p1.trajectory_index] = edges[-1].edge_id
            for edge in edges:
                t = edge.points[0].t if edge.points else None
                route.add(trace.trace_id, part, edge.edge_id, None if t is None else t + trace.t[0])
        if len(route.rows) > before:
            route.begin_at(before, piece.segments[0].p0.offset_from_start_of_edge)
            route.end_at(piece.segments[-1].p1.offset_from_start_of_edge)
