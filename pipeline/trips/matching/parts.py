"""The parts of a trace, whether they are kept, and why they end.

fixes 0-11 joined, then 3 km in 15 s, then fixes 12-30  ->  two parts, reason `jump`
"""

from pipeline.trips.matching.compiled import kernel
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
from pipeline.trips.matching.search import Record, Rows
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


@kernel
def break_reason(roads: Roads, costs: Record, lattice: Lattice, before: int, now: int) -> int:
    """Return why two chosen fixes were not joined."""
    earlier = lattice.fixes[before]
    later = lattice.fixes[now]
    if later.arrive - earlier.depart > costs.gap_s:
        return R_GAP
    if step_of(roads, costs, lattice, before, now).barred:
        return R_JUMP
    a = roads.graph.edges[lattice.states[earlier.chosen].edge]
    b = roads.graph.edges[lattice.states[later.chosen].edge]
    if roads.component[a.v] != roads.component[b.u]:
        return R_DISCONNECTED
    return R_NO_ROUTE


@kernel
def _end_of_part(fixes: Rows, begin: int) -> tuple[int, int]:
    """Return the last fix of the part that begins at a chosen fix, and its number of fixes."""
    last = begin
    count = 1
    for j in range(begin + 1, len(fixes)):
        if fixes[j].chosen < 0:
            continue
        if not fixes[j].joined:
            break
        last = j
        count += 1
    return last, count


@kernel
def judge(costs: Record, lattice: Lattice) -> float:
    """Set the status of each fix; return the mean cost per fix of the parts that are kept."""
    fixes = lattice.fixes
    total = 0.0
    counted = 0
    begin = 0
    while begin < len(fixes):
        if fixes[begin].chosen < 0:
            begin += 1
            continue
        last, count = _end_of_part(fixes, begin)
        first = lattice.states[fixes[begin].chosen]
        cost = lattice.states[fixes[last].chosen].cost - first.cost + first.away
        cost = max(0.0, cost) / count
        status = MATCHED
        if count < costs.part_fixes:
            status = TOO_SHORT
        elif cost > costs.part_cost:
            status = UNLIKELY
        else:
            total += cost * count
            counted += count
        for j in range(begin, last + 1):
            if fixes[j].chosen >= 0:
                fixes[j].status = status
        begin = last + 1
    return total / max(counted, 1)


@kernel
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
