"""A predicted list of segment ids as a route: unknown ids, gaps, points, lengths, cells.

routes = routes_of(pl.Series([["1:0:1", "1:1:2", "7:5:6"]]), ground, gaps="cut")
routes.scored     the first two segments: the third begins elsewhere
routes.touching   [0.5]: one of two joints touches
"""

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import shapely

from pipeline.tasks.distances import positions
from pipeline.tasks.ground import F64, I32, I64, UNKNOWN, Ground, Ragged
from pipeline.trips.matching.compiled import cached_kernel

Gaps = Literal["cut", "score_whole"]
PointsOf = Literal["ends", "densified"]

EMPTY = "empty"
UNKNOWN_SEGMENT = "unknown_segment"


class Routes(NamedTuple):
    """Predicted routes, parallel arrays.

    Attributes:
        fault: Why a route cannot be scored, `EMPTY` or `UNKNOWN_SEGMENT`; null where it can.
        scored: Numbers of the segments that are scored, up to the first gap or all of them; none
            where there is a fault.
        touching: Share of joints, of the whole prediction, at which a segment begins where the one
            before ends; 1 for a route of one segment, 0 where there is a fault.
        obeyed: Share of its segments that are driven in an allowed direction; 0 likewise.
    """

    fault: pl.Series
    scored: Ragged
    touching: F64
    obeyed: F64


def routes_of(lists: pl.Series, ground: Ground, *, gaps: Gaps) -> Routes:
    """Read lists of segment ids as routes.

    Args:
        lists: A list per route; null counts as empty, a null id as unknown.
        ground: The road graph.
        gaps: `cut`: a route is scored up to its first gap. `score_whole`: as it is.
    """
    found = ground.numbered(lists)
    kept, touching, obeyed = _examined(
        found.values, found.starts, ground.u, ground.v, ground.segments, gaps == "cut"
    )
    fault = (
        pl.Series(kept)
        .replace_strict({0: EMPTY, UNKNOWN: UNKNOWN_SEGMENT}, default=None, return_dtype=pl.String)
        .alias("fault")
    )
    return Routes(fault, first_of(found, np.maximum(kept, 0)), touching, obeyed)


@cached_kernel
def _examined(
    values: I32, starts: I64, u: I32, v: I32, segments: int, cut: bool
) -> tuple[I64, F64, F64]:
    """Return how many segments of each list are scored (-1: one is unknown), and the two shares."""
    rows = len(starts) - 1
    kept, touching, obeyed = np.zeros(rows, np.int64), np.zeros(rows), np.zeros(rows)
    for k in range(rows):
        row = values[starts[k] : starts[k + 1]]
        if len(row) == 0:
            continue
        if row.min() < 0:
            kept[k] = -1
            continue
        joined, first_gap = 0, len(row)
        for i in range(1, len(row)):
            if v[row[i - 1]] == u[row[i]]:
                joined += 1
            elif first_gap == len(row):
                first_gap = i
        kept[k] = first_gap if cut else len(row)
        touching[k] = joined / (len(row) - 1) if len(row) > 1 else 1.0
        obeyed[k] = (row < segments).sum() / len(row)
    return kept, touching, obeyed


def first_of(lists: Ragged, lengths: I64) -> Ragged:
    """Return the first so many numbers of each list."""
    starts = np.concatenate(([0], np.cumsum(lengths)))
    within = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
    return Ragged(lists.values[np.repeat(lists.starts[:-1], lengths) + within], starts)


def chosen(lists: Ragged, rows: npt.ArrayLike) -> Ragged:
    """Return some of the lists, in the order asked for; a row may be asked for again."""
    asked = np.asarray(rows, np.int64)
    starts = Ragged(lists.values, np.append(lists.starts[:-1][asked], 0))
    return first_of(starts, np.diff(lists.starts)[asked])


def stacked(one: Ragged, other: Ragged) -> Ragged:
    """Return the lists of one, then those of the other."""
    starts = np.concatenate((one.starts, other.starts[1:] + one.starts[-1]))
    return Ragged(np.concatenate((one.values, other.values)), starts)


