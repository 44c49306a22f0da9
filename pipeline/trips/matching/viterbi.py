"""The most likely sequence of road positions of one trace (Newson and Krumm 2009, by routes).

    decode(...)  ->  chosen = [3, 0, -1, 2], joined = [False, True, False, True]
        fix 0 is on its state 3, fix 2 was left out as an outlier, fix 3 is joined to fix 1

One forward pass decides four things at once, each with a price in nats: which road a fix is on
(0.5 (distance / sigma)^2), which route joins two fixes (`steps.step_cost`), whether a fix is an
outlier (`skip_cost`) and whether the trace breaks (`break_cost`). A state remembers the state
before it as a code, see `pack`.
"""

from typing import NamedTuple

import numpy as np

from pipeline.trips.matching.compiled import kernel
from pipeline.trips.matching.lattice import Lattice, Roads
from pipeline.trips.matching.path_table import look_near, look_up
from pipeline.trips.matching.search import (
    I32,
    I64,
    Graph,
    Record,
    Rows,
    SearchSpace,
    search,
    straight_m,
)
from pipeline.trips.matching.steps import (
    ROUTE,
    UNKNOWN,
    Step,
    least_cost,
    on_same_street,
    step_cost,
    step_of,
)

START = -1
_STATES = 4096  # more than 2 * 64 candidates a fix
# A fix at a node is on all its roads alike; a part begins on the one it leaves by and ends on the
# one it came by, not on another that it only touches.
_TOUCH_M = 0.05
_TOUCH_COST = 0.01


class Scratch(NamedTuple):
    """Working arrays for the links between two fixes."""

    sources: I32  # states of the earlier fix, by cost
    source_node: I32
    source_hint: I64  # where in the table the last route from that node was found
    target_node: I32
    target_slot: I32
    routes: Rows  # by source and target node
    chain: I32  # edges of one route, last first


class Kit(NamedTuple):
    """What a thread works with: the network, the settings, and its own working arrays."""

    roads: Roads
    costs: Record
    space: SearchSpace
    scratch: Scratch


@kernel
def scratch_for(roads: Roads, segments: int) -> Scratch:
    """Return working arrays for at most `segments` streets a fix."""
    most = 2 * segments
    return Scratch(
        np.empty(most, np.int32),
        np.empty(most, np.int32),
        np.empty(most, np.int64),
        np.empty(most, np.int32),
        np.empty(most, np.int32),
        np.empty(most * most, ROUTE),
        np.empty(len(roads.graph.out_start), np.int32),
    )


@kernel
def pack(step: int, state: int, broken: bool) -> int:
    """Return the code of a predecessor: `step` fixes back, its local state, and whether a break."""
    code = (step - 1) * _STATES + state
    return -2 - code if broken else code


@kernel
def unpack(code: int) -> tuple[int, int, bool]:
    """Return step, local state and whether the link is a break; not for START."""
    broken = code < 0
    value = -2 - code if broken else code
    return value // _STATES + 1, value % _STATES, broken


@kernel
def _sort_sources(kit: Kit, lattice: Lattice, before: int, limit: float) -> int:
    """List the states of a fix that cost at most `limit`, by cost; return how many."""
    count = 0
    for at in range(lattice.start[before], lattice.start[before + 1]):
        cost = lattice.states[at].cost
        if cost > limit:
            continue
        i = count
        while i > 0 and lattice.states[kit.scratch.sources[i - 1]].cost > cost:
            kit.scratch.sources[i] = kit.scratch.sources[i - 1]
            i -= 1
        kit.scratch.sources[i] = at
        count += 1
    return count


@kernel
def _number_targets(kit: Kit, lattice: Lattice, now: int) -> int:
    """Give each distinct first node of the roads of a fix a number; return how many."""
    count = 0
    begin = lattice.start[now]
    for at in range(begin, lattice.start[now + 1]):
        node = kit.roads.graph.edges[lattice.states[at].edge].u
        slot = 0
        while slot < count and kit.scratch.target_node[slot] != node:
            slot += 1
        if slot == count:
            kit.scratch.target_node[slot] = node
            count += 1
        kit.scratch.target_slot[at - begin] = slot
    return count


