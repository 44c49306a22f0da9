"""How sure the choice of each fix is: the distance in cost to the best path that goes elsewhere.

    a fix on a bridge over an equal road below  ->  margin 0.0, confidence 0.50
    a fix on the only road around               ->  margin inf, confidence 1.00

As in soft-output Viterbi decoding: where the chosen path beats another one that joins it, all fixes
back to where the two parted are no surer than the difference.
"""

import numpy as np
import numpy.typing as npt
from numba import njit

from pipeline.trips.matching.lattice import Lattice, Roads
from pipeline.trips.matching.search import F64, I32, Record
from pipeline.trips.matching.steps import step_cost, step_of
from pipeline.trips.matching.viterbi import START, Space, look_up_route, unpack


@njit
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


@njit
def _mark(
    roads: Roads, lattice: Lattice, chosen: I32, margin: F64, fix: int, at: int, gap: float,
    sigma: float,
) -> None:  # fmt: skip
    """Lower the margins from a rival state back to where its path meets the chosen one."""
    while True:
        if chosen[fix] >= 0:
            best = lattice.start[fix] + chosen[fix]
            if best == at:
                return
            if not _same_place(roads, lattice.states[best], lattice.states[at], sigma):
                if margin[fix] <= gap:
                    return
                margin[fix] = gap
        code = lattice.states[at].back
        if code <= START:
            return
        step, state, _ = unpack(code)
        fix -= step
        at = lattice.start[fix] + state


@njit
def _rival(
    roads: Roads, space: Space, costs: Record, lattice: Lattice, sigma: float,
    before: int, now: int, came: int, at: int,
) -> tuple[int, float]:  # fmt: skip
    """Return the second best state to come from, and how much dearer it is (-1, inf for none)."""
    step = step_of(roads, costs, lattice.fixes[before], lattice.fixes[now], sigma)
    b = lattice.states[at]
    edge_b = roads.graph.edges[b.edge]
    least = np.inf
    second = np.inf
    rival = -1
    for source in range(lattice.start[before], lattice.start[before + 1]):
        a = lattice.states[source]
        if source != came and a.cost >= min(second, lattice.fixes[before].best + costs.beam):
            continue
        edge_a = roads.graph.edges[a.edge]
        route = space.routes[0]
        route.length = np.inf
        if edge_a.v != edge_b.u:
            look_up_route(roads, route, edge_a.v, edge_b.u)
        cost = a.cost + step_cost(costs, step, a, edge_a, b, edge_b, route)
        if source == came:
            least = cost
        elif cost < second:
            second = cost
            rival = source
    if least == np.inf:
        # The chosen route was searched beyond the table: its rivals are not known.
        return -1, np.inf
    return rival, max(0.0, second - least)


@njit
def margins(
    roads: Roads,
    space: Space,
    costs: Record,
    lattice: Lattice,
    chosen: I32,
    joined: npt.NDArray[np.bool_],
    sigma: float,
) -> F64:
    """Return for each fix how much dearer the best path is that has it elsewhere (inf = none)."""
    margin = np.full(len(chosen), np.inf)
    after = -1
    for now in range(len(chosen) - 1, -1, -1):
        if chosen[now] < 0:
            continue
        at = lattice.start[now] + chosen[now]
        if after < 0 or not joined[after]:
            for other in range(lattice.start[now], lattice.start[now + 1]):
                gap = lattice.states[other].cost - lattice.states[at].cost
                if other != at and gap < costs.beam:
                    _mark(roads, lattice, chosen, margin, now, other, gap, sigma)
        if joined[now]:
            before = now - 1
            while chosen[before] < 0:
                before -= 1
            came = lattice.start[before] + chosen[before]
            rival, gap = _rival(roads, space, costs, lattice, sigma, before, now, came, at)
            if rival >= 0 and gap < costs.beam:
                _mark(roads, lattice, chosen, margin, before, rival, gap, sigma)
        after = now
    return margin
