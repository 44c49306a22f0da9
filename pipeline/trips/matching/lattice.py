"""The fixes of one trace and the road positions each could be at.

40 points  ->  33 fixes (4 points stand by another one, 3 have no road near), 410 states
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from pipeline.trips.matching.candidates import STATE, Grid, near
from pipeline.trips.matching.path_table import Table
from pipeline.trips.matching.search import F64, I32, I64, Graph, Record, Rows

FIX = np.dtype(
    [
        ("x", "f8"),
        ("y", "f8"),
        ("arrive", "f8"),
        ("depart", "f8"),  # time of the last point standing by this one
        ("best", "f8"),  # least cost of its states, their distance included
        ("point", "i8"),  # its number among the points of the chunk
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


class Lattice(NamedTuple):
    """The states of fix j are start[j]:start[j + 1], by distance from the fix."""

    fixes: Rows
    start: I64
    states: Rows


@njit
def lattice_of(
    roads: Roads,
    costs: Record,
    x: F64,
    y: F64,
    t: F64,
    sound: npt.NDArray[np.bool_],
    points: Rows,
    begin: int,
    end: int,
) -> Lattice:
    """Choose the fixes among the points begin..end-1 of one trace and find the roads near them.

    A point close to the last fix is no fix of its own: it stands there. This keeps a waiting car
    from turning round, and makes fast sampling no dearer than slow sampling.
    """
    count = end - begin
    fixes = np.empty(count, FIX)
    start = np.zeros(count + 1, np.int64)
    # Only what is written is ever backed by memory.
    states = np.empty(count * 2 * costs.segments, STATE)
    used = 0
    total = 0
    close = costs.standing_m * costs.standing_m
    standing = False
    for p in range(begin, end):
        points[p].fix = -1
        if not sound[p]:
            points[p].status = INVALID
            continue
        if standing:
            fix = fixes[total - 1]
            if (x[p] - fix.x) ** 2 + (y[p] - fix.y) ** 2 <= close:
                points[p].status = STANDING
                points[p].fix = total - 1
                fix.depart = t[p]
                continue
        found = near(
            roads.graph, roads.grid, x[p], y[p], costs.radius_m, costs.segments, states, used
        )
        if found == 0 and costs.wide_radius_m > costs.radius_m:
            found = near(
                roads.graph, roads.grid, x[p], y[p], costs.wide_radius_m, costs.segments, states,
                used,
            )  # fmt: skip
        standing = found > 0
        if not standing:
            points[p].status = NO_ROAD
            continue
        fix = fixes[total]
        fix.x = x[p]
        fix.y = y[p]
        fix.arrive = t[p]
        fix.depart = t[p]
        fix.best = np.inf
        fix.point = p
        points[p].fix = total
        used += found
        total += 1
        start[total] = used
    return Lattice(fixes[:total], start[: total + 1], states[:used])


@njit
def weigh_distances(costs: Record, lattice: Lattice) -> float:
    """Estimate the GPS noise of the trace (metres) and set the cost of each state's distance."""
    fixes = len(lattice.fixes)
    sigma = costs.sigma_few_m
    if fixes >= 5:
        nearest = np.empty(fixes, np.float64)
        for j in range(fixes):
            nearest[j] = lattice.states[lattice.start[j]].distance
        nearest.sort()
        sigma = costs.sigma_factor * nearest[fixes // 2]
        sigma = min(costs.sigma_max_m, max(costs.sigma_min_m, sigma))
    for at in range(len(lattice.states)):
        state = lattice.states[at]
        state.away = 0.5 * (state.distance / sigma) ** 2
    return sigma
