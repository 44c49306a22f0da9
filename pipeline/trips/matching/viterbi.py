"""The most likely sequence of road positions of one trace (Newson and Krumm 2009, by routes).

    decode(...)  ->  chosen = [3, 0, -1, 2], joined = [False, True, False, True]
        fix 0 is on its state 3, fix 2 was left out as an outlier, fix 3 is joined to fix 1

One forward pass decides four things at once, each with a price in nats: which road a fix is on
(0.5 (distance / sigma)^2), which route joins two fixes (`steps.step_cost`), whether a fix is an
outlier (`skip_cost`) and whether the trace breaks (`break_cost`).
"""

import numpy as np

from pipeline.trips.matching.compiled import kernel
from pipeline.trips.matching.lattice import Lattice
from pipeline.trips.matching.links import (
    START,
    Kit,
    against_cost,
    link,
    link_against,
    pack,
    unpack,
)
from pipeline.trips.matching.search import Record
from pipeline.trips.matching.steps import step_of

# A fix at a node is on all its roads alike; a part begins on the one it leaves by and ends on the
# one it came by, not on another that it only touches.
_TOUCH_M = 0.05
_TOUCH_COST = 0.01


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
def _weight(lattice: Lattice, begin: int, end: int) -> float:
    """Return what the fixes begin..end-1 weigh together."""
    weight = 0.0
    for j in range(begin, end):
        weight += lattice.fixes[j].weight
    return weight


@kernel
def _end_cost(costs: Record, lattice: Lattice, number: int, beside: int) -> float:
    """Return the cost of leaving out a fix at an end: the more, the longer the way that is lost."""
    fix = lattice.fixes[number]
    other = lattice.fixes[beside]
    seconds = max(other.arrive - fix.depart, fix.arrive - other.depart)
    return float(costs.end_cost * fix.weight * max(1.0, seconds / costs.end_s))


@kernel
def _open_fix(kit: Kit, lattice: Lattice, now: int) -> None:
    """Let every state of a fix start a part: at the beginning, or after a break."""
    costs = kit.costs
    arrival = np.inf
    code = START
    if now <= costs.skip_run:
        arrival = 0.0
        for j in range(now):
            arrival += _end_cost(costs, lattice, j, j + 1)
    broken = 0
    last = len(lattice.fixes) - 1
    for step in range(1, min(now, costs.skip_run + 1) + 1):
        left_out = costs.skip_cost * _weight(lattice, now - step + 1, now)
        cost = costs.break_cost
        # A part of one fix at an end is no part, but an end left out.
        if now == step:
            cost = max(cost, _end_cost(costs, lattice, 0, 1))
        if now == last:
            cost = max(cost, _end_cost(costs, lattice, last, last - 1))
        cost += lattice.fixes[now - step].best + left_out
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
        state.turned = -np.inf
        state.back = code
    lattice.fixes[now].best = arrival + lattice.states[begin].away


@kernel
def _reach_fix(kit: Kit, lattice: Lattice, now: int, back: int) -> None:
    """Link fix `now` to the one `back` fixes before it, leaving out those between, if it can pay.

    A state reached that way costs at least the best state before it plus the fixes left out.
    """
    before = now - back
    extra = kit.costs.skip_cost * _weight(lattice, before + 1, now)
    step = step_of(kit.roads, kit.costs, lattice, before, now)
    floor = lattice.fixes[before].best + extra
    if step.barred or floor >= lattice.fixes[now].best:
        return
    link(kit, lattice, step, before, now, extra, 0)
    # Beyond the table: only where what it knows cannot explain the step.
    known = lattice.fixes[now].best <= floor + kit.costs.skip_cost * lattice.fixes[now].weight
    if step.reach > kit.roads.table.bound and not known:
        link(kit, lattice, step, before, now, extra, kit.costs.search_sources)
    if floor + against_cost(kit.costs, step, 0.0) < lattice.fixes[now].best:
        link_against(kit, lattice, step, before, now, extra)


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
    left_out = 0.0
    for step in range(1, min(count - 1, costs.skip_run) + 1):
        left_out += _end_cost(costs, lattice, count - step, count - 1 - step)
        cost = lattice.fixes[count - 1 - step].best + left_out
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
