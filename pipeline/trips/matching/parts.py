"""The parts of a trace, whether they are kept, and why they end.

fixes 0-11 joined, then 3 km in 15 s, then fixes 12-30  ->  two parts, reason `jump`
"""

import numpy as np
import numpy.typing as npt
from numba import njit

from pipeline.trips.matching.lattice import (
    INVALID,
    MATCHED,
    NO_ROAD,
    OUTLIER,
    TOO_SHORT,
    UNLIKELY,
    Lattice,
    Roads,
)
from pipeline.trips.matching.search import I32, Record, Rows
from pipeline.trips.matching.steps import step_of

REASONS = (
    "invalid_points",
    "no_road_near",
    "too_short",
    "low_likelihood",
    "outliers",
    "gap_time",
    "jump",
    "disconnected_network",
    "no_plausible_route",
)
"""Why a trace, or some of its points, has no path, or a path of several parts."""
(
    R_INVALID,
    R_NO_ROAD,
    R_TOO_SHORT,
    R_UNLIKELY,
    R_OUTLIERS,
    R_GAP,
    R_JUMP,
    R_DISCONNECTED,
    R_NO_ROUTE,
) = range(9)


@njit
def break_reason(
    roads: Roads,
    costs: Record,
    lattice: Lattice,
    sigma: float,
    before: int,
    now: int,
    a: int,
    b: int,
) -> int:
    """Return why fixes `before` (on edge a) and `now` (on edge b) were not joined."""
    earlier = lattice.fixes[before]
    later = lattice.fixes[now]
    if later.arrive - earlier.depart > costs.gap_s:
        return R_GAP
    if step_of(roads, costs, earlier, later, sigma).barred:
        return R_JUMP
    edges = roads.graph.edges
    if roads.component[edges[a].v] != roads.component[edges[b].u]:
        return R_DISCONNECTED
    return R_NO_ROUTE


@njit
def _end_of_part(chosen: I32, joined: npt.NDArray[np.bool_], begin: int) -> tuple[int, int]:
    """Return the last fix of the part that begins at a chosen fix, and its number of fixes."""
    last = begin
    fixes = 1
    for j in range(begin + 1, len(chosen)):
        if chosen[j] < 0:
            continue
        if not joined[j]:
            break
        last = j
        fixes += 1
    return last, fixes


@njit
def judge(
    costs: Record, lattice: Lattice, chosen: I32, joined: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.uint8], float]:
    """Return the status of each fix, and the mean cost per fix of the parts that are kept."""
    verdict = np.full(len(chosen), OUTLIER, np.uint8)
    total = 0.0
    counted = 0
    begin = 0
    while begin < len(chosen):
        if chosen[begin] < 0:
            begin += 1
            continue
        last, fixes = _end_of_part(chosen, joined, begin)
        first = lattice.states[lattice.start[begin] + chosen[begin]]
        final = lattice.states[lattice.start[last] + chosen[last]]
        cost = max(0.0, final.cost - first.cost + first.away) / fixes
        status = MATCHED
        if fixes < costs.part_fixes:
            status = TOO_SHORT
        elif cost > costs.part_cost:
            status = UNLIKELY
        else:
            total += cost * fixes
            counted += fixes
        for j in range(begin, last + 1):
            if chosen[j] >= 0:
                verdict[j] = status
        begin = last + 1
    return verdict, total / max(counted, 1)


@njit
def point_reasons(points: Rows, begin: int, end: int) -> int:
    """Return the reason bits that follow from the points left without a road."""
    reasons = 0
    for p in range(begin, end):
        status = points[p].status
        if status == INVALID:
            reasons |= 1 << R_INVALID
        elif status == NO_ROAD:
            reasons |= 1 << R_NO_ROAD
        elif status == OUTLIER:
            reasons |= 1 << R_OUTLIERS
        elif status == TOO_SHORT:
            reasons |= 1 << R_TOO_SHORT
        elif status == UNLIKELY:
            reasons |= 1 << R_UNLIKELY
    return reasons
