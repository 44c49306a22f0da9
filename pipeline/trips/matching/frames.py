"""Checked and ordered points in, result tables out.

trace_id | t | lon | lat   ->  arrays of the compiled code  ->  path, points, trips
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from pipeline.errors import ContractError
from pipeline.trips.matching.assemble import DRIVEN
from pipeline.trips.matching.lattice import POINT, STATUSES
from pipeline.trips.matching.parts import REASONS
from pipeline.trips.matching.trace import TRACE

if TYPE_CHECKING:
    import numpy.typing as npt

    from pipeline.trips.matching.search import I64, Rows

COLUMNS = ("trace_id", "t", "lon", "lat")
WIDE = frozenset({pl.Int128, pl.UInt128})  # types of ids that neither Arrow nor Parquet has


class MatchResult(NamedTuple):
    """The three tables of a run, each sorted by trace_id."""

    path: pl.DataFrame
    points: pl.DataFrame
    trips: pl.DataFrame


class ChunkRows(NamedTuple):
    """What the compiled code returns for consecutive traces."""

    trail: Rows
    points: Rows
    traces: Rows


def check_columns(schema: pl.Schema) -> None:
    """Say what is wrong with the columns of a table of points.

    Raises:
        ContractError: A column is missing or of a type that cannot be what it should.
    """
    missing = [name for name in COLUMNS if name not in schema]
    if missing:
        times = (
            " (where there are no times: add a column `t` that is null; rows in the order driven"
            " are then routed by geometry alone)"
        )
        raise ContractError(
            f"points: columns {missing} are missing, expected {list(COLUMNS)}, found"
            f" {list(schema)}; rename them{times if 't' in missing else ''}"
        )
    kind = schema["trace_id"]
    if kind in WIDE or not (kind.is_integer() or kind == pl.String):
        raise ContractError(
            f"points: trace_id is {kind}, expected strings or integers of at most 64 bits"
        )
    for name in COLUMNS[1:]:
        dtype = schema[name]
        if not (dtype.is_numeric() or dtype == pl.Null):
            unit = "seconds" if name == "t" else "degrees"
            raise ContractError(f"points: {name} is {dtype}, expected numbers ({unit})")


def checked(points: pl.DataFrame) -> pl.DataFrame:
    """Return the four columns with their expected types, null numbers as NaN.

    Raises:
        ContractError: Wrong columns, a null trace_id, or coordinates that are no degrees.
    """
    check_columns(points.schema)
    if points["trace_id"].null_count():
        raise ContractError(f"points: {points['trace_id'].null_count()} rows have no trace_id")
    points = points.select(
        "trace_id", *(pl.col(n).cast(pl.Float64).fill_null(float("nan")) for n in COLUMNS[1:])
    )
    far = (points["lon"].abs() > 180) & (points["lat"].abs() > -1) & points["lon"].is_finite()
    far |= (points["lat"].abs() > 90) & points["lat"].is_finite()
    if points.height and far.sum() > points.height / 2:
        at = far.arg_max() or 0
        raise ContractError(
            f"points: {far.sum()} of {points.height} rows lie outside lon -180..180, lat -90..90 "
            f"(first: {points['lon'][at]}, {points['lat'][at]}); expected degrees, not metres"
        )
    return points


def in_order(points: pl.DataFrame) -> pl.DataFrame:
    """Return the points by trace and time, equal times in row order, missing times last."""
    same = pl.col("trace_id") == pl.col("trace_id").shift(1)
    rising = pl.col("trace_id") > pl.col("trace_id").shift(1)
    later = pl.col("t") >= pl.col("t").shift(1)
    if points.height < 2 or points.select((rising | (same & later)).slice(1).all()).item():
        return points
    return points.sort("trace_id", "t", maintain_order=True)


def trace_starts(column: pl.Series) -> tuple[pl.Series, I64]:
    """Return the distinct ids of a sorted column and where each begins (one more at the end)."""
    if len(column) == 0:
        return column, np.zeros(1, np.int64)
    begins = np.flatnonzero((column != column.shift(1)).fill_null(value=True).to_numpy())
    return column.gather(begins), np.append(begins, len(column)).astype(np.int64)


def _stacked(parts: list[Rows], dtype: np.dtype[Any]) -> Rows:
    return np.concatenate(parts) if parts else np.empty(0, dtype)


def _ids(edge_ids: pl.Series, edges: npt.NDArray[np.int32]) -> pl.Series:
    """Return the ids of edge numbers, null for -1."""
    if (edges >= 0).all():
        return edge_ids.gather(edges)
    index = pl.Series(edges)
    return edge_ids.gather(index.set(index < 0, None))


def path_frame(done: list[ChunkRows], ids: pl.Series, edge_ids: pl.Series) -> pl.DataFrame:
    """Return the driven edges in order of trace, part and seq."""
    trail = _stacked([chunk.trail for chunk in done], DRIVEN)
    counts = [np.diff(chunk.traces["path_end"], prepend=0) for chunk in done]
    trace = np.repeat(np.arange(len(ids)), np.concatenate(counts) if counts else 0)
    part = trail["part"]
    fresh = np.ones(len(part), bool)
    fresh[1:] = (trace[1:] != trace[:-1]) | (part[1:] != part[:-1])
    timed = _stacked([chunk.traces for chunk in done], TRACE)["timed"]
    begins = np.flatnonzero(fresh)
    seq = np.arange(len(part)) - np.repeat(begins, np.diff(np.append(begins, len(part))))
    return pl.DataFrame(
        {
            "trace_id": ids.gather(trace),
            "part": part.copy(),
            "seq": seq.astype(np.int32),
            "edge_id": _ids(edge_ids, trail["edge"].copy()),
            "t_enter_s": pl.Series(trail["enter"].copy()).set(pl.Series(~timed[trace]), None),
            "t_exit_s": pl.Series(trail["leave"].copy()).set(pl.Series(~timed[trace]), None),
            "evidence": trail["fixes"].copy(),
            "off_from_m": trail["begin"].copy(),
            "off_to_m": trail["end"].copy(),
        }
    )


def point_frame(
    done: list[ChunkRows], trace_id: pl.Series, start: I64, edge_ids: pl.Series
) -> pl.DataFrame:
    """Return one row for each point; `i` counts the points of a trace in order of time."""
    rows = _stacked([chunk.points for chunk in done], POINT)
    number = np.arange(len(trace_id)) - np.repeat(start[:-1], np.diff(start))
    words = pl.Series(STATUSES, dtype=pl.Enum(STATUSES))
    return pl.DataFrame(
        {
            "trace_id": trace_id,
            "i": number.astype(np.int32),
            "edge_id": _ids(edge_ids, rows["edge"].copy()),
            "offset_m": rows["offset"].copy(),
            "distance_m": rows["distance"].copy(),
            "status": words.gather(rows["status"].astype(np.uint32)),
            "confidence": rows["confidence"].copy(),
        }
    ).with_columns(pl.col("offset_m", "distance_m").fill_nan(None))


def trip_frame(done: list[ChunkRows], ids: pl.Series, start: I64) -> pl.DataFrame:
    """Return one row for each trace."""
    traces = _stacked([chunk.traces for chunk in done], TRACE)
    points = _stacked([chunk.points for chunk in done], POINT)
    counts = np.diff(start)
    placed = np.concatenate([[0], np.cumsum(points["edge"] >= 0)])
    matched = placed[start[1:]] - placed[start[:-1]]
    kinds, place = np.unique(traces["reasons"], return_inverse=True)
    lists = [[name for r, name in enumerate(REASONS) if int(kind) >> r & 1] for kind in kinds]
    reasons = pl.Series(lists, dtype=pl.List(pl.String))
    return pl.DataFrame(
        {
            "trace_id": ids,
            "parts": traces["parts"].copy(),
            "reasons": reasons.gather(place) if len(place) else reasons,
            "points": counts.astype(np.int32),
            "matched_share": matched / np.maximum(counts, 1),
            "confidence": traces["confidence"].copy(),
            "cost_per_fix": traces["cost"].copy(),
            "route_length_m": traces["route"].copy(),
            "gps_length_m": traces["gps"].copy(),
            "u_turns": traces["u_turns"].copy(),
            "timed": traces["timed"].copy(),
            "sigma_m": traces["sigma"].copy(),
        }
    )


def empty_result() -> MatchResult:
    """Return the three tables without a row; ids, whose type is the caller's, are strings."""
    ids, start = pl.Series([], dtype=pl.String), np.zeros(1, np.int64)
    return MatchResult(
        path_frame([], ids, ids), point_frame([], ids, start, ids), trip_frame([], ids, start)
    )
