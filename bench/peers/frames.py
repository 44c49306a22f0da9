"""The frames every adapter takes and gives, and the bookkeeping all adapters share.

points  trace_id, t, lon, lat                             (in)
path    trace_id, part, edge_id, t_enter_s, off_from_m, off_to_m   (out, in driving order)
points  trace_id, i, edge_id, status                      (out; nulls where a matcher is silent)
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import polars as pl

PATH_SCHEMA = {
    "trace_id": pl.Int64,
    "part": pl.Int64,
    "edge_id": pl.Int64,
    "t_enter_s": pl.Float64,
    "off_from_m": pl.Float64,
    "off_to_m": pl.Float64,
}


class Matched(NamedTuple):
    """What a matcher made of a set of points."""

    path: pl.DataFrame
    points: pl.DataFrame


class Tool(Protocol):
    """A matcher on one network; building it is start-up, `match` is what is timed."""

    variants: tuple[str, ...]

    def __init__(self, network: pl.DataFrame, folder: Path) -> None:
        """Prepare the network; `folder` keeps what may be reused by a later run."""

    def match(self, points: pl.DataFrame, variant: str, workers: int) -> Matched:
        """Match all traces under the settings named `variant`."""


class Trace(NamedTuple):
    """One trace as arrays: id, row of its first point in the frame, times, positions."""

    trace_id: int
    first: int
    t: np.ndarray
    x: np.ndarray
    y: np.ndarray


class Route:
    """Collects the path of all traces, dropping immediate repeats of an edge within a part."""

    def __init__(self, point_count: int) -> None:
        self.rows: list[list] = []
        self.point_edge = np.full(point_count, -1, dtype=np.int64)
        self._at = (-1, -1, -1)

    def add(self, trace_id: int, part: int, edge_id: int, t_enter_s: float | None = None) -> None:
        """Append an edge unless the part is on it already."""
        at = (trace_id, part, edge_id)
        if at != self._at:
            self._at = at
            self.rows.append([trace_id, part, edge_id, t_enter_s, None, None])

    def begin_at(self, row: int, offset_m: float) -> None:
        """State where on the edge of `rows[row]` the part begins."""
        self.rows[row][4] = offset_m

    def end_at(self, offset_m: float) -> None:
        """State where on its last edge the part ends."""
        self.rows[-1][5] = offset_m

    def matched(self, points: pl.DataFrame) -> Matched:
        """Return the frames; a point with an edge is `matched`, of the others nothing is said."""
        edge = pl.Series("edge_id", self.point_edge)
        return Matched(
            pl.DataFrame(self.rows, schema=PATH_SCHEMA, orient="row"),
            points.select(
                "trace_id",
                pl.int_range(pl.len()).over("trace_id").alias("i"),
                edge.set(edge < 0, None),
                pl.when(edge >= 0).then(pl.lit("matched")).alias("status"),
            ),
        )


def traces(points: pl.DataFrame, x: np.ndarray, y: np.ndarray) -> Iterator[Trace]:
    """Yield the traces of a frame whose rows lie together by trace, in order of time."""
    trace_id = points["trace_id"].to_numpy()
    t = points["t"].to_numpy()
    first = np.flatnonzero(np.diff(trace_id, prepend=trace_id[0] - 1))
    for start, end in zip(first, np.append(first[1:], len(trace_id)), strict=True):
        rows = slice(start, end)
        yield Trace(int(trace_id[start]), int(start), t[rows], x[rows], y[rows])
