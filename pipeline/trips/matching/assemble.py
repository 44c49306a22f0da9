"""From chosen road positions to connected paths with times.

    fixes on edge 12 at 40 m (t = 0 s) and on edge 15 at 10 m (t = 15 s)
        ->  12 (0.0-3.1 s), 13 (3.1-9.8 s), 14 (9.8-14.0 s), 15 (14.0-15.0 s)

Between two fixes time is spread over the route in proportion to free-flow travel time.
"""

import numpy as np
import numpy.typing as npt
from numba import njit

from pipeline.trips.matching.candidates import foot_on_edge
from pipeline.trips.matching.lattice import MATCHED, Lattice, Roads
from pipeline.trips.matching.parts import break_reason
from pipeline.trips.matching.path_table import look_up
from pipeline.trips.matching.search import F64, I32, Graph, Record, Rows, search, walk_back
from pipeline.trips.matching.steps import on_same_street, step_of
from pipeline.trips.matching.viterbi import Space

DRIVEN = np.dtype(
    [
        ("enter", "f8"),
        ("leave", "f8"),
        ("edge", "i4"),
        ("part", "i4"),
        ("fixes", "i4"),
        ("begin", "f4"),  # offset where the drive on this edge begins (metres)
        ("end", "f4"),
    ]
)
"""One edge of a path."""


@njit
def room_for(trail: Rows, used: int, more: int) -> Rows:
    """Return a trail that keeps the first `used` rows and has room for `more` after them."""
    if used + more <= len(trail):
        return trail
    grown = np.empty(max(2 * len(trail), used + more), DRIVEN)
    grown[:used] = trail[:used]
    return grown


@njit
def _put(row: Record, edge: int, part: int, enter: float, begin: float, fixes: int) -> None:
    """Fill a row; it ends where it begins until the drive goes on."""
    row.edge = edge
    row.part = part
    row.enter = enter
    row.leave = enter
    row.begin = begin
    row.end = begin
    row.fixes = fixes


@njit
def _route_between(roads: Roads, space: Space, source: int, target: int, reach: float) -> int:
    """Write the edges between two nodes to `space.chain`, last edge first; return how many.

    The rule of decoding decides between table and search, so this is the route that was paid for.
    """
    if source == target:
        return 0
    if look_up(roads.table, source, target) < 0:
        space.target_node[0] = target
        search(roads.graph, space.search, source, reach, space.target_node, 1)
        return walk_back(roads.graph, space.search, source, target, space.chain)
    count = 0
    node = target
    while node != source:
        edge = roads.table.paths[look_up(roads.table, source, node)].last
        space.chain[count] = edge
        count += 1
        node = roads.graph.edges[edge].u
    return count


@njit
def _stay(row: Record, offset: float, arrive: float) -> None:
    """Go on along the last edge; a small step back leaves the drive where it is."""
    row.end = max(row.end, np.float32(offset))
    row.leave = max(arrive, row.leave)
    row.fixes += 1


@njit
def _drive(
    graph: Graph, trail: Rows, used: int, b: Record, arrive: float, turned: bool, chain: I32,
    count: int,
) -> int:  # fmt: skip
    """Extend the drive from the last row of the trail to state b; return rows used.

    Args:
        graph: The road graph.
        trail: Rows so far, with room for count + 1 more.
        used: Number of rows so far.
        b: Where the drive goes.
        arrive: Time it gets there.
        turned: Whether b is on the street of the last row, reached by turning round on it.
        chain: The edges between, last first.
        count: Number of edges between.
    """
    row = trail[used - 1]
    here = graph.edges[row.edge]
    goal = graph.edges[b.edge]
    depart = row.leave
    arrive = max(arrive, depart)
    begin = 0.0
    stop = np.float64(here.length)
    if turned:
        # The other direction begins where this one ended.
        stop = min(stop, max(np.float64(row.end), np.float64(goal.length - b.offset)))
        begin = max(0.0, goal.length - stop)
    done = (stop - row.end) * here.weight / max(here.length, np.float32(0.01))
    total = done + (b.offset - begin) * b.pace
    for k in range(count):
        total += graph.edges[chain[k]].weight
    rate = (arrive - depart) / total if total > 0 else 0.0
    time = min(arrive, depart + rate * done)
    row.end = stop
    row.leave = time
    part = row.part
    for k in range(count - 1, -1, -1):
        edge = graph.edges[chain[k]]
        _put(trail[used], chain[k], part, time, 0.0, 0)
        done += edge.weight
        time = min(arrive, max(time, depart + rate * done))
        trail[used].leave = time
        trail[used].end = edge.length
        used += 1
    _put(trail[used], b.edge, part, time, begin, 1)
    trail[used].leave = arrive
    trail[used].end = max(np.float32(begin), b.offset)
    return used + 1