@kernel
def _source_row(kit: Kit, node: int, sources: int, targets: int) -> int:
    """Return the number of a source node; a new one gets a row of unknown routes."""
    slot = 0
    while slot < sources and kit.scratch.source_node[slot] != node:
        slot += 1
    if slot == sources:
        kit.scratch.source_node[slot] = node
        table = kit.roads.table
        kit.scratch.source_hint[slot] = (table.start[node] + table.start[node + 1]) >> 1
        row = slot * len(kit.scratch.sources)
        for k in range(row, row + targets):
            kit.scratch.routes[k].length = UNKNOWN
    return slot


@kernel
def look_up_route(roads: Roads, route: Record, source: int, target: int) -> bool:
    """Fill a route from the table; tell whether the table has it."""
    hit = look_up(roads.table, source, target)
    _take_route(roads, route, hit, hit >= 0)
    return bool(hit >= 0)


@kernel
def _take_route(roads: Roads, route: Record, place: int, known: bool) -> None:
    """Copy a path of the table; one that it does not have is endless."""
    if not known:
        route.length = np.inf
        return
    path = roads.table.paths[place]
    route.length = path.length
    route.weight = path.weight
    route.first = path.first
    route.last = path.last


@kernel
def _search_routes(kit: Kit, slot: int, targets: int, step: Step) -> None:
    """Search the routes from one source node to all target nodes of a step."""
    search(
        kit.roads.graph,
        kit.space,
        kit.scratch.source_node[slot],
        step.reach,
        step.goal,
        kit.scratch.target_node,
        targets,
    )
    for k in range(targets):
        label = kit.space.labels[kit.scratch.target_node[k]]
        route = kit.scratch.routes[slot * len(kit.scratch.sources) + k]
        route.length = np.inf
        if label.stamp == kit.space.counter[0]:
            route.length = label.length
            route.weight = label.weight
            route.first = label.first
            route.last = label.last


@kernel
def is_between(kit: Kit, a: Record, edge_a: Record, b: Record, edge_b: Record) -> bool:
    """Tell whether driving from a to b takes a route between their edges."""
    if edge_a.v == edge_b.u:
        return False
    return bool(on_same_street(kit.costs, a, edge_a, b, edge_b) < 0)


@kernel
def least_arrival(
    graph: Graph, step: Step, a: Record, edge_a: Record, b: Record, edge_b: Record
) -> float:
    """Return what driving from a to b costs at least: no route beats the straight line.

    A hundredth of a nat less than that, for the rounding of lengths.
    """
    straight = straight_m(graph, edge_a.v, edge_b.u)
    return least_cost(step, a, edge_a.length - a.offset, b, straight) - 0.01


@kernel
def link(
    kit: Kit,
    lattice: Lattice,
    step: Step,
    before: int,
    now: int,
    extra: float,
    searches: int,
) -> None:
    """Offer all routes from the states of fix `before` to those of fix `now`.

    Sources are taken by cost and targets by distance, so that most pairs are refused before their
    route is looked up: a pair must beat the best arrival so far, even if its route were the
    straight line, and a state that ends more than `beam` above the best one would not be extended.

    Args:
        kit: Network, settings and working arrays.
        lattice: The cost of each state of `now` is that of the best arrival so far.
        step: What the two fixes have to do with each other.
        before: Number of the earlier fix.
        now: Number of the later fix.
        extra: Cost of the fixes left out between them.
        searches: Number of sources whose routes may be searched where the table has none.
    """
    roads = kit.roads
    costs = kit.costs
    begin = lattice.start[now]
    end = lattice.start[now + 1]
    fix = lattice.fixes[now]
    count = _sort_sources(kit, lattice, before, lattice.fixes[before].best + costs.beam)
    targets = _number_targets(kit, lattice, now)
    sources = 0
    for i in range(count):
        a = lattice.states[kit.scratch.sources[i]]
        cost_a = a.cost + extra - step.rebate
        if cost_a + lattice.states[begin].away > fix.best + costs.beam:
            break
        edge_a = roads.graph.edges[a.edge]
        slot = _source_row(kit, edge_a.v, sources, targets)
        sources = max(sources, slot + 1)
        row = slot * len(kit.scratch.sources)
        code = pack(now - before, kit.scratch.sources[i] - lattice.start[before], False)
        for at in range(begin, end):
            b = lattice.states[at]
            if cost_a + b.away > fix.best + costs.beam:
                break
            if cost_a >= b.cost:
                continue
            edge_b = roads.graph.edges[b.edge]
            route = kit.scratch.routes[row + kit.scratch.target_slot[at - begin]]
            if route.length == UNKNOWN and is_between(kit, a, edge_a, b, edge_b):
                least = min(b.cost, fix.best + costs.beam - b.away)
                if cost_a + least_arrival(roads.graph, step, a, edge_a, b, edge_b) >= least:
                    continue
                hint = kit.scratch.source_hint[slot]
                place, known = look_near(roads.table, edge_a.v, edge_b.u, hint)
                kit.scratch.source_hint[slot] = place
                _take_route(roads, route, place, known)
                if not known and searches > 0:
                    searches -= 1
                    _search_routes(kit, slot, targets, step)
            cost = cost_a + step_cost(costs, step, a, edge_a, b, edge_b, route)
            if cost < b.cost:
                b.cost = cost
                b.back = code
                fix.best = min(fix.best, cost + b.away)


