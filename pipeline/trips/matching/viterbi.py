"""The most likely sequence of road positions of one trace (Newson and Krumm 2009, by routes).

    decode(...)  ->  chosen = [3, 0, -1, 2], joined = [False, True, False, True]
        fix 0 is on its candidate 3, fix 2 was left out as an outlier, fix 3 is joined to fix 1

One forward pass decides four things at once, each with a price in nats: which road a fix is on
(0.5 (distance / sigma)^2), which route joins two fixes (|route - straight line| / beta, more for
turning round or speeding), whether a fix is an outlier (`skip_cost`) and whether the trace breaks
(`break_cost`). A state remembers its predecessor as a code: see `pack`.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from pipeline.trips.matching.candidates import F64
from pipeline.trips.matching.path_table import Table, first_edge, look_up
from pipeline.trips.matching.search import F32, I32, Graph, SearchSpace, search
from pipeline.trips.matching.settings import Costs

UNKNOWN = -1.0
START = -1
_STATES = 4096  # more than 2 * 64 candidates a fix


class Fixes(NamedTuple):
    """The kept fixes of one trace (metres, seconds)."""

    x: F64
    y: F64
    arrive: F64
    depart: F64


class Lattice(NamedTuple):
    """The states of fix j are start[j]:start[j + 1], by distance from the fix."""

    start: npt.NDArray[np.int64]
    edge: I32
    distance: F32
    offset: F32
    away: F32  # cost of the distance from the fix
    cost: F64
    back: I32
    best: F64  # of each fix: the least cost of its states


class Links(NamedTuple):
    """Working arrays for the links between two fixes."""

    order: I32
    source_node: I32
    source_slot: I32
    target_node: I32
    target_slot: I32
    length: F32  # by source and target node: metres, UNKNOWN, or infinite
    weight: F32
    first: I32
    last: I32


@njit(cache=True, nogil=True)
def links_space(segments: int) -> Links:
    """Return working arrays for at most `segments` streets a fix."""
    most = 2 * segments
    return Links(
        np.empty(most, np.int32),
        np.empty(most, np.int32),
        np.empty(most, np.int32),
        np.empty(most, np.int32),
        np.empty(most, np.int32),
        np.empty(most * most, np.float32),
        np.empty(most * most, np.float32),
        np.empty(most * most, np.int32),
        np.empty(most * most, np.int32),
    )


@njit(inline="always")
def pack(step: int, state: int, broken: bool) -> int:
    """Return the code of a predecessor: `step` fixes back, its local state, and whether a break."""
    code = (step - 1) * _STATES + state
    return -2 - code if broken else code


@njit(inline="always")
def unpack(code: int) -> tuple[int, int, bool]:
    """Return step, local state and whether the link is a break; not for START."""
    broken = code < 0
    value = -2 - code if broken else code
    return value // _STATES + 1, value % _STATES, broken


@njit(inline="always")
def reach_of(table: Table, costs: Costs, gate: float) -> float:
    """Return the weight up to which routes are known or searched for a step with this gate."""
    if gate <= table.bound:
        return table.bound
    return min(1.5 * gate, costs.search_max_m)


@njit(inline="always")
def on_same_street(
    graph: Graph, costs: Costs, edge_a: int, offset_a: float, edge_b: int, offset_b: float
) -> float:
    """Return the metres driven without leaving the street of a, or UNKNOWN.

    A small step back is standing (0 m). Turning round within a two-way street counts the metres
    between the two places, not the way to its end.
    """
    if edge_a == edge_b and offset_b >= offset_a - costs.back_m:
        return max(0.0, offset_b - offset_a)
    if graph.twin[edge_a] == edge_b:
        return abs(graph.length[edge_b] - offset_b - offset_a)
    return UNKNOWN


@njit(cache=True, nogil=True)
def _fill_routes(
    graph: Graph,
    table: Table,
    space: SearchSpace,
    links: Links,
    slot: int,
    targets: int,
    reach: float,
) -> None:
    """Search the routes from one source node to all target nodes of a step."""
    source = links.source_node[slot]
    search(graph, space, source, reach, links.target_node, targets)
    stamp = space.counter[0]
    row = slot * len(links.order)
    for k in range(targets):
        node = links.target_node[k]
        if space.stamp[node] == stamp:
            links.length[row + k] = space.length[node]
            links.weight[row + k] = space.weight[node]
            links.first[row + k] = space.first[node]
            links.last[row + k] = space.last[node]
        else:
            links.length[row + k] = np.inf


@njit(inline="always")
def beta_of(costs: Costs, seconds: float) -> float:
    """Return the scale of the route cost (metres) of a step."""
    return max(costs.beta_min_m, costs.beta_mps * seconds)


@njit(inline="always")
def _rebate(costs: Costs, fixes: Fixes, before: int, now: int) -> float:
    straight = np.hypot(fixes.x[now] - fixes.x[before], fixes.y[now] - fixes.y[before])
    seconds = max(0.0, fixes.arrive[now] - fixes.depart[before])
    return costs.theta * straight / beta_of(costs, seconds)


@njit(cache=True, nogil=True)
def link(
    graph: Graph,
    table: Table,
    space: SearchSpace,
    links: Links,
    costs: Costs,
    fixes: Fixes,
    lattice: Lattice,
    sigma: float,
    before: int,
    now: int,
    extra: float,
    searching: bool,
) -> None:
    """Offer all routes from the states of fix `before` to those of fix `now`.

    `lattice.cost` of the states of `now` is the least cost of arriving so far and is only lowered.
    Sources are taken by cost and targets by distance, so that most pairs are refused before their
    route is looked up: a pair must beat the best arrival so far, and a state that ends more than
    `beam` above the best one would not be extended anyway.
    """
    straight = np.hypot(fixes.x[now] - fixes.x[before], fixes.y[now] - fixes.y[before])
    seconds = max(0.0, fixes.arrive[now] - fixes.depart[before])
    slack = 6.0 * sigma + 50.0
    if seconds > costs.gap_s or straight > costs.jump_mps * seconds + slack:
        return
    beta = max(costs.beta_min_m, costs.beta_mps * seconds)
    gate = costs.detour_factor * straight + costs.detour_m
    fair = max(max(straight, costs.speed_mps * seconds) + slack, 1.5 * straight + 100.0)
    theta = costs.theta / beta
    reach = reach_of(table, costs, gate)
    searches = costs.search_sources if searching and reach > table.bound else 0

    most = len(links.order)
    base_a = lattice.start[before]
    base_b = lattice.start[now]
    count_b = lattice.start[now + 1] - base_b
    limit = lattice.best[before] + costs.beam
    count_a = 0
    for a in range(lattice.start[before + 1] - base_a):
        cost = lattice.cost[base_a + a]
        if cost > limit:
            continue
        i = count_a
        while i > 0 and lattice.cost[base_a + links.order[i - 1]] > cost:
            links.order[i] = links.order[i - 1]
            i -= 1
        links.order[i] = a
        count_a += 1
    targets = 0
    for b in range(count_b):
        node = graph.u[lattice.edge[base_b + b]]
        slot = 0
        while slot < targets and links.target_node[slot] != node:
            slot += 1
        if slot == targets:
            links.target_node[slot] = node
            targets += 1
        links.target_slot[b] = slot
    sources = 0
    for i in range(count_a):
        a = links.order[i]
        edge_a = lattice.edge[base_a + a]
        offset_a = np.float64(lattice.offset[base_a + a])
        cost_a = lattice.cost[base_a + a] + extra - theta * straight
        node_a = graph.v[edge_a]
        twin_a = graph.twin[edge_a]
        rest = graph.length[edge_a] - offset_a
        pace_a = graph.weight[edge_a] / max(graph.length[edge_a], np.float32(0.01))
        slot = 0
        while slot < sources and links.source_node[slot] != node_a:
            slot += 1
        row = slot * most
        if slot == sources:
            links.source_node[slot] = node_a
            sources += 1
            for k in range(targets):
                links.length[row + k] = UNKNOWN
        for b in range(count_b):
            at = base_b + b
            away_b = np.float64(lattice.away[at])
            if cost_a + away_b > lattice.best[now] + costs.beam:
                break
            if cost_a >= lattice.cost[at]:
                continue
            edge_b = lattice.edge[at]
            offset_b = np.float64(lattice.offset[at])
            pace_b = graph.weight[edge_b] / max(graph.length[edge_b], np.float32(0.01))
            turns = 0.0
            weight = 0.0
            length = on_same_street(graph, costs, edge_a, offset_a, edge_b, offset_b)
            if length >= 0:
                weight = length * pace_a
                if edge_a != edge_b:
                    turns = costs.u_turn_cost
            else:
                node_b = graph.u[edge_b]
                if node_a == node_b:
                    length = rest + offset_b
                    weight = rest * pace_a + offset_b * pace_b
                else:
                    k = row + links.target_slot[b]
                    if links.length[k] == UNKNOWN:
                        hit = look_up(table, node_a, node_b)
                        if hit >= 0:
                            links.length[k] = table.length[hit]
                            links.weight[k] = table.weight[hit]
                            links.first[k] = first_edge(graph, table, node_a, hit)
                            links.last[k] = table.last[hit]
                        elif searches > 0:
                            searches -= 1
                            _fill_routes(graph, table, space, links, slot, targets, reach)
                        else:
                            links.length[k] = np.inf
                    length = rest + links.length[k] + offset_b
                    weight = rest * pace_a + links.weight[k] + offset_b * pace_b
                    if length > gate:
                        continue
                    if twin_a >= 0 and links.first[k] == twin_a:
                        turns += costs.u_turn_cost
                    if graph.twin[edge_b] >= 0 and links.last[k] == graph.twin[edge_b]:
                        turns += costs.u_turn_cost
            if length > gate:
                continue
            cost = cost_a + abs(length - straight) / beta + turns + weight * theta
            if length > fair:
                cost += (length - fair) / costs.speed_slack_m
            if cost < lattice.cost[at]:
                lattice.cost[at] = cost
                lattice.back[at] = pack(now - before, a, False)
                if cost + away_b < lattice.best[now]:
                    lattice.best[now] = cost + away_b


@njit(cache=True, nogil=True)
def _open_fix(lattice: Lattice, now: int, arrival: float, code: int) -> None:
    """Let every state of a fix start a part at the cost `arrival`."""
    begin = lattice.start[now]
    end = lattice.start[now + 1]
    lattice.cost[begin:end] = arrival
    lattice.back[begin:end] = code
    lattice.best[now] = arrival + lattice.away[begin]


@njit(cache=True, nogil=True)
def _new_part(lattice: Lattice, costs: Costs, now: int) -> tuple[float, int]:
    """Return the cost of starting a part at fix `now` and the code of the state before it."""
    arrival = np.inf
    code = START
    if now <= costs.skip_run:
        arrival = now * costs.end_cost
    for step in range(1, min(now, costs.skip_run + 1) + 1):
        before = now - step
        cost = lattice.best[before] + costs.break_cost + (step - 1) * costs.skip_cost
        if cost < arrival:
            arrival = cost
            code = pack(step, _cheapest(lattice, before), True)
    return arrival, code


@njit(cache=True, nogil=True)
def _cheapest(lattice: Lattice, fix: int) -> int:
    """Return the local number of the cheapest state, the nearest road among equals."""
    return int(np.argmin(lattice.cost[lattice.start[fix] : lattice.start[fix + 1]]))


@njit(cache=True, nogil=True)
def decode(
    graph: Graph,
    table: Table,
    space: SearchSpace,
    links: Links,
    costs: Costs,
    fixes: Fixes,
    lattice: Lattice,
    sigma: float,
) -> tuple[I32, npt.NDArray[np.bool_]]:
    """Return the chosen local state of each fix (-1 = left out) and whether it is joined.

    Every fix must have at least one state. Skipping is only tried where it can pay: a state reached
    over a left-out fix costs at least the best state before it plus `skip_cost`.
    """
    count = len(fixes.x)
    for now in range(count):
        arrival, code = _new_part(lattice, costs, now)
        _open_fix(lattice, now, arrival, code)
        for step in range(1, min(now, costs.skip_run + 1) + 1):
            before = now - step
            extra = (step - 1) * costs.skip_cost
            if lattice.best[before] + extra - _rebate(costs, fixes, before, now) < lattice.best[now]:
                link(
                    graph, table, space, links, costs, fixes, lattice, sigma, before, now, extra,
                    False,
                )  # fmt: skip
                # Beyond the table: only where what it knows cannot explain the step.
                if lattice.best[now] > lattice.best[before] + extra + costs.skip_cost:
                    link(
                        graph, table, space, links, costs, fixes, lattice, sigma, before, now,
                        extra, True,
                    )  # fmt: skip
        for at in range(lattice.start[now], lattice.start[now + 1]):
            lattice.cost[at] += lattice.away[at]
    return _back_track(costs, lattice, count)


@njit(cache=True, nogil=True)
def _back_track(costs: Costs, lattice: Lattice, count: int) -> tuple[I32, npt.NDArray[np.bool_]]:
    chosen = np.full(count, -1, np.int32)
    joined = np.zeros(count, np.bool_)
    last = count - 1
    for step in range(1, min(count - 1, costs.skip_run) + 1):
        skipped = lattice.best[count - 1 - step] + step * costs.end_cost
        if skipped < lattice.best[last] + (count - 1 - last) * costs.end_cost:
            last = count - 1 - step
    fix = last
    state = _cheapest(lattice, fix)
    while True:
        chosen[fix] = state
        code = lattice.back[lattice.start[fix] + state]
        if code == START:
            return chosen, joined
        step, state, broken = unpack(code)
        joined[fix] = not broken
        fix -= step