@njit
def _extend(
    roads: Roads, space: Space, costs: Record, lattice: Lattice, trail: Rows, used: int,
    before: int, now: int, came: int, at: int, sigma: float,
) -> tuple[Rows, int]:  # fmt: skip
    """Drive from state `came` of fix `before` to state `at` of fix `now`."""
    a = lattice.states[came]
    b = lattice.states[at]
    edge_a = roads.graph.edges[a.edge]
    edge_b = roads.graph.edges[b.edge]
    arrive = lattice.fixes[now].arrive
    inside = on_same_street(costs, a, edge_a, b, edge_b) >= 0
    if inside and a.edge == b.edge:
        _stay(trail[used - 1], b.offset, arrive)
        return trail, used
    count = 0
    if not inside:
        step = step_of(roads, costs, lattice.fixes[before], lattice.fixes[now], sigma)
        count = _route_between(roads, space, edge_a.v, edge_b.u, step.reach)
    trail = room_for(trail, used, count + 1)
    used = _drive(roads.graph, trail, used, b, arrive, inside, space.chain, count)
    return trail, used


@njit
def assemble(
    roads: Roads, space: Space, costs: Record, lattice: Lattice, chosen: I32,
    joined: npt.NDArray[np.bool_], verdict: npt.NDArray[np.uint8], sigma: float,
    trail: Rows, used: int,
) -> tuple[Rows, int, I32, int]:  # fmt: skip
    """Write the paths of the kept parts; return trail, rows used, row of each fix, break reasons."""
    row = np.full(len(chosen), -1, np.int32)
    parts = 0
    reasons = 0
    before = -1
    came = -1
    for now in range(len(chosen)):
        if chosen[now] < 0:
            continue
        at = lattice.start[now] + chosen[now]
        b = lattice.states[at]
        if before >= 0 and not joined[now]:
            edge = lattice.states[came].edge
            reasons |= 1 << break_reason(roads, costs, lattice, sigma, before, now, edge, b.edge)
        if verdict[now] == MATCHED:
            if joined[now]:
                trail, used = _extend(
                    roads, space, costs, lattice, trail, used, before, now, came, at, sigma
                )  # fmt: skip
            else:
                trail = room_for(trail, used, 1)
                _put(trail[used], b.edge, parts, lattice.fixes[now].arrive, b.offset, 1)
                used += 1
                parts += 1
            row[now] = used - 1
            trail[used - 1].leave = max(trail[used - 1].leave, lattice.fixes[now].depart)
        before = now
        came = at
    return trail, used, row, reasons


@njit
def _last_row_for(trail: Rows, row: I32, fix: int) -> int:
    """Return the row of the next fix of the same part, or that of the fix itself."""
    for j in range(fix + 1, len(row)):
        if row[j] >= 0:
            return row[j] if trail[row[j]].part == trail[row[fix]].part else row[fix]
    return row[fix]


@njit
def place_points(
    roads: Roads, lattice: Lattice, chosen: I32, verdict: npt.NDArray[np.uint8], margin: F64,
    trail: Rows, row: I32, x: F64, y: F64, points: Rows, begin: int, end: int,
) -> None:  # fmt: skip
    """Give every point its road: a fix its state, a point standing by one the nearest driven edge."""
    for p in range(begin, end):
        point = points[p]
        fix = point.fix
        if fix < 0:
            continue
        if row[fix] < 0:
            point.status = verdict[fix]
            continue
        point.confidence = 1.0 / (1.0 + np.exp(-margin[fix]))
        if lattice.fixes[fix].point == p:
            state = lattice.states[lattice.start[fix] + chosen[fix]]
            point.edge = state.edge
            point.offset = state.offset
            point.distance = state.distance
            point.status = MATCHED
            continue
        best = np.inf
        for k in range(row[fix], _last_row_for(trail, row, fix) + 1):
            distance, offset = foot_on_edge(roads.graph, roads.grid, trail[k].edge, x[p], y[p])
            if distance < best - 0.01:
                best = distance
                point.edge = trail[k].edge
                point.offset = offset
                point.distance = distance
