"""How sure the choice of each fix is: the distance in cost to the best path that goes elsewhere.

    a fix on a bridge over an equal road below  ->  margin 0.0, confidence 0.50
    a fix on the only road around               ->  margin inf, confidence 1.00

As in soft-output Viterbi decoding: where the chosen path beats another one that joins it, all fixes
back to where the two parted are no surer than the difference.
"""

import numpy as np

from pipeline.trips.matching.compiled import kernel
from pipeline.trips.matching.lattice import Lattice, Roads
from pipeline.trips.matching.links import (
    START,
    Kit,
    is_between,
    look_up_route,
    may_pay,
    unpack,
)
from pipeline.trips.matching.search import Record
from pipeline.trips.matching.steps import Step, step_cost, step_of


@kernel
def _same_place(roads: Roads, a: Record, b: Record, sigma: float) -> bool:
    """Tell whether two states are one place: one road, or both sides of a node passed through."""
    if a.edge == b.edge:
        return True
    edge_a = roads.graph.edges[a.edge]
    edge_b = roads.graph.edges[b.edge]
    if edge_a.twin == b.edge:
        return False
    if edge_a.v == edge_b.u and edge_a.length - a.offset + b.offset <= sigma:
        return True
    return bool(edge_b.v == edge_a.u and edge_b.length - b.offset + a.offset <= sigma)


@kernel
def _mark(kit: Kit, lattice: Lattice, number: int, at: int, gap: float) -> None:
    """Lower the margins from a rival state back to where its path meets the chosen one."""
    while True:
        fix = lattice.fixes[number]
        if fix.chosen == at:
            return
        if fix.chosen >= 0:
            best = lattice.states[fix.chosen]
            if not _same_place(kit.roads, best, lattice.states[at], lattice.sigma):
                if fix.margin <= gap:
                    return
                fix.margin = gap
        code = lattice.states[at].back
        if code <= START:
            return
        step, state, _ = unpack(code)
        number -= step
        at = lattice.start[number] + state


@kernel
def _arrival(kit: Kit, step: Step, a: Record, b: Record, limit: float) -> float:
    """Return the cost of arriving at b from a; infinite beyond the table or from `limit` on."""
    edge_a = kit.roads.graph.edges[a.edge]
    edge_b = kit.roads.graph.edges[b.edge]
    route = kit.scratch.routes[0]
    route.length = np.inf
    if is_between(kit, a, edge_a, b, edge_b):
        if not may_pay(kit, step, a, edge_a, b, edge_b, limit - a.cost):
            return np.inf
        look_up_route(kit.roads, route, edge_a.v, edge_b.u)
    return float(a.cost + step_cost(kit.roads.graph, kit.costs, step, a, b, route, np.inf)[0])


@kernel
def _mark_rival(kit: Kit, lattice: Lattice, before: int, now: int) -> None:
    """Lower the margins along the second best way to the chosen state of fix `now`.

    Where the chosen route was searched beyond the table, its rivals are not known.
    """
    came = lattice.fixes[before].chosen
    b = lattice.states[lattice.fixes[now].chosen]
    step = step_of(kit.roads, kit.costs, lattice, before, now)
    least = _arrival(kit, step, lattice.states[came], b, np.inf)
    second = least + kit.costs.beam
    rival = -1
    # Decoding did not extend dearer states either.
    limit = lattice.fixes[before].best + kit.costs.beam
    for source in range(lattice.start[before], lattice.start[before + 1]):
        a = lattice.states[source]
        if source != came and a.cost < second and a.cost <= limit:
            cost = _arrival(kit, step, a, b, second)
            if cost < second:
                second = cost
                rival = source
    if rival >= 0:
        _mark(kit, lattice, before, rival, max(0.0, second - least))


@kernel
def set_margins(kit: Kit, lattice: Lattice) -> None:
    """Set how much dearer the best path is that has a chosen fix elsewhere (inf = none)."""
    after = -1
    for now in range(len(lattice.fixes) - 1, -1, -1):
        fix = lattice.fixes[now]
        if fix.chosen < 0:
            continue
        if after < 0 or not lattice.fixes[after].joined:
            for other in range(lattice.start[now], lattice.start[now + 1]):
                gap = lattice.states[other].cost - lattice.states[fix.chosen].cost
                if other != fix.chosen and gap < kit.costs.beam:
                    _mark(kit, lattice, now, other, gap)
        if fix.joined:
            before = now - 1
            while lattice.fixes[before].chosen < 0:
                before -= 1
            _mark_rival(kit, lattice, before, now)
        after = now
