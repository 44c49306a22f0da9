"""All traces of a chunk, one after another, without the interpreter.

match_chunk(roads, costs, x, y, t, sound, start=[0, 40, 97])
    ->  rows of the paths, edge / offset / distance / status of each point, figures of each trace
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from pipeline.trips.matching.assemble import (
    Trail,
    drive,
    new_trail,
    put,
    room_for,
    route_between,
    stay,
)
from pipeline.trips.matching.candidates import F64, Grid, foot_on_edge, near
from pipeline.trips.matching.path_table import Table
from pipeline.trips.matching.search import F32, I32, Graph, SearchSpace, search_space
from pipeline.trips.matching.settings import Costs
from pipeline.trips.matching.viterbi import (
    Fixes,
    Lattice,
    Links,
    decode,
    links_space,
    on_same_street,
)

U8 = npt.NDArray[np.uint8]
BOOL = npt.NDArray[np.bool_]

STATUSES = (
    "matched",
    "standing",
    "no_road_near",
    "outlier",
    "invalid",
    "too_short",
    "low_likelihood",
)
MATCHED, STANDING, NO_ROAD, OUTLIER, INVALID, TOO_SHORT, UNLIKELY = range(7)

REASONS = (
    "no_points",
    "invalid_points",
    "no_road_near",
    "too_short",
    "low_likelihood",
    "gap_time",
    "jump",
    "disconnected_network",
    "no_plausible_route",
    "outliers",
)
(
    R_NO_POINTS,
    R_INVALID,
    R_NO_ROAD,
    R_TOO_SHORT,
    R_UNLIKELY,
    R_GAP,
    R_JUMP,
    R_DISCONNECTED,
    R_NO_ROUTE,
    R_OUTLIERS,
) = range(10)


class Roads(NamedTuple):
    """Everything about the network that matching reads."""

    graph: Graph
    grid: Grid
    table: Table
    component: I32  # of each node: number of its weakly connected part


class PointRows(NamedTuple):
    """Result columns by point."""

    edge: I32
    offset: F32
    distance: F32
    status: U8


class TraceRows(NamedTuple):
    """Result columns by trace."""

    path_start: npt.NDArray[np.int64]
    parts: I32
    reasons: I32  # bit r set: REASONS[r] holds
    sigma: F32
    cost: F32  # mean cost per fix of the parts
    confidence: F32
    route: F64
    gps: F64
    u_turns: I32


class Space(NamedTuple):
    """Working arrays of one thread."""

    search: SearchSpace
    links: Links
    chain: I32


@njit(cache=True, nogil=True)
def _candidates(
    roads: Roads, costs: Costs, x: F64, y: F64, sound: BOOL, rows: PointRows, first: int, count: int
) -> tuple[I32, I32, Lattice]:
    """Choose the fixes of a trace and find the roads near them.

    Returns the point of each fix, the fix each point belongs to (-1 for none), and the states.
    """
    width = 2 * costs.segments
    point = np.empty(count, np.int32)
    member = np.full(count, -1, np.int32)
    start = np.zeros(count + 1, np.int64)
    edge = np.empty(count * width, np.int32)
    distance = np.empty(count * width, np.float32)
    offset = np.empty(count * width, np.float32)
    fixes = 0
    used = 0
    close = costs.standing_m * costs.standing_m
    standing = False
    for i in range(count):
        p = first + i
        if not sound[p]:
            rows.status[p] = INVALID
            continue
        if standing:
            q = first + point[fixes - 1]
            if (x[p] - x[q]) ** 2 + (y[p] - y[q]) ** 2 <= close:
                rows.status[p] = STANDING
                member[i] = fixes - 1
                continue
        found = near(
            roads.graph, roads.grid, x[p], y[p], costs.radius_m, costs.segments,
            edge, distance, offset, used,
        )  # fmt: skip
        standing = found > 0
        if not standing:
            rows.status[p] = NO_ROAD
            continue
        point[fixes] = i
        member[i] = fixes
        used += found
        fixes += 1
        start[fixes] = used
    lattice = Lattice(
        start[: fixes + 1],
        edge[:used],
        distance[:used],
        offset[:used],
        np.empty(used, np.float32),
        np.empty(used, np.float64),
        np.empty(used, np.int32),
        np.empty(fixes, np.float64),
    )
    return point[:fixes], member, lattice


@njit(cache=True, nogil=True)
def _sigma(costs: Costs, lattice: Lattice, fixes: int) -> float:
    """Return the GPS noise of a trace (metres), from its distances to the nearest road."""
    if fixes < 5:
        return costs.sigma_few_m
    nearest = np.empty(fixes, np.float64)
    for j in range(fixes):
        nearest[j] = lattice.distance[lattice.start[j]]
    sigma = costs.sigma_factor * np.median(nearest)
    return min(costs.sigma_max_m, max(costs.sigma_min_m, sigma))


@njit(cache=True, nogil=True)
def _fixes(x: F64, y: F64, t: F64, first: int, point: I32, member: I32) -> Fixes:
    count = len(point)
    fixes = Fixes(np.empty(count), np.empty(count), np.empty(count), np.empty(count))
    for j in range(count):
        p = first + point[j]
        fixes.x[j] = x[p]
        fixes.y[j] = y[p]
        fixes.arrive[j] = t[p]
        fixes.depart[j] = t[p]
    for i in range(len(member)):
        if member[i] >= 0:
            fixes.depart[member[i]] = t[first + i]
    return fixes


@njit(cache=True, nogil=True)
def _break_reason(
    roads: Roads,
    costs: Costs,
    fixes: Fixes,
    sigma: float,
    before: int,
    now: int,
    pair: tuple[int, int],
) -> int:
    """Return why two fixes, on the edges `pair`, were not joined."""
    seconds = max(0.0, fixes.arrive[now] - fixes.depart[before])
    straight = np.hypot(fixes.x[now] - fixes.x[before], fixes.y[now] - fixes.y[before])
    if seconds > costs.gap_s:
        return R_GAP
    if straight > costs.jump_mps * seconds + 6.0 * sigma + 50.0:
        return R_JUMP
    graph = roads.graph
    if roads.component[graph.v[pair[0]]] != roads.component[graph.u[pair[1]]]:
        return R_DISCONNECTED
    return R_NO_ROUTE


@njit(cache=True, nogil=True)
def _kept_parts(costs: Costs, lattice: Lattice, chosen: I32, joined: BOOL) -> tuple[U8, int, float]:
    """Judge the parts; return a point status for each fix, reason bits, and the mean cost."""
    count = len(chosen)
    verdict = np.full(count, OUTLIER, np.uint8)
    reasons = 0
    total = 0.0
    counted = 0
    begin = 0
    while begin < count:
        if chosen[begin] < 0:
            begin += 1
            continue
        end = begin + 1
        last = begin
        fixes = 1
        while end < count and (chosen[end] < 0 or joined[end]):
            if chosen[end] >= 0:
                last = end
                fixes += 1
            end += 1
        opening = lattice.cost[lattice.start[begin] + chosen[begin]]
        cost = (lattice.cost[lattice.start[last] + chosen[last]] - opening) / fixes
        status = MATCHED
        if fixes < costs.part_fixes:
            status = TOO_SHORT
            reasons |= 1 << R_TOO_SHORT
        elif cost > costs.part_cost:
            status = UNLIKELY
            reasons |= 1 << R_UNLIKELY
        else:
            total += cost * fixes
            counted += fixes
        for j in range(begin, last + 1):
            if chosen[j] >= 0:
                verdict[j] = status
        begin = last + 1
    return verdict, reasons, total / counted if counted > 0 else 0.0


@njit(cache=True, nogil=True)
def _assemble(
    roads: Roads,
    costs: Costs,
    space: Space,
    fixes: Fixes,
    lattice: Lattice,
    chosen: I32,
    joined: BOOL,
    verdict: U8,
    sigma: float,
    trail: Trail,
    used: int,
) -> tuple[Trail, int, I32, int, int]:
    """Write the paths of the kept parts; return trail, rows used, row of each fix, parts, reasons."""
    graph = roads.graph
    row = np.full(len(chosen), -1, np.int32)
    parts = 0
    reasons = 0
    before = -1
    for now in range(len(chosen)):
        if chosen[now] < 0:
            continue
        at = lattice.start[now] + chosen[now]
        edge = lattice.edge[at]
        offset = np.float64(lattice.offset[at])
        came = -1
        if before >= 0:
            came = lattice.start[before] + chosen[before]
            if not joined[now]:
                pair = (lattice.edge[came], edge)
                reasons |= 1 << _break_reason(roads, costs, fixes, sigma, before, now, pair)
        if verdict[now] == MATCHED:
            if not joined[now]:
                trail = room_for(trail, used, 1)
                put(trail, used, edge, parts, fixes.arrive[now], offset, 1)
                used += 1
                parts += 1
            else:
                trail, used = _extend(
                    roads, costs, space, fixes, lattice, trail, used, before, now, came, at
                )  # fmt: skip
            row[now] = used - 1
            trail.leave[used - 1] = fixes.depart[now]
        before = now
    return trail, used, row, parts, reasons


@njit(cache=True, nogil=True)
def _extend(
    roads: Roads,
    costs: Costs,
    space: Space,
    fixes: Fixes,
    lattice: Lattice,
    trail: Trail,
    used: int,
    before: int,
    now: int,
    came: int,
    at: int,
) -> tuple[Trail, int]:
    """Drive from state `came` of fix `before` to state `at` of fix `now`."""
    graph = roads.graph
    here = lattice.edge[came]
    edge = lattice.edge[at]
    offset = np.float64(lattice.offset[at])
    depart = fixes.depart[before]
    arrive = fixes.arrive[now]
    inside = on_same_street(graph, costs, here, np.float64(lattice.offset[came]), edge, offset)
    if inside >= 0 and here == edge:
        stay(trail, used, offset, depart, arrive)
        return trail, used
    count = 0
    if inside < 0:
        straight = np.hypot(fixes.x[now] - fixes.x[before], fixes.y[now] - fixes.y[before])
        gate = costs.detour_factor * straight + costs.detour_m
        count = route_between(
            graph, roads.table, space.search, costs, graph.v[here], graph.u[edge], gate, space.chain
        )  # fmt: skip
    trail = room_for(trail, used, count + 1)
    used = drive(
        graph, trail, used, edge, offset, depart, arrive, inside >= 0, space.chain, count
    )  # fmt: skip
    return trail, used


@njit(cache=True, nogil=True)
def _place_points(
    roads: Roads,
    trail: Trail,
    x: F64,
    y: F64,
    first: int,
    member: I32,
    point: I32,
    row: I32,
    verdict: U8,
    lattice: Lattice,
    chosen: I32,
    rows: PointRows,
) -> None:
    """Give every point its road: fixes theirs, points standing by a fix the nearest driven one."""
    following = np.full(len(row), -1, np.int32)
    later = -1
    for j in range(len(row) - 1, -1, -1):
        following[j] = later
        if row[j] >= 0:
            later = row[j]
    for i in range(len(member)):
        j = member[i]
        if j < 0:
            continue
        p = first + i
        if row[j] < 0:
            rows.status[p] = verdict[j]
            continue
        if point[j] == i:
            at = lattice.start[j] + chosen[j]
            rows.edge[p] = lattice.edge[at]
            rows.offset[p] = lattice.offset[at]
            rows.distance[p] = lattice.distance[at]
            rows.status[p] = MATCHED
            continue
        end = row[j]
        if following[j] >= 0 and trail.part[following[j]] == trail.part[row[j]]:
            end = following[j]
        best = np.inf
        for k in range(row[j], end + 1):
            distance, offset = foot_on_edge(roads.graph, roads.grid, trail.edge[k], x[p], y[p])
            if distance < best - 0.01:
                best = distance
                rows.edge[p] = trail.edge[k]
                rows.offset[p] = offset
                rows.distance[p] = distance


@njit(cache=True, nogil=True)
def _figures(graph: Graph, trail: Trail, begin: int, end: int) -> tuple[float, int]:
    """Return route length (metres) and the number of turns on the spot of the rows begin..end-1."""
    length = 0.0
    turns = 0
    for k in range(begin, end):
        length += trail.end[k] - trail.begin[k]
        if k > begin and trail.part[k] == trail.part[k - 1]:
            turns += graph.twin[trail.edge[k]] == trail.edge[k - 1]
    return length, turns


@njit(cache=True, nogil=True)
def _gps_length(fixes: Fixes, chosen: I32, joined: BOOL, verdict: U8) -> float:
    """Return the length of the straight lines between joined fixes of kept parts (metres)."""
    length = 0.0
    before = -1
    for j in range(len(chosen)):
        if chosen[j] < 0:
            continue
        if joined[j] and verdict[j] == MATCHED:
            length += np.hypot(fixes.x[j] - fixes.x[before], fixes.y[j] - fixes.y[before])
        before = j
    return length


@njit(cache=True, nogil=True)
def match_chunk(
    roads: Roads, costs: Costs, x: F64, y: F64, t: F64, sound: BOOL, start: npt.NDArray[np.int64]
) -> tuple[Trail, PointRows, TraceRows]:
    """Match the traces start[k]:start[k + 1] of a chunk; no trace sees another."""
    points = len(x)
    traces = len(start) - 1
    rows = PointRows(
        np.full(points, -1, np.int32),
        np.full(points, np.nan, np.float32),
        np.full(points, np.nan, np.float32),
        np.zeros(points, np.uint8),
    )
    out = TraceRows(
        np.zeros(traces + 1, np.int64),
        np.zeros(traces, np.int32),
        np.zeros(traces, np.int32),
        np.zeros(traces, np.float32),
        np.zeros(traces, np.float32),
        np.zeros(traces, np.float32),
        np.zeros(traces, np.float64),
        np.zeros(traces, np.float64),
        np.zeros(traces, np.int32),
    )
    graph = roads.graph
    space = Space(
        search_space(graph), links_space(costs.segments), np.empty(len(graph.out_start), np.int32)
    )
    trail = new_trail(2 * points + 64)
    used = 0
    for k in range(traces):
        first = start[k]
        count = start[k + 1] - first
        point, member, lattice = _candidates(roads, costs, x, y, sound, rows, first, count)
        reasons = 0
        if len(point) > 0:
            fixes = _fixes(x, y, t, first, point, member)
            sigma = _sigma(costs, lattice, len(point))
            for at in range(len(lattice.away)):
                lattice.away[at] = 0.5 * (lattice.distance[at] / sigma) ** 2
            chosen, joined = decode(
                graph, roads.table, space.search, space.links, costs, fixes, lattice, sigma
            )
            verdict, reasons, cost = _kept_parts(costs, lattice, chosen, joined)
            begin = used
            trail, used, row, parts, breaks = _assemble(
                roads, costs, space, fixes, lattice, chosen, joined, verdict, sigma, trail, used
            )  # fmt: skip
            reasons |= breaks
            _place_points(
                roads, trail, x, y, first, member, point, row, verdict, lattice, chosen, rows
            )  # fmt: skip
            out.parts[k] = parts
            out.sigma[k] = sigma
            out.cost[k] = cost
            out.route[k], out.u_turns[k] = _figures(graph, trail, begin, used)
            out.gps[k] = _gps_length(fixes, chosen, joined, verdict)
        out.reasons[k] = reasons | _point_reasons(rows.status, first, count)
        out.path_start[k + 1] = used
    return trail, rows, out


@njit(cache=True, nogil=True)
def _point_reasons(status: U8, first: int, count: int) -> int:
    """Return the reason bits that follow from the points left without a road."""
    reasons = 1 << R_NO_POINTS if count == 0 else 0
    for p in range(first, first + count):
        if status[p] == INVALID:
            reasons |= 1 << R_INVALID
        elif status[p] == NO_ROAD:
            reasons |= 1 << R_NO_ROAD
        elif status[p] == OUTLIER:
            reasons |= 1 << R_OUTLIERS
    return reasons
