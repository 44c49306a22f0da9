"""The most likely sequence of road positions of one trace (Newson and Krumm 2009, by routes).

    decode(...)  ->  chosen = [3, 0, -1, 2], joined = [False, True, False, True]
        fix 0 is on its state 3, fix 2 was left out as an outlier, fix 3 is joined to fix 1

One forward pass decides four things at once, each with a price in nats: which road a fix is on
(0.5 (distance / sigma)^2), which route joins two fixes (`steps.step_cost`), whether a fix is an
outlier (`skip_cost`) and whether the trace breaks (`break_cost`). A state remembers the state before
it as a code, see `pack`.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from pipeline.trips.matching.lattice import Lattice, Roads
from pipeline.trips.matching.path_table import look_up
from pipeline.trips.matching.search import I32, Record, Rows, SearchSpace, search, search_space
from pipeline.trips.matching.steps import ROUTE, UNKNOWN, Step, step_cost, step_of

START = -1
_STATES = 4096  # more than 2 * 64 candidates a fix


class Space(NamedTuple):
    """Working arrays of one thread."""

    search: SearchSpace
    sources: I32  # states of the earlier fix, by cost
    source_node: I32
    target_node: I32
    target_slot: I32
    routes: Rows  # by source and target node
    chain: I32


@njit
def space_for(roads: Roads, segments: int) -> Space:
    """Return working arrays for at most `segments` streets a fix."""
    most = 2 * segments
    return Space(
        search_space(roads.graph),
        np.empty(most, np.int32),
        np.empty(most, np.int32),
        np.empty(most, np.int32),
        np.empty(most, np.int32),
        np.empty(most * most, ROUTE),
        np.empty(len(roads.graph.out_start), np.int32),
    )


@njit
def pack(step: int, state: int, broken: bool) -> int:
    """Return the code of a predecessor: `step` fixes back, its local state, and whether a break."""
    code = (step - 1) * _STATES + state
    return -2 - code if broken else code


@njit
def unpack(code: int) -> tuple[int, int, bool]:
    """Return step, local state and whether the link is a break; not for START."""
    broken = code < 0
    value = -2 - code if broken else code
    return value // _STATES + 1, value % _STATES, broken


@njit
def _sort_sources(lattice: Lattice, space: Space, before: int, limit: float) -> int:
    """List the states of a fix that cost at most `limit`, by cost; return how many."""
    count = 0
    for at in range(lattice.start[before], lattice.start[before + 1]):
        cost = lattice.states[at].cost
        if cost > limit:
            continue
        i = count
        while i > 0 and lattice.states[space.sources[i - 1]].cost > cost:
            space.sources[i] = space.sources[i - 1]
            i -= 1
        space.sources[i] = at
        count += 1
    return count


@njit
def _number_targets(roads: Roads, lattice: Lattice, space: Space, now: int) -> int:
    """Give each distinct first node of the roads of a fix a number; return how many."""
    count = 0
    begin = lattice.start[now]
    for at in range(begin, lattice.start[now + 1]):
        node = roads.graph.edges[lattice.states[at].edge].u
        slot = 0
        while slot < count and space.target_node[slot] != node:
            slot += 1
        if slot == count:
            space.target_node[slot] = node
            count += 1
        space.target_slot[at - begin] = slot
    return count


@njit
def _source_row(space: Space, node: int, sources: int, targets: int) -> int:
    """Return the number of a source node; a new one gets a row of unknown routes."""
    slot = 0
    while slot < sources and space.source_node[slot] != node:
        slot += 1
    if slot == sources:
        space.source_node[slot] = node
        row = slot * len(space.sources)
        for k in range(row, row + targets):
            space.routes[k].length = UNKNOWN
    return slot


@njit
def look_up_route(roads: Roads, route: Record, source: int, target: int) -> bool:
    """Fill a route from the table; tell whether the table has it."""
    hit = look_up(roads.table, source, target)
    if hit < 0:
        route.length = np.inf
        return False
    path = roads.table.paths[hit]
    route.length = path.length
    route.weight = path.weight
    route.first = path.first
    route.last = path.last
    return True


@njit
def _search_routes(roads: Roads, space: Space, slot: int, targets: int, reach: float) -> None:
    """Search the routes from one source node to all target nodes of a step."""
    search(roads.graph, space.search, space.source_node[slot], reach, space.target_node, targets)
    for k in range(targets):
        label = space.search.labels[space.target_node[k]]
        route = space.routes[slot * len(space.sources) + k]
        route.length = np.inf
        if label.stamp == space.search.counter[0]:
            route.length = label.length
            route.weight = label.weight
            route.first = label.first
            route.last = label.last


@njit
def link(
    roads: Roads,
    space: Space,
    costs: Record,
    lattice: Lattice,
    step: Step,
    before: int,
    now: int,
    extra: float,
    searches: int,
) -> None:
    """Offer all routes from the states of fix `before` to those of fix `now`.

    Sources are taken by cost and targets by distance, so that most pairs are refused before their
    route is looked up: a pair must beat the best arrival so far, and a state that ends more than
    `beam` above the best one would not be extended anyway.

    Args:
        roads: The network.
        space: Working arrays.
        costs: Settings.
        lattice: The cost of each state of `now` is that of the best arrival so far.
        step: What the two fixes have to do with each other.
        before: Number of the earlier fix.
        now: Number of the later fix.
        extra: Cost of the fixes left out between them.
        searches: Number of sources whose routes may be searched where the table has none.
    """
    begin = lattice.start[now]
    end = lattice.start[now + 1]
    fix = lattice.fixes[now]
    count = _sort_sources(lattice, space, before, lattice.fixes[before].best + costs.beam)
    targets = _number_targets(roads, lattice, space, now)
    sources = 0
    for i in range(count):
        a = lattice.states[space.sources[i]]
        cost_a = a.cost + extra - step.rebate
        if cost_a + lattice.states[begin].away > fix.best + costs.beam:
            break
        edge_a = roads.graph.edges[a.edge]
        slot = _source_row(space, edge_a.v, sources, targets)
        sources = max(sources, slot + 1)
        code = pack(now - before, space.sources[i] - lattice.start[before], False)
        for at in range(begin, end):
            b = lattice.states[at]
            if cost_a + b.away > fix.best + costs.beam:
                break
            if cost_a >= b.cost:
                continue
            edge_b = roads.graph.edges[b.edge]
            route = space.routes[slot * len(space.sources) + space.target_slot[at - begin]]
            if route.length == UNKNOWN and edge_a.v != edge_b.u:
                known = look_up_route(roads, route, edge_a.v, edge_b.u)
                if not known and searches > 0:
                    searches -= 1
                    _search_routes(roads, space, slot, targets, step.reach)
            cost = cost_a + step_cost(costs, step, a, edge_a, b, edge_b, route)
            if cost < b.cost:
                b.cost = cost
                b.back = code
                fix.best = min(fix.best, cost + b.away)


@njit
def _cheapest(lattice: Lattice, fix: int) -> int:
    """Return the local number of the cheapest state, the nearest road among equals."""
    begin = lattice.start[fix]
    best = begin
    for at in range(begin + 1, lattice.start[fix + 1]):
        if lattice.states[at].cost < lattice.states[best].cost:
            best = at
    return best - begin


@njit
def _open_fix(lattice: Lattice, costs: Record, now: int) -> None:
    """Let every state of a fix start a part: at the beginning, or after a break."""
    arrival = np.inf
    code = START
    if now <= costs.skip_run:
        arrival = now * costs.end_cost
    broken = 0
    for step in range(1, min(now, costs.skip_run + 1) + 1):
        cost = lattice.fixes[now - step].best + costs.break_cost + (step - 1) * costs.skip_cost
        if cost < arrival:
            arrival = cost
            broken = step
    if broken > 0:
        code = pack(broken, _cheapest(lattice, now - broken), True)
    begin = lattice.start[now]
    for at in range(begin, lattice.start[now + 1]):
        lattice.states[at].cost = arrival
        lattice.states[at].back = code
    lattice.fixes[now].best = arrival + lattice.states[begin].away


@njit
def decode(
    roads: Roads, space: Space, costs: Record, lattice: Lattice, sigma: float
) -> tuple[I32, npt.NDArray[np.bool_]]:
    """Return the chosen local state of each fix (-1 = left out) and whether it is joined.

    Every fix must have at least one state. Skipping is only tried where it can pay: a state reached
    over a left-out fix costs at least the best state before it plus `skip_cost`.
    """
    for now in range(len(lattice.fixes)):
        _open_fix(lattice, costs, now)
        fix = lattice.fixes[now]
        for back in range(1, min(now, costs.skip_run + 1) + 1):
            before = now - back
            extra = (back - 1) * costs.skip_cost
            step = step_of(roads, costs, lattice.fixes[before], fix, sigma)
            floor = lattice.fixes[before].best + extra
            if step.barred or floor - step.rebate >= fix.best:
                continue
            link(roads, space, costs, lattice, step, before, now, extra, 0)
            # Beyond the table: only where what it knows cannot explain the step.
            if step.reach > roads.table.bound and fix.best > floor + costs.skip_cost:
                link(
                    roads, space, costs, lattice, step, before, now, extra, costs.search_sources
                )  # fmt: skip
        for at in range(lattice.start[now], lattice.start[now + 1]):
            lattice.states[at].cost += lattice.states[at].away
    return _back_track(costs, lattice)


@njit
def _back_track(costs: Record, lattice: Lattice) -> tuple[I32, npt.NDArray[np.bool_]]:
    count = len(lattice.fixes)
    chosen = np.full(count, -1, np.int32)
    joined = np.zeros(count, np.bool_)
    fix = count - 1
    least = lattice.fixes[fix].best
    for step in range(1, min(count - 1, costs.skip_run) + 1):
        cost = lattice.fixes[count - 1 - step].best + step * costs.end_cost
        if cost < least:
            least = cost
            fix = count - 1 - step
    state = _cheapest(lattice, fix)
    while True:
        chosen[fix] = state
        code = lattice.states[lattice.start[fix] + state].back
        if code == START:
            return chosen, joined
        step, state, broken = unpack(code)
        joined[fix] = not broken
        fix -= step
