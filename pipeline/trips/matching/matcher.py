"""Frames in, frames out: the matcher a stage or a command calls.

Matcher(network, settings).match(points)  <-  trace_id | t | lon | lat
    ->  .path (58 rows for a trip), .points (40 rows), .trips (1 row)
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from pipeline.errors import ContractError
from pipeline.trips.matching.path_table import PathTable
from pipeline.trips.matching.settings import MatchSettings, costs_of
from pipeline.trips.matching.trace import REASONS, STATUSES, Roads, match_chunk

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from pipeline.trips.matching.assemble import Trail
    from pipeline.trips.matching.candidates import F64
    from pipeline.trips.matching.network import Network
    from pipeline.trips.matching.search import Graph
    from pipeline.trips.matching.trace import PointRows, TraceRows

COLUMNS = ("trace_id", "t", "lon", "lat")


class MatchResult(NamedTuple):
    """The three tables of a run, each sorted by trace_id."""

    path: pl.DataFrame
    points: pl.DataFrame
    trips: pl.DataFrame


class _Chunk(NamedTuple):
    """Results of consecutive traces; `first` is the number of the first one."""

    first: int
    trail: Trail
    points: PointRows
    traces: TraceRows


class Matcher:
    """Matches traces to one network; safe to share between threads."""

    def __init__(
        self, network: Network, settings: MatchSettings, table: PathTable | None = None
    ) -> None:
        """Take a network and a path table of the same network; without one, every route is searched.

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
        ids, start = _traces(points["trace_id"])
        columns = tuple(points[name].to_numpy() for name in ("t", "lon", "lat"))
        bounds = _chunks(start, self.settings.chunk_points)
        tasks = list(zip(bounds[:-1], bounds[1:], strict=True))

        def run(task: tuple[int, int]) -> _Chunk:
            return self._match_traces(columns, start[task[0] : task[1] + 1], task[0])

        threads = min(workers or os.cpu_count() or 1, len(tasks))
        if threads <= 1:
            done = [run(task) for task in tasks]
        else:
            with ThreadPoolExecutor(threads) as pool:
                done = list(pool.map(run, tasks))
        return MatchResult(
            _path_frame(done, ids, self.network.edge_ids),
            _point_frame(done, points["trace_id"], start, self.network.edge_ids),
            _trip_frame(done, ids, start),
        )

    def _match_traces(
        self, columns: tuple[F64, ...], start: npt.NDArray[np.int64], first: int
    ) -> _Chunk:
        t, lon, lat = (column[start[0] : start[-1]] for column in columns)
        sound = np.isfinite(t) & (np.abs(lon) <= 180) & (np.abs(lat) <= 90)
        place = self.network.projection
        # Beyond the box a projection may fold the globe back onto the network.
        inside = place.near_box(lon, lat, self.settings.radius_m)
        x = np.full(len(t), 1e9)
        y = np.full(len(t), 1e9)
        if inside.all():
            x, y = place.to_metres(lon, lat)
        elif inside.any():
            x[inside], y[inside] = place.to_metres(lon[inside], lat[inside])
        found = match_chunk(self._roads, self._costs, x, y, t, sound, start - start[0])
        return _Chunk(first, *found)


def checked(points: pl.DataFrame) -> pl.DataFrame:
    """Return the four columns as expected types, or say what is wrong with them."""
    missing = [name for name in COLUMNS if name not in points.columns]
    if missing:
        raise ContractError(
            f"points: columns {missing} are missing, expected {list(COLUMNS)}, "
            f"found {points.columns}"
        )
    kind = points["trace_id"].dtype
    if not (kind.is_integer() or kind == pl.String):
        raise ContractError(f"points: trace_id is {kind}, expected integers or strings")
    if points["trace_id"].null_count():
        raise ContractError(f"points: {points['trace_id'].null_count()} rows have no trace_id")
    for name in COLUMNS[1:]:
        dtype = points[name].dtype
        if not (dtype.is_numeric() or dtype == pl.Null):
            unit = "seconds" if name == "t" else "degrees"
            raise ContractError(f"points: {name} is {dtype}, expected numbers ({unit})")
    points = points.select(
        "trace_id", *(pl.col(n).cast(pl.Float64).fill_null(float("nan")) for n in COLUMNS[1:])
    )
    far = points.select(
        ((pl.col("lon").abs() > 180) | (pl.col("lat").abs() > 90)).mean().alias("share")
    )["share"][0]
    if points.height and far > 0.5:
        raise ContractError(
            f"points: lon/lat of {far:.0%} of the rows are outside -180..180 / -90..90 (first: "
            f"{points['lon'][0]}, {points['lat'][0]}); expected degrees, are these metres?"
        )
    return points


def in_order(points: pl.DataFrame) -> pl.DataFrame:
    """Return the points by trace and time, equal times in row order, missing times last."""
    same = pl.col("trace_id") == pl.col("trace_id").shift(1)
    rising = pl.col("trace_id") > pl.col("trace_id").shift(1)
    later = pl.col("t") >= pl.col("t").shift(1)
    ordered = points.select((rising | (same & later)).slice(1).all())
    if points.height < 2 or ordered.item():
        return points
    return points.sort("trace_id", "t", maintain_order=True)