@kernel
def _cheapest(lattice: Lattice, fix: int) -> int:
    """Return the local number of the state a part ends at: the cheapest, no edge only touched."""
    begin = lattice.start[fix]
    best = begin
    least = np.inf
    for at in range(begin, lattice.start[fix + 1]):
        state = lattice.states[at]
        cost = state.cost + (_TOUCH_COST if state.offset < _TOUCH_M else 0.0)
        if cost < least:
            least = cost
            best = at
    return int(best - begin)


@kernel
def _open_fix(kit: Kit, lattice: Lattice, now: int) -> None:
    """Let every state of a fix start a part: at the beginning, or after a break."""
    costs = kit.costs
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
        state = lattice.states[at]
        rest = kit.roads.graph.edges[state.edge].length - state.offset
        state.cost = arrival + (_TOUCH_COST if rest < _TOUCH_M else 0.0)
        state.back = code
    lattice.fixes[now].best = arrival + lattice.states[begin].away


@kernel
def _reach_fix(kit: Kit, lattice: Lattice, now: int, back: int) -> None:
    """Link fix `now` to the one `back` fixes before it, leaving out those between, if it can pay.

    A state reached that way costs at least the best state before it plus the fixes left out.
    """
    before = now - back
    extra = (back - 1) * kit.costs.skip_cost
    step = step_of(kit.roads, kit.costs, lattice, before, now)
    floor = lattice.fixes[before].best + extra
    if step.barred or floor - step.rebate >= lattice.fixes[now].best:
        return
    link(kit, lattice, step, before, now, extra, 0)
    # Beyond the table: only where what it knows cannot explain the step.
    known = lattice.fixes[now].best <= floor + kit.costs.skip_cost
    if step.reach > kit.roads.table.bound and not known:
        link(kit, lattice, step, before, now, extra, kit.costs.search_sources)


@kernel
def decode(kit: Kit, lattice: Lattice) -> None:
    """Set the chosen state of each fix (-1 = left out) and whether it is joined to the one before.

    Every fix must have at least one state, and the lattice at least one fix.
    """
    for now in range(len(lattice.fixes)):
        _open_fix(kit, lattice, now)
        for back in range(1, min(now, kit.costs.skip_run + 1) + 1):
            _reach_fix(kit, lattice, now, back)
        for at in range(lattice.start[now], lattice.start[now + 1]):
            lattice.states[at].cost += lattice.states[at].away
    _back_track(kit.costs, lattice)


@kernel
def _back_track(costs: Record, lattice: Lattice) -> None:
    count = len(lattice.fixes)
    last = count - 1
    least = lattice.fixes[last].best
    for step in range(1, min(count - 1, costs.skip_run) + 1):
        cost = lattice.fixes[count - 1 - step].best + step * costs.end_cost
        if cost < least:
            least = cost
            last = count - 1 - step
    number = last
    state = _cheapest(lattice, last)
    while True:
        fix = lattice.fixes[number]
        fix.chosen = lattice.start[number] + state
        code = lattice.states[fix.chosen].back
        if code == START:
            return
        step, state, broken = unpack(code)
        fix.joined = not broken
        number -= step
