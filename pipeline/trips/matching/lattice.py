"""The fixes of one trace and the road positions each could be at.

40 points  ->  33 fixes (4 points stand by another one, 3 have no road near), 410 states
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.trips.matching.candidates import STATE, Grid, near
from pipeline.trips.matching.compiled import kernel
from pipeline.trips.matching.path_table import Table
from pipeline.trips.matching.search import F64, I32, I64, Graph, Record, Rows

FIX = np.dtype(
    [
        ("x", "f8"),
        ("y", "f8"),
        ("arrive", "f8"),
        ("depart", "f8"),  # time of the last point standing by this one
        ("best", "f8"),  # least cost of its states, their distance included
        ("margin", "f8"),  # how much dearer the best path is that has this fix elsewhere
        ("point", "i8"),  # its number among the points of the chunk
        ("chosen", "i8"),  # its state, -1 = left out
        ("row", "i8"),  # its row of the path, -1 = none
        ("joined", "?"),  # whether a route leads here from the chosen fix before
        ("status", "u1"),
    ]
)

STATUSES = (
    "matched",
    "standing",
    "no_road_near",
    "outlier",
    "invalid",
    "too_short",
    "low_likelihood",
)
"""What became of a point; only the first two have a road."""
MATCHED, STANDING, NO_ROAD, OUTLIER, INVALID, TOO_SHORT, UNLIKELY = range(7)

POINT = np.dtype(
    [
        ("edge", "i4"),
        ("offset", "f4"),
        ("distance", "f4"),
        ("confidence", "f4"),
        ("fix", "i4"),  # number in its trace of the fix it is or stands by, -1 for none
        ("status", "u1"),
    ]
)
"""The result for one point."""


class Roads(NamedTuple):
    """Everything about the network that matching reads."""

    graph: Graph
    grid: Grid
    table: Table
    component: I32  # of each node: number of its weakly connected part


class Chunk(NamedTuple):
    """The points of a chunk of traces, and where their results go."""

    x: F64
    y: F64
    t: F64
    sound: npt.NDArray[np.bool_]  # whether time and place are numbers
    points: Rows


class Lattice(NamedTuple):
    """The states of fix j are start[j]:start[j + 1], by distance from the fix."""

    fixes: Rows
    start: I64
    states: Rows
    sigma: float  # GPS noise of the trace (metres)


@kernel
def _new_fix(fix: Record, chunk: Chunk, p: int) -> None:
    fix.x = chunk.x[p]
    fix.y = chunk.y[p]
    fix.arrive = chunk.t[p]
    fix.depart = chunk.t[p]
    fix.best = np.inf
    fix.margin = np.inf
    fix.point = p
    fix.chosen = -1
    fix.row = -1
    fix.joined = False
    fix.status = OUTLIER


@kernel
def _roads_near(
    roads: Roads, costs: Record, place: tuple[float, float], states: Rows, used: int
) -> int:
    """Write the states of a fix from `used` on; return how many."""
    graph, grid = roads.graph, roads.grid
    found = near(graph, grid, place, costs.radius_m, costs.segments, states, used)
    if found == 0 and costs.wide_radius_m > costs.radius_m:
        found = near(graph, grid, place, costs.wide_radius_m, costs.segments, states, used)
    return found


@kernel
def lattice_of(roads: Roads, costs: Record, chunk: Chunk, begin: int, end: int) -> Lattice:
    """Choose the fixes among the points begin..end-1 of one trace and find the roads near them.

    A point close to the last fix is no fix of its own: it stands there. This keeps a waiting car
    from turning round, and makes fast sampling no dearer than slow sampling.
    """
    x, y = chunk.x, chunk.y
    fixes = np.empty(end - begin, FIX)
    start = np.zeros(end - begin + 1, np.int64)
    # Only what is written is ever backed by memory.
    states = np.empty((end - begin) * 2 * costs.segments, STATE)
    used = 0
    total = 0
    close = costs.standing_m * costs.standing_m
    standing = False
    for p in range(begin, end):
        point = chunk.points[p]
        point.fix = -1
        if not chunk.sound[p]:
            point.status = INVALID
            continue
        if standing:
            fix = fixes[total - 1]
            if (x[p] - fix.x) ** 2 + (y[p] - fix.y) ** 2 <= close:
                point.status = STANDING
                point.fix = total - 1
                fix.depart = chunk.t[p]
                continue
        found = _roads_near(roads, costs, (x[p], y[p]), states, used)
        standing = found > 0
        if not standing:
            point.status = NO_ROAD
            continue
        _new_fix(fixes[total], chunk, p)
        point.fix = total
        used += found
        total += 1
        start[total] = used
    start = start[: total + 1]
    sigma = _weigh_distances(costs, start, states[:used])
    used = _drop_hopeless(costs, start, states)
    return Lattice(fixes[:total], start, states[:used], sigma)


@kernel
def _weigh_distances(costs: Record, start: I64, states: Rows) -> float:
    """Estimate the GPS noise of the trace (metres) and set the cost of each state's distance."""
    fixes = len(start) - 1
    sigma = costs.sigma_few_m
    if fixes >= 5:
        nearest = np.empty(fixes, np.float64)
        for j in range(fixes):
            nearest[j] = states[start[j]].distance
        nearest.sort()
        sigma = costs.sigma_factor * nearest[fixes // 2]
        sigma = min(costs.sigma_max_m, max(costs.sigma_min_m, sigma))
    for at in range(len(states)):
        states[at].away = 0.5 * (states[at].distance / sigma) ** 2
    return float(sigma)


@kernel
def _drop_hopeless(costs: Record, start: I64, states: Rows) -> int:
    """Close the ranks over states too far away to be chosen; return how many are left.

    Leaving the fix out is cheaper than such a state by more than the beam. The nearest street
    stays in any case.
    """
    left = 0
    begin = 0
    for j in range(len(start) - 1):
        end = start[j + 1]
        limit = max(costs.skip_cost + costs.beam, states[begin].away)
        for at in range(begin, end):
            if states[at].away <= limit:
                states[left] = states[at]
                left += 1
        start[j + 1] = left
        begin = end
    return left