def _traces(column: pl.Series) -> tuple[pl.Series, npt.NDArray[np.int64]]:
    """Return the distinct ids of a sorted column and where each begins (one more at the end)."""
    if len(column) == 0:
        return column, np.zeros(1, np.int64)
    begins = np.flatnonzero((column != column.shift(1)).fill_null(value=True).to_numpy())
    start = np.append(begins, len(column)).astype(np.int64)
    return column.gather(begins), start


def _chunks(start: npt.NDArray[np.int64], points: int) -> list[int]:
    """Return trace numbers that cut the traces into chunks of about `points` points."""
    cuts = [0]
    while cuts[-1] < len(start) - 1:
        goal = start[cuts[-1]] + points
        cuts.append(max(cuts[-1] + 1, int(np.searchsorted(start, goal, side="right")) - 1))
    return cuts


def _components(graph: Graph) -> npt.NDArray[np.int32]:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    nodes = len(graph.out_start) - 1
    links = coo_array((np.ones(len(graph.u), np.int8), (graph.u, graph.v)), (nodes, nodes))
    return np.asarray(connected_components(links, directed=False)[1], np.int32)


def _joined(parts: Sequence[npt.NDArray[np.generic]], dtype: type) -> npt.NDArray[np.generic]:
    return np.concatenate(parts) if parts else np.empty(0, dtype)


def _ids(edge_ids: pl.Series, edges: npt.NDArray[np.generic]) -> pl.Series:
    """Return the ids of edge numbers, null for -1."""
    index = pl.Series("edge_id", edges)
    return edge_ids.gather(index.set(index < 0, None)).alias("edge_id")


def _path_frame(done: list[_Chunk], ids: pl.Series, edge_ids: pl.Series) -> pl.DataFrame:
    used = [chunk.traces.path_start[-1] for chunk in done]

    def column(name: str, dtype: type) -> npt.NDArray[np.generic]:
        rows = zip(done, used, strict=True)
        return _joined([getattr(chunk.trail, name)[:count] for chunk, count in rows], dtype)

    trace = _joined(
        [
            np.repeat(
                np.arange(chunk.first, chunk.first + len(chunk.traces.parts)),
                np.diff(chunk.traces.path_start),
            )
            for chunk in done
        ],
        np.int64,
    )
    part = column("part", np.int32)
    fresh = np.ones(len(part), bool)
    fresh[1:] = (trace[1:] != trace[:-1]) | (part[1:] != part[:-1])
    begins = np.flatnonzero(fresh)
    seq = np.arange(len(part)) - np.repeat(begins, np.diff(np.append(begins, len(part))))
    return pl.DataFrame(
        {
            "trace_id": ids.gather(trace),
            "part": part,
            "seq": seq.astype(np.int32),
            "edge_id": _ids(edge_ids, column("edge", np.int32)),
            "t_enter_s": column("enter", np.float64),
            "t_exit_s": column("leave", np.float64),
            "evidence": column("fixes", np.int32),
            "off_from_m": column("begin", np.float32),
            "off_to_m": column("end", np.float32),
        }
    )


def _point_frame(
    done: list[_Chunk], trace_id: pl.Series, start: npt.NDArray[np.int64], edge_ids: pl.Series
) -> pl.DataFrame:
    number = np.arange(len(trace_id)) - np.repeat(start[:-1], np.diff(start))
    status = _joined([chunk.points.status for chunk in done], np.uint8)
    placed = pl.DataFrame(
        {
            "trace_id": trace_id,
            "i": number.astype(np.int32),
            "edge_id": _ids(edge_ids, _joined([c.points.edge for c in done], np.int32)),
            "offset_m": _joined([c.points.offset for c in done], np.float32),
            "distance_m": _joined([c.points.distance for c in done], np.float32),
            "status": _words(status),
        }
    )
    return placed.with_columns(pl.col("offset_m", "distance_m").fill_nan(None))


def _words(codes: npt.NDArray[np.generic]) -> pl.Series:
    return (
        pl.Series(STATUSES, dtype=pl.String).gather(codes.astype(np.uint32)).cast(pl.Enum(STATUSES))
    )


def _trip_frame(done: list[_Chunk], ids: pl.Series, start: npt.NDArray[np.int64]) -> pl.DataFrame:
    def column(name: str, dtype: type) -> npt.NDArray[np.generic]:
        return _joined([getattr(chunk.traces, name) for chunk in done], dtype)

    counts = np.diff(start)
    bits = column("reasons", np.int32).astype(np.int64)
    edges = _joined([chunk.points.edge for chunk in done], np.int32)
    has_road = np.concatenate([[0], np.cumsum(edges >= 0)])
    matched = has_road[start[1:]] - has_road[start[:-1]]
    kinds, place = np.unique(bits, return_inverse=True)
    lists = [[name for r, name in enumerate(REASONS) if int(kind) >> r & 1] for kind in kinds]
    reasons = pl.Series("reasons", lists, dtype=pl.List(pl.String))
    return pl.DataFrame(
        {
            "trace_id": ids,
            "parts": column("parts", np.int32),
            "reasons": reasons.gather(place) if len(place) else reasons,
            "points": counts.astype(np.int32),
            "matched_share": matched / np.maximum(counts, 1),
            "confidence": column("confidence", np.float32),
            "cost_per_fix": column("cost", np.float32),
            "route_length_m": column("route", np.float64),
            "gps_length_m": column("gps", np.float64),
            "u_turns": column("u_turns", np.int32),
            "sigma_m": column("sigma", np.float32),
        }
    )
