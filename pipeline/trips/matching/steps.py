"""What a step from one fix to the next costs, by the route between two road positions.

step_of(...)    ->  120 m straight, 15 s: beta 12 m, no route longer than 740 m
step_cost(...)  ->  route of 131 m, no turning round: 0.9 + 0.1 nats
"""

from typing import NamedTuple

import numpy as np

from pipeline.trips.matching.compiled import kernel
from pipeline.trips.matching.lattice import Lattice, Roads
from pipeline.trips.matching.search import REFERENCE_KPH, Goal, Graph, Record, turning

SECONDS = 3.6 / REFERENCE_KPH
"""Seconds of a unit of weight."""
UNKNOWN = np.float32(-1.0)
"""Length of a path between two nodes that was not looked up yet; one that is none is infinite."""


class Step(NamedTuple):
    """What two fixes have to do with each other, whatever roads they are on."""

    barred: bool  # too far apart in time or for any speed
    straight: float
    fastest: float  # weight of the straight line on the fastest road near its ends
    beta: float
    seconds: float
    arrive: float  # time of the later fix
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
    gate = costs.detour_factor * straight + costs.detour_m
    reach = roads.table.bound
    if gate > reach:
        # Weights are metres at 30 km/h: slow roads weigh more than their length.
        reach = max(reach, min(1.5 * gate, costs.search_max_m))
    return Step(
        # One second more, since clocks often give whole seconds.
        seconds > costs.gap_s or straight > costs.jump_mps * (seconds + 1.0) + slack,
        straight,
        straight * min(earlier.pace, later.pace),
        beta,
        seconds,
        later.arrive,
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
def least_cost(step: Step, length: float) -> float:
    """Return what a drive of at least so many metres costs at least."""
    if length > step.gate:
        return np.inf
    return float(max(0.0, length - step.straight) / step.beta)


@kernel
def _over_nodes(
    graph: Graph, a: Record, b: Record, route: Record, longest: float
) -> tuple[float, float, int, float]:
    """Return length, weight, turns and bends of driving from a to b over the ends of their edges.

    Who turns round does so where the fix is, not at the end of the street. Without turning round a
    drive longer than `longest` is not looked at: its length is infinite.
    """
    edge_a = graph.edges[a.edge]
    edge_b = graph.edges[b.edge]
    rest = edge_a.length - a.offset
    length = np.float64(rest + b.offset)
    weight = np.float64(rest * a.pace + b.offset * b.pace)
    if edge_a.v == edge_b.u:
        return length, weight, 0, turning(edge_a, edge_b)
    length += route.length
    if not np.isfinite(length):
        return length, weight, 0, 0.0
    weight += route.weight
    back_a = edge_a.twin >= 0 and route.first == edge_a.twin
    back_b = edge_b.twin >= 0 and route.last == edge_b.twin
    if length >= longest and not (back_a or back_b):
        return np.inf, weight, 0, 0.0
    turns = 0
    bent = np.float64(route.turning)
    if back_a:
        turns += 1
        length -= 2.0 * rest
        weight -= 2.0 * rest * a.pace
    else:
        bent += turning(edge_a, graph.edges[route.first])
    if back_b:
        turns += 1
        length -= 2.0 * b.offset
        weight -= 2.0 * b.offset * b.pace
    else:
        bent += turning(graph.edges[route.last], edge_b)
    return length, weight, turns, bent


@kernel
def step_cost(
    graph: Graph, costs: Record, step: Step, a: Record, b: Record, route: Record, budget: float
) -> tuple[float, bool]:
    """Return the cost of driving from state a to state b, and whether that means turning round.

    |length - straight line| / beta, as Newson and Krumm; the time lost on slower roads than those
    at both ends; travel time, by the second whatever the sampling, so that over a long step it
    decides between routes, but not against what dense fixes say; turning round, at a node or in a
    street; changes of heading, so small that they decide between equals alone; and driving faster
    than the settings allow. Infinite as soon as it is known to be at least `budget`.
    """
    turns = 0
    bent = 0.0
    lost = 0.0
    length = np.float64(on_same_street(costs, a, graph.edges[a.edge], b, graph.edges[b.edge]))
    weight = length * a.pace
    if length >= 0:
        turns = int(a.edge != b.edge)
    else:
        longest = step.straight + budget * step.beta
        by_nodes = _over_nodes(graph, a, b, route, longest)
        length, weight, turns, bent = np.float64(by_nodes[0]), by_nodes[1], by_nodes[2], by_nodes[3]
        lost = max(0.0, weight / min(a.pace, b.pace) - length)
    if length > step.gate:
        return np.inf, False
    cost = (abs(length - step.straight) + costs.theta * lost) / step.beta + costs.bend_cost * bent
    cost += costs.time_cost * SECONDS * max(0.0, weight - step.fastest)
    if turns > 0:
        since = step.seconds if turns > 1 else step.arrive - a.turned
        cost += turns * costs.u_turn_cost * max(1.0, costs.turn_again_s / since)
    if length > step.fair:
        cost += (length - step.fair) / costs.speed_slack_m
    return float(cost), turns > 0