def last_of(lists: Ragged) -> I32:
    """Return the last number of each list; none may be empty."""
    return np.asarray(lists.values[lists.starts[1:] - 1], np.int32)


def first_number_of(lists: Ragged) -> I32:
    """Return the first number of each list; none may be empty."""
    return np.asarray(lists.values[lists.starts[:-1]], np.int32)


def lengths_m(lists: Ragged, ground: Ground) -> F64:
    """Return the summed length of the segments of each list, metres; none may be empty."""
    if len(lists.starts) == 1:
        return np.empty(0)
    return np.add.reduceat(ground.length_m[lists.values], lists.starts[:-1])


def ids_of(lists: Ragged, ground: Ground) -> pl.Series:
    """Return lists of ids of segments for lists of their numbers."""
    row = np.repeat(np.arange(len(lists.starts) - 1), np.diff(lists.starts))
    flat = pl.DataFrame({"row": row, "id": ground.ids.gather(lists.values)})
    found = flat.group_by("row", maintain_order=True).agg("id")
    every = pl.DataFrame({"row": np.arange(len(lists.starts) - 1)})
    joined = every.join(found, on="row", how="left", maintain_order="left")
    return joined["id"].fill_null([])


class Points(NamedTuple):
    """The points of routes: those of route i are `rows[starts[i] : starts[i + 1]]`.

    `rows` is a result of `positions`.
    """

    rows: F64
    starts: I64


def points_of(lists: Ragged, ground: Ground, *, points: PointsOf, step_m: float) -> Points:
    """Return the points of routes; none may be empty.

    Args:
        lists: Numbers of segments.
        ground: The road graph.
        points: `ends`: the start of the first segment, then the end of each. `densified`: also
            points along each segment, evenly, at most `step_m` apart.
        step_m: Metres.
    """
    counts = np.diff(lists.starts)
    if points == "ends":
        starts = lists.starts + np.arange(len(lists.starts))
        nodes = np.insert(
            ground.v[lists.values], lists.starts[:-1], ground.u[first_number_of(lists)]
        )
        return Points(positions(ground.place)[nodes], starts)
    segments, number = np.unique(lists.values, return_inverse=True)
    along = _points_along(segments, ground, step_m)
    each = chosen(Ragged(np.arange(len(along.values)), along.starts), number)
    sizes = np.add.reduceat(np.diff(each.starts), lists.starts[:-1]) if len(counts) else counts
    starts = np.concatenate(([0], np.cumsum(sizes + 1)))
    first = ground.place[ground.u[first_number_of(lists)]]
    before = each.starts[lists.starts[:-1]]
    lonlat = np.insert(along.values[each.values], before, first, axis=0)
    anchored = np.concatenate((ground.place[:1], lonlat))  # all calls count from the same longitude
    return Points(positions(anchored)[1:], starts)


def _points_along(segments: I32, ground: Ground, step_m: float) -> Ragged:
    """Return longitude and latitude of points along segments, their ends but not their starts."""
    steps = np.ceil(ground.length_m[segments] / step_m).clip(1).astype(np.int64)
    starts = np.concatenate(([0], np.cumsum(steps)))
    backwards = segments >= ground.segments
    lines = shapely.from_wkb(ground.geometry.gather(ground.drawn[segments]).to_numpy())
    east = np.cos(np.radians(ground.place[:, 1].mean()))  # so that shares of a line are of metres
    lines = shapely.transform(lines, lambda at: at * (east, 1.0))
    share = (np.arange(starts[-1]) - np.repeat(starts[:-1], steps) + 1) / np.repeat(steps, steps)
    share = np.where(np.repeat(backwards, steps), 1 - share, share)
    at = shapely.line_interpolate_point(np.repeat(lines, steps), share, normalized=True)
    return Ragged(shapely.get_coordinates(at) / (east, 1.0), starts)
