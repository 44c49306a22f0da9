"""The parts of a trace, whether they are kept, and why they end.

fixes 0-11 joined, then 3 km in 15 s, then fixes 12-30  ->  two parts, reason `jump`
"""

import numpy as np

from pipeline.trips.matching.compiled import kernel
from pipeline.trips.matching.lattice import (
    AGAINST,
    INVALID,
    MATCHED,
    NO_ROAD,
    NO_ROUTE,
    OUTLIER,
    STALE,
    TOO_SHORT,
    UNLIKELY,
    Lattice,
)
from pipeline.trips.matching.links import Kit, against_cost, against_m
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
    "against_one_way",
    "stale_fixes",
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
    R_AGAINST,
    R_STALE,
) = range(len(REASONS))
# How far back a stale fix may have been true (seconds).
_STALE_S = 120.0


@kernel
def break_reason(kit: Kit, lattice: Lattice, before: int, now: int) -> int:
    """Return why two chosen fixes were not joined."""
    roads = kit.roads
    earlier = lattice.fixes[before]
    later = lattice.fixes[now]
    if later.arrive - earlier.depart > kit.costs.gap_s:
        return R_GAP
    step = step_of(roads, kit.costs, lattice, before, now)
    if step.barred:
        return R_JUMP
    if drives_against(kit, lattice, before, now):
        return R_AGAINST
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
def drives_against(kit: Kit, lattice: Lattice, before: int, now: int) -> bool:
    """Tell whether two fixes that are not joined follow a one-way street against its direction."""
    earlier = lattice.fixes[before]
    later = lattice.fixes[now]
    step = step_of(kit.roads, kit.costs, lattice, before, now)
    metres = against_m(kit, lattice.states[earlier.chosen], lattice.states[later.chosen])
    cost = against_cost(kit.costs, step, metres) + abs(metres - step.straight) / step.beta
    return bool(cost <= kit.costs.break_cost)


@kernel
def _passed(lattice: Lattice, number: int) -> bool:
    """Tell whether a fix lies where the trace was shortly before."""
    fixes = lattice.fixes
    fix = fixes[number]
    reach = 3.0 * lattice.sigma
    for j in range(number - 1, 0, -1):
        a, b = fixes[j - 1], fixes[j]
        if fix.arrive - b.depart > _STALE_S:
            return False
        if a.chosen < 0 or b.chosen < 0 or not b.joined:
            continue
        dx = b.x - a.x
        dy = b.y - a.y
        square = max(dx * dx + dy * dy, 1e-9)
        share = min(1.0, max(0.0, ((fix.x - a.x) * dx + (fix.y - a.y) * dy) / square))
        if np.hypot(fix.x - a.x - share * dx, fix.y - a.y - share * dy) <= reach:
            return True
    return False


@kernel
def _why_left_out(costs: Record, lattice: Lattice, before: int, number: int, after: int) -> int:
    """Return the status of a fix left out between two chosen ones (-1 = none)."""
    fixes = lattice.fixes
    fix = fixes[number]
    slack = 3.0 * lattice.sigma
    around = 0.0
    for other in (before, after):
        if other < 0:
            continue
        seconds = max(fixes[other].arrive - fix.depart, fix.arrive - fixes[other].depart)
        away = np.hypot(fix.x - fixes[other].x, fix.y - fixes[other].y)
        if seconds <= 0 and away > slack:
            return STALE
        if away > costs.speed_mps * max(0.0, seconds) + slack:
            return OUTLIER
        around += away
    if _passed(lattice, number):
        return STALE
    if lattice.states[lattice.start[number]].distance > slack:
        return OUTLIER
    if before >= 0 and after >= 0:
        straight = np.hypot(fixes[after].x - fixes[before].x, fixes[after].y - fixes[before].y)
        if around - straight > costs.detour_m + (costs.detour_factor - 1.0) * straight:
            return OUTLIER
    return NO_ROUTE


@kernel
def _name_left_out(costs: Record, lattice: Lattice) -> None:
    fixes = lattice.fixes
    after = np.full(len(fixes) + 1, -1, np.int64)
    for j in range(len(fixes) - 1, -1, -1):
        after[j] = j if fixes[j].chosen >= 0 else after[j + 1]
    before = -1
    for j in range(len(fixes)):
        if fixes[j].chosen >= 0:
            before = j
        else:
            fixes[j].status = _why_left_out(costs, lattice, before, j, after[j])


@kernel
def _chosen_after(fixes: Rows, number: int) -> int:
    """Return the next chosen fix, -1 for none."""
    for j in range(number + 1, len(fixes)):
        if fixes[j].chosen >= 0:
            return j
    return -1


@kernel
def judge(kit: Kit, lattice: Lattice) -> float:
    """Set the status of each fix; return the mean cost per fix of the parts that are kept."""
    costs = kit.costs
    fixes = lattice.fixes
    _name_left_out(costs, lattice)
    last = -1
    total = 0.0
    counted = 0
    begin = 0
    while begin < len(fixes):
        if fixes[begin].chosen < 0:
            begin += 1
            continue
        came = last >= 0 and drives_against(kit, lattice, last, begin)
        last, count = _end_of_part(fixes, begin)
        first = lattice.states[fixes[begin].chosen]
        cost = lattice.states[fixes[last].chosen].cost - first.cost + first.away
        cost = max(0.0, cost) / count
        status = MATCHED
        if count < costs.part_fixes:
            status = TOO_SHORT
            goes = _chosen_after(fixes, last)
            if came or (goes >= 0 and drives_against(kit, lattice, last, goes)):
                status = AGAINST
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
        elif status == STALE:
            reasons |= 1 << R_STALE
        elif status == NO_ROUTE:
            reasons |= 1 << R_NO_ROUTE
        elif status == AGAINST:
            reasons |= 1 << R_AGAINST
    return reasons
