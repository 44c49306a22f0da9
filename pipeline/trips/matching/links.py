"""The links between two fixes of a trace: which routes join their states, and at what cost.

    link(kit, lattice, step, before=3, now=4, extra=0.0, searches=0)
        ->  each state of fix 4 knows the cheapest way to arrive, and from which state of fix 3

A state remembers the state before it as a code, see `pack`.
"""

from typing import NamedTuple

import numpy as np

from pipeline.trips.matching.compiled import kernel
from pipeline.trips.matching.lattice import Lattice, Roads
from pipeline.trips.matching.path_table import PATH, look_near, look_up
from pipeline.trips.matching.search import (
    I32,
    I64,
    Record,
    Rows,
    SearchSpace,
    search,
    straight_m,
)
from pipeline.trips.matching.steps import (
    UNKNOWN,
    Step,
    least_cost,
    on_same_street,
    step_cost,
)

START = -1
_STATES = 4096  # more than 2 * 64 candidates a fix


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
        np.empty(most * most, PATH),
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
def sort_sources(kit: Kit, lattice: Lattice, before: int, limit: float) -> int:
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
    route.turning = path.turning
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
            route.turning = label.turning
            route.first = label.first
            route.last = label.last


@kernel
def is_between(kit: Kit, a: Record, edge_a: Record, b: Record, edge_b: Record) -> bool:
    """Tell whether driving from a to b takes a route between their edges."""
    if edge_a.v == edge_b.u:
        return False
    return bool(on_same_street(kit.costs, a, edge_a, b, edge_b) < 0)


@kernel
def may_pay(
    kit: Kit, step: Step, a: Record, edge_a: Record, b: Record, edge_b: Record, budget: float
) -> bool:
    """Tell whether driving from a to b may cost less than `budget`.

    No route beats the straight line. It may turn round where it begins or ends, which has its own
    cost. A hundredth of a nat is left for the rounding of lengths.
    """
    graph = kit.roads.graph
    budget += 0.01
    rest_a = edge_a.length - a.offset
    ahead = straight_m(graph, edge_a.v, edge_b.u)
    if least_cost(step, rest_a + ahead + b.offset) < budget:
        return True
    budget -= kit.costs.u_turn_cost
    if budget <= 0:
        return False
    rest_b = edge_b.length - b.offset
    if edge_a.twin >= 0:
        back = straight_m(graph, edge_a.u, edge_b.u)
        if least_cost(step, a.offset + back + b.offset) < budget:
            return True
    if edge_b.twin >= 0:
        back = straight_m(graph, edge_a.v, edge_b.v)
        if least_cost(step, rest_a + back + rest_b) < budget:
            return True
    if edge_a.twin >= 0 and edge_b.twin >= 0:
        back = straight_m(graph, edge_a.u, edge_b.v)
        return bool(least_cost(step, a.offset + back + rest_b) < budget - kit.costs.u_turn_cost)
    return False


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
    count = sort_sources(kit, lattice, before, lattice.fixes[before].best + costs.beam)
    targets = _number_targets(kit, lattice, now)
    sources = 0
    for i in range(count):
        a = lattice.states[kit.scratch.sources[i]]
        cost_a = a.cost + extra
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
                if not may_pay(kit, step, a, edge_a, b, edge_b, least - cost_a):
                    continue
                hint = kit.scratch.source_hint[slot]
                place, known = look_near(roads.table, edge_a.v, edge_b.u, hint)
                kit.scratch.source_hint[slot] = place
                _take_route(roads, route, place, known)
                if not known and searches > 0:
                    searches -= 1
                    _search_routes(kit, slot, targets, step)
            budget = b.cost - cost_a
            cost, turns = step_cost(roads.graph, costs, step, a, b, route, budget)
            cost += cost_a
            if cost < b.cost:
                b.cost = cost
                b.turned = step.arrive if turns else a.turned
                b.back = code
                fix.best = min(fix.best, cost + b.away)


@kernel
def against_m(kit: Kit, a: Record, b: Record) -> float:
    """Return the metres from a to b against the direction of the roads, infinite for none.

    At least one of both must be on a one-way street. Only paths of the table count.
    """
    edges = kit.roads.graph.edges
    edge_a = edges[a.edge]
    edge_b = edges[b.edge]
    if edge_a.twin >= 0 and edge_b.twin >= 0:
        return np.inf
    if a.edge == b.edge:
        return float(a.offset - b.offset) if a.offset > b.offset else np.inf
    metres = edge_b.length - b.offset + a.offset
    if edge_b.v != edge_a.u:
        place = look_up(kit.roads.table, edge_b.v, edge_a.u)
        if place < 0:
            return np.inf
        metres += kit.roads.table.paths[place].length
    return float(metres)


@kernel
def against_cost(costs: Record, step: Step, metres: float) -> float:
    """Return the cost of driving so many metres against a one-way street."""
    least = costs.against_cost * max(1.0, metres / costs.against_run_m)
    return float(max(least, costs.against_m / step.beta))


@kernel
def link_against(
    kit: Kit, lattice: Lattice, step: Step, before: int, now: int, extra: float
) -> None:
    """Offer the ways against one-way streets from fix `before` to fix `now`, each a break."""
    costs = kit.costs
    fix = lattice.fixes[now]
    least = against_cost(costs, step, 0.0)
    count = sort_sources(kit, lattice, before, lattice.fixes[before].best + costs.beam)
    for i in range(count):
        a = lattice.states[kit.scratch.sources[i]]
        cost_a = a.cost + extra
        code = pack(now - before, kit.scratch.sources[i] - lattice.start[before], True)
        for at in range(lattice.start[now], lattice.start[now + 1]):
            b = lattice.states[at]
            if cost_a + least + b.away > fix.best + costs.beam:
                break
            if cost_a + least < b.cost:
                metres = against_m(kit, a, b)
                cost = cost_a + against_cost(costs, step, metres)
                cost += abs(metres - step.straight) / step.beta
                if cost < b.cost:
                    b.cost = cost
                    b.turned = -np.inf
                    b.back = code
                    fix.best = min(fix.best, cost + b.away)
