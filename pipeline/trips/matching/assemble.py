"""From chosen road positions to connected paths with times.

    fixes on edge 12 at 40 m (t = 0 s) and on edge 15 at 10 m (t = 15 s)
        ->  12 (0.0-3.1 s), 13 (3.1-9.8 s), 14 (9.8-14.0 s), 15 (14.0-15.0 s)

Between two fixes time is spread over the route in proportion to free-flow travel time.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from pipeline.trips.matching.candidates import F64
from pipeline.trips.matching.path_table import Table, look_up
from pipeline.trips.matching.search import F32, I32, Graph, SearchSpace, search, walk_back
from pipeline.trips.matching.settings import Costs
from pipeline.trips.matching.viterbi import reach_of


class Trail(NamedTuple):
    """Growing columns of the driven edges, in driving order."""

    edge: I32
    part: I32
    enter: F64
    leave: F64
    begin: F32  # offset where the drive on this edge begins (metres)
    end: F32
    fixes: I32


@njit(cache=True, nogil=True)
def new_trail(capacity: int) -> Trail:
    """Return empty columns."""
    return Trail(
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.float64),
        np.empty(capacity, np.float64),
        np.empty(capacity, np.float32),
        np.empty(capacity, np.float32),
        np.empty(capacity, np.int32),
    )


@njit(cache=True, nogil=True)
def room_for(trail: Trail, used: int, more: int) -> Trail:
    """Return a trail that keeps the first `used` rows and has room for `more` after them."""
    if used + more <= len(trail.edge):
        return trail
    grown = new_trail(max(2 * len(trail.edge), used + more))
    grown.edge[:used] = trail.edge[:used]
    grown.part[:used] = trail.part[:used]
    grown.enter[:used] = trail.enter[:used]
    grown.leave[:used] = trail.leave[:used]
    grown.begin[:used] = trail.begin[:used]
    grown.end[:used] = trail.end[:used]
    grown.fixes[:used] = trail.fixes[:used]
    return grown


@njit(cache=True, nogil=True)
def put(
    trail: Trail, at: int, edge: int, part: int, enter: float, begin: float, fixes: int
) -> None:
    """Write one row; `leave` and `end` are set to the entry until the drive goes on."""
    trail.edge[at] = edge
    trail.part[at] = part
    trail.enter[at] = enter
    trail.leave[at] = enter
    trail.begin[at] = begin
    trail.end[at] = begin
    trail.fixes[at] = fixes


@njit(cache=True, nogil=True)
def route_between(
    graph: Graph,
    table: Table,
    space: SearchSpace,
    costs: Costs,
    source: int,
    target: int,
    gate: float,
    chain: I32,
) -> int:
    """Write the edges from node `source` to `target`, last edge first; return how many.

    The same rule as in decoding decides between table and search, so the route is the one that was
    paid for.
    """
    if source == target:
        return 0
    hit = look_up(table, source, target)
    if hit < 0:
        goal = np.empty(1, np.int32)
        goal[0] = target
        search(graph, space, source, reach_of(table, costs, gate), goal, 1)
        return walk_back(graph, space, source, target, chain)
    count = 0
    node = target
    while node != source:
        edge = table.last[look_up(table, source, node)]
        chain[count] = edge
        count += 1
        node = graph.u[edge]
    return count


@njit(inline="always")
def _share(graph: Graph, edge: int, metres: float) -> float:
    """Return the weight of a stretch of an edge."""
    if graph.length[edge] <= 0:
        return 0.0
    return graph.weight[edge] * metres / graph.length[edge]


@njit(cache=True, nogil=True)
def stay(trail: Trail, used: int, offset: float, depart: float, arrive: float) -> None:
    """Go on along the last edge of the trail; a small step back leaves the drive where it is."""
    last = used - 1
    trail.end[last] = max(trail.end[last], np.float32(offset))
    trail.leave[last] = max(arrive, depart)
    trail.fixes[last] += 1


@njit(cache=True, nogil=True)
def drive(
    graph: Graph,
    trail: Trail,
    used: int,
    edge: int,
    offset: float,
    depart: float,
    arrive: float,
    turned: bool,
    chain: I32,
    count: int,
) -> int:
    """Extend the drive from the last row of the trail to another edge; return rows used.

    Args:
        graph: The road graph.
        trail: Rows so far, with room for count + 1 more.
        used: Number of rows so far.
        edge: Edge arrived at.
        offset: Metres driven on that edge at arrival.
        depart: Time at the end of the last row.
        arrive: Time at the offset.
        turned: Whether `edge` is the same street as the last row, reached by turning round on it.
        chain: The edges between, last first.
        count: Number of edges between.
    """
    last = used - 1
    here = trail.edge[last]
    arrive = max(arrive, depart)
    begin = 0.0
    stop = np.float64(graph.length[here])
    if turned:
        # The other direction begins where this one ended.
        stop = min(stop, max(np.float64(trail.end[last]), graph.length[edge] - offset))
        begin = max(0.0, graph.length[edge] - stop)
    done = _share(graph, here, stop - trail.end[last])
    total = done + _share(graph, edge, offset - begin)
    for k in range(count):
        total += graph.weight[chain[k]]
    pace = (arrive - depart) / total if total > 0 else 0.0
    time = min(arrive, depart + pace * done)
    trail.end[last] = stop
    trail.leave[last] = time
    part = trail.part[last]
    for k in range(count - 1, -1, -1):
        between = chain[k]
        put(trail, used, between, part, time, 0.0, 0)
        done += graph.weight[between]
        time = min(arrive, max(time, depart + pace * done))
        trail.leave[used] = time
        trail.end[used] = graph.length[between]
        used += 1
    put(trail, used, edge, part, time, begin, 1)
    trail.leave[used] = arrive
    trail.end[used] = offset
    return used + 1
