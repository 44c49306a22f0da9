"""From chosen road positions to connected paths with times.

    fixes on edge 12 at 40 m (t = 0 s) and on edge 15 at 10 m (t = 15 s)
        ->  12 (0.0-3.1 s), 13 (3.1-9.8 s), 14 (9.8-14.0 s), 15 (14.0-15.0 s)

Between two fixes time is spread over the route in proportion to free-flow travel time.
"""

import numpy as np

from pipeline.trips.matching.candidates import foot_on_edge
from pipeline.trips.matching.compiled import kernel
from pipeline.trips.matching.lattice import MATCHED, Chunk, Lattice, Roads
from pipeline.trips.matching.links import Kit
from pipeline.trips.matching.parts import break_reason
from pipeline.trips.matching.path_table import look_up
from pipeline.trips.matching.search import Record, Rows, search, walk_back
from pipeline.trips.matching.steps import Step, on_same_street, step_of

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


@kernel
def room_for(trail: Rows, used: int, more: int) -> Rows:
    """Return a trail that keeps the first `used` rows and has room for `more` after them."""
    if used + more <= len(trail):
        return trail
    grown = np.empty(max(2 * len(trail), used + more), DRIVEN)
    grown[:used] = trail[:used]
    return grown


@kernel
def _put(row: Record, edge: int, part: int, enter: float, begin: float, fixes: int) -> None:
    """Fill a row; it ends where it begins until the drive goes on."""
    row.edge = edge
    row.part = part
    row.enter = enter
    row.leave = enter
    row.begin = begin
    row.end = begin
    row.fixes = fixes


@kernel
def _route_between(kit: Kit, source: int, target: int, step: Step) -> int:
    """Write the edges between two nodes to `kit.scratch.chain`, last edge first; return how many.

    The rule of decoding decides between table and search, so this is the route that was paid for.
    """
    if source == target:
        return 0
    roads = kit.roads
    if look_up(roads.table, source, target) < 0:
        kit.scratch.target_node[0] = target
        search(roads.graph, kit.space, source, step.reach, step.goal, kit.scratch.target_node, 1)
        return walk_back(roads.graph, kit.space, source, target, kit.scratch.chain)
    count = 0
    node = target
    while node != source:
        edge = roads.table.paths[look_up(roads.table, source, node)].last
        kit.scratch.chain[count] = edge
        count += 1
        node = roads.graph.edges[edge].u
    return count


@kernel
def pace_of(edge: Record) -> float:
    """Return the weight of a metre of an edge."""
    return float(edge.weight / max(edge.length, np.float32(0.01)))


@kernel
def _stay(row: Record, offset: float, arrive: float) -> None:
    """Go on along the last edge; a small step back leaves the drive where it is."""
    row.end = max(row.end, np.float32(offset))
    row.leave = max(arrive, row.leave)
    row.fixes += 1


@kernel
def _drive(
    kit: Kit, trail: Rows, used: int, b: Record, arrive: float, turned: bool, count: int
) -> int:
    """Extend the drive from the last row of the trail to state b; return rows used.

    Args:
        kit: The network, and the edges between in `chain`, last first.
        trail: Rows so far, with room for count + 1 more.
        used: Number of rows so far.
        b: Where the drive goes.
        arrive: Time it gets there.
        turned: Whether b is on the street of the last row, reached by turning round on it.
        count: Number of edges between.
    """
    graph = kit.roads.graph
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
    # Turning round on the way: where the fix before or this one is, not at the end of the street.
    head = 0.0
    if count > 0 and here.twin == kit.scratch.chain[count - 1]:
        stop = np.float64(row.end)
        head = max(0.0, graph.edges[here.twin].length - stop)
    tail = 0.0
    if count > 0 and goal.twin == kit.scratch.chain[0]:
        begin = np.float64(b.offset)
        tail = begin
    done = (stop - row.end) * pace_of(here)
    total = done + (b.offset - begin) * b.pace
    for k in range(count):
        total += graph.edges[kit.scratch.chain[k]].weight
    if head > 0:
        total -= head * pace_of(graph.edges[here.twin])
    if tail > 0:
        total -= tail * pace_of(graph.edges[goal.twin])
    rate = (arrive - depart) / total if total > 0 else 0.0
    time = min(arrive, depart + rate * done)
    row.end = stop
    row.leave = time
    part = row.part
    for k in range(count - 1, -1, -1):
        edge = graph.edges[kit.scratch.chain[k]]
        from_m = head if k == count - 1 else 0.0
        to_m = edge.length - (tail if k == 0 else 0.0)
        _put(trail[used], kit.scratch.chain[k], part, time, from_m, 0)
        done += max(0.0, to_m - from_m) * pace_of(edge)
        time = min(arrive, max(time, depart + rate * done))
        trail[used].leave = time
        trail[used].end = max(from_m, to_m)
        used += 1
    _put(trail[used], b.edge, part, time, begin, 1)
    trail[used].leave = arrive
    trail[used].end = max(np.float32(begin), b.offset)
    return used + 1


