"""What a step from one fix to the next costs, by the route between two road positions.

step_of(...)    ->  120 m straight, 15 s: beta 12 m, no route longer than 740 m
step_cost(...)  ->  route of 131 m, no turning round: 0.9 + 0.1 nats
"""

from typing import NamedTuple

import numpy as np

from pipeline.trips.matching.compiled import kernel
from pipeline.trips.matching.lattice import Lattice, Roads
from pipeline.trips.matching.search import Goal, Record

ROUTE = np.dtype([("length", "f4"), ("weight", "f4"), ("first", "i4"), ("last", "i4")])
"""The route between two nodes; `length` may be UNKNOWN (not looked up) or infinite (none)."""
UNKNOWN = np.float32(-1.0)


class Step(NamedTuple):
    """What two fixes have to do with each other, whatever roads they are on."""

    barred: bool  # too far apart in time or for any speed
    straight: float
    beta: float
    theta: float
    rebate: float
    gate: float  # no route longer than this (metres)
    fair: float  # routes longer than this are faster than the speed limit of the settings
    reach: float  # weight up to which routes are known or searched
    goal: Goal  # where a search for a route beyond the table is going


@kernel
def step_of(roads: Roads, costs: Record, lattice: Lattice, before: int, now: int) -> Step:
    """Return the figures of the step between two fixes."""
    earlier = lattice.fixes[before]
    later = lattice.fixes[now]
    straight = np.hypot(later.x - earlier.x, later.y - earlier.y)
    seconds = max(0.0, later.arrive - earlier.depart)
    slack = 6.0 * lattice.sigma + 50.0
    beta = max(costs.beta_min_m, costs.beta_mps * seconds)
    theta = costs.theta / beta
    gate = costs.detour_factor * straight + costs.detour_m
    reach = roads.table.bound
    if gate > reach:
        # Weights are metres at mean speed: slow roads weigh more than their length.
        reach = max(reach, min(1.5 * gate, costs.search_max_m))
    return Step(
        # One second more, since clocks often give whole seconds.
        seconds > costs.gap_s or straight > costs.jump_mps * (seconds + 1.0) + slack,
        straight,
        beta,
        theta,
        theta * straight,
        gate,
        max(max(straight, costs.speed_mps * seconds) + slack, 1.5 * straight + 100.0),
        reach,
        Goal(later.x, later.y, max(costs.radius_m, costs.wide_radius_m), gate),
    )


@kernel
def on_same_street(costs: Record, a: Record, edge_a: Record, b: Record, edge_b: Record) -> float:
    """Return the metres driven from a to b without leaving their street, UNKNOWN if they must.

    A small step back is standing (0 m). Turning round within a two-way street counts the metres
    between the two places, not the way to its end.
    """
    if a.edge == b.edge:
        if b.offset >= a.offset - costs.back_m:
            return float(max(np.float32(0.0), b.offset - a.offset))
    elif edge_a.twin == b.edge:
        return float(abs(edge_b.length - b.offset - a.offset))
    return float(UNKNOWN)


@kernel
def least_cost(step: Step, a: Record, rest: float, b: Record, straight: float) -> float:
    """Return what driving from a to b over a route between their edges costs at least.

    Args:
        step: What the two fixes have to do with each other.
        a: Where the drive begins.
        rest: Metres from there to the end of its edge.
        b: Where the drive ends.
        straight: Metres the route between the two edges has at least.
    """
    length = rest + straight + b.offset
    weight = rest * a.pace + b.offset * b.pace
    if length > step.gate:
        return np.inf
    return float(max(0.0, length - step.straight) / step.beta + step.theta * weight)


@kernel
def step_cost(
    costs: Record,
    step: Step,
    a: Record,
    edge_a: Record,
    b: Record,
    edge_b: Record,
    route: Record,
) -> float:
    """Return the cost of driving from state a to state b over a route between their edges.

    |length - straight line| / beta, as Newson and Krumm; then a share of the travel time beyond
    that of the straight line, since drivers choose by time (`step.rebate` was taken off before);
    then turning round, at a node or in a street, and driving faster than the settings allow.
    """
    turns = 0
    length = np.float64(on_same_street(costs, a, edge_a, b, edge_b))
    weight = length * a.pace
    if length >= 0:
        turns = a.edge != b.edge
    else:
        rest = edge_a.length - a.offset
        length = rest + b.offset
        weight = rest * a.pace + b.offset * b.pace
        if edge_a.v != edge_b.u:
            length += route.length
            weight += route.weight
            turns += edge_a.twin >= 0 and route.first == edge_a.twin
            turns += edge_b.twin >= 0 and route.last == edge_b.twin
    if length > step.gate:
        return np.inf
    cost = abs(length - step.straight) / step.beta + step.theta * weight + turns * costs.u_turn_cost
    if length > step.fair:
        cost += (length - step.fair) / costs.speed_slack_m
    return float(cost)
