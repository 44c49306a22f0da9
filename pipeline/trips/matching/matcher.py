"""Frames in, frames out: the matcher a stage or a command calls.

Matcher(network, settings).match(points)  <-  trace_id | t | lon | lat
    ->  .path (58 rows for a trip), .points (40 rows), .trips (1 row)
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from numba.core import event

from pipeline.errors import ContractError
from pipeline.trips.matching.frames import (
    ChunkRows,
    MatchResult,
    checked,
    in_order,
    path_frame,
    point_frame,
    trace_starts,
    trip_frame,
)
from pipeline.trips.matching.lattice import Roads
from pipeline.trips.matching.path_table import PathTable
from pipeline.trips.matching.settings import MatchSettings, costs_of
from pipeline.trips.matching.trace import compile_match_chunk

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from pipeline.trips.matching.network import Network
    from pipeline.trips.matching.search import F64, I32, I64, Graph


class Matcher:
    """Matches traces to one network; safe to share between threads."""

    def __init__(
        self, network: Network, settings: MatchSettings, table: PathTable | None = None
    ) -> None:
        """Take a network and its path table; without one, every route is searched.

        Raises:
            ContractError: The table was built for another network.
        """
        table = table or PathTable.empty(network)
        if table.network_hash != network.content_hash:
            raise ContractError(
                f"path table of network {table.network_hash[:12]}, expected "
                f"{network.content_hash[:12]}; build it again"
            )
        self.network = network
        self.settings = settings
        self._costs = costs_of(settings)
        self._roads = Roads(network.graph, network.grid, table.table, _components(network.graph))

    def match(self, points: pl.DataFrame, workers: int = 0) -> MatchResult:
        """Match all traces of a frame.

        Args:
            points: Columns `trace_id` (integer or string), `t` (seconds), `lon`, `lat` (degrees).
                Rows may stand in any order: a trace is read by `t`, equal times in row order.
                Points whose time or place is null, NaN or no lon/lat are kept out (`invalid`).
            workers: Threads; 0 = one for each CPU. The result does not depend on it.

        Returns:
            Path rows, one row for each input point (`i` counts the points of a trace by time) and
            one row for each trace. An empty frame gives three empty tables.

        Raises:
            ContractError: A column is missing or of the wrong type, a trace_id is null, or most
                coordinates are outside lon/lat degrees.
        """
        points = in_order(checked(points))
        ids, start = trace_starts(points["trace_id"])
        columns = tuple(points[name].to_numpy() for name in ("t", "lon", "lat"))
        cuts = _chunks(start, self.settings.chunk_points)

        def run(begin: int, end: int) -> ChunkRows:
            return self._match_traces(columns, start[begin : end + 1])

        threads = min(workers or os.cpu_count() or 1, len(cuts) - 1)
        with compilation_announced():
            if threads <= 1:
                done = list(map(run, cuts[:-1], cuts[1:]))
            else:
                with ThreadPoolExecutor(threads) as pool:
                    done = list(pool.map(run, cuts[:-1], cuts[1:]))
        return MatchResult(
            path_frame(done, ids, self.network.edge_ids),
            point_frame(done, points["trace_id"], start, self.network.edge_ids),
            trip_frame(done, ids, start),
        )

    def _match_traces(self, columns: tuple[F64, ...], start: I64) -> ChunkRows:
        """Match the traces whose points are start[k]:start[k + 1] of the columns t, lon, lat."""
        # Copies, since Polars lends read-only arrays at times: another type, compiled anew.
        t, lon, lat = (column[start[0] : start[-1]].copy() for column in columns)
        sound = (np.abs(lon) <= 180) & (np.abs(lat) <= 90)
        x, y = self.network.projection.near_metres(lon, lat, self.settings.wide_radius_m)
        found = compile_match_chunk()(self._roads, self._costs, x, y, t, sound, start - start[0])
        return ChunkRows(*found)


class _Announcer(event.Listener):  # type: ignore[misc]
    """Says once that compiling has begun; numba tells so only when its disk cache has nothing."""

    said = False

    def on_start(self, _: object) -> None:
        """Say it, the first time."""
        if not _Announcer.said:
            _Announcer.said = True
            print("compiling the matcher (once, about a minute) ...", file=sys.stderr, flush=True)

    def on_end(self, _: object) -> None:
        """Say nothing."""


@contextmanager
def compilation_announced() -> Iterator[None]:
    """Say on standard error when the code within has to be compiled first on this machine."""
    with event.install_listener("numba:compile", _Announcer()):
        yield


def _chunks(start: I64, points: int) -> list[int]:
    """Return trace numbers that cut the traces into chunks of about `points` points."""
    cuts = [0]
    while cuts[-1] < len(start) - 1:
        goal = start[cuts[-1]] + points
        cuts.append(max(cuts[-1] + 1, int(np.searchsorted(start, goal, side="right")) - 1))
    return cuts


def _components(graph: Graph) -> I32:
    """Return for each node the number of its weakly connected part."""
    from scipy.sparse import coo_array  # noqa: PLC0415
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    nodes = len(graph.out_start) - 1
    ends = (graph.edges["u"], graph.edges["v"])
    links = coo_array((np.ones(len(graph.edges), np.int8), ends), (nodes, nodes))
    return np.asarray(connected_components(links, directed=False)[1], np.int32)