@kernel
def _extend(
    kit: Kit, lattice: Lattice, trail: Rows, used: int, before: int, now: int
) -> tuple[Rows, int]:
    """Drive from the chosen state of fix `before` to that of fix `now`."""
    a = lattice.states[lattice.fixes[before].chosen]
    b = lattice.states[lattice.fixes[now].chosen]
    edge_a = kit.roads.graph.edges[a.edge]
    edge_b = kit.roads.graph.edges[b.edge]
    arrive = lattice.fixes[now].arrive
    inside = on_same_street(kit.costs, a, edge_a, b, edge_b) >= 0
    if inside and a.edge == b.edge:
        _stay(trail[used - 1], b.offset, arrive)
        return trail, used
    count = 0
    if not inside:
        step = step_of(kit.roads, kit.costs, lattice, before, now)
        count = _route_between(kit, edge_a.v, edge_b.u, step)
    trail = room_for(trail, used, count + 1)
    used = _drive(kit, trail, used, b, arrive, inside, count)
    return trail, used


@kernel
def assemble(kit: Kit, lattice: Lattice, trail: Rows, used: int) -> tuple[Rows, int, int]:
    """Write the paths of the kept parts; return trail, rows used, and the reasons of breaks."""
    parts = 0
    reasons = 0
    before = -1
    for now in range(len(lattice.fixes)):
        fix = lattice.fixes[now]
        if fix.chosen < 0:
            continue
        if before >= 0 and not fix.joined:
            reasons |= 1 << break_reason(kit, lattice, before, now)
        if fix.status == MATCHED:
            if fix.joined:
                trail, used = _extend(kit, lattice, trail, used, before, now)
            else:
                b = lattice.states[fix.chosen]
                trail = room_for(trail, used, 1)
                _put(trail[used], b.edge, parts, fix.arrive, b.offset, 1)
                used += 1
                parts += 1
            fix.row = used - 1
            trail[used - 1].leave = max(trail[used - 1].leave, fix.depart)
        before = now
    return trail, used, reasons


@kernel
def _last_row_for(fixes: Rows, trail: Rows, number: int) -> int:
    """Return the row of the next fix of the same part, or that of the fix itself."""
    row = fixes[number].row
    for j in range(number + 1, len(fixes)):
        later = fixes[j].row
        if later >= 0:
            return int(later if trail[later].part == trail[row].part else row)
    return int(row)


@kernel
def place_points(
    roads: Roads, lattice: Lattice, trail: Rows, chunk: Chunk, begin: int, end: int
) -> None:
    """Give every point its road: a fix its state, one standing by it the nearest driven edge."""
    for p in range(begin, end):
        point = chunk.points[p]
        if point.fix < 0:
            continue
        fix = lattice.fixes[point.fix]
        if fix.row < 0:
            point.status = fix.status
            continue
        point.confidence = 1.0 / (1.0 + np.exp(-fix.margin))
        if fix.point == p:
            state = lattice.states[fix.chosen]
            point.edge = state.edge
            point.offset = state.offset
            point.distance = state.distance
            point.status = MATCHED
            continue
        best = np.inf
        for k in range(fix.row, _last_row_for(lattice.fixes, trail, point.fix) + 1):
            distance, offset = foot_on_edge(
                roads.graph, roads.grid, trail[k].edge, chunk.x[p], chunk.y[p]
            )
            if distance < best - 0.01:
                best = distance
                point.edge = trail[k].edge
                point.offset = offset
                point.distance = distance
