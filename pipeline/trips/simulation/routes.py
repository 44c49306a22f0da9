"""Choose the way of one trip: the cheapest as its driver takes the costs to be.

origin segment 12, destination segment 873 -> segments [12, 14, 90, ..., 873], which the driver
enters and leaves part way along
"""

from typing import Any, NamedTuple

import numpy as np

from pipeline.trips.distance import Floats
from pipeline.trips.simulation.road_graph import Ints, RoadGraph
from pipeline.trips.simulation.settings import SimulateSettings

_ORIGINS, _DESTINATIONS = 40, 40
_VIA_TRIES = 8


class Route(NamedTuple):
    """A way over segments: from `off_from_m` into the first to `off_to_m` into the last."""

    edges: Ints
    off_from_m: float
    off_to_m: float
    length_m: float
    shortest_m: float
    via: bool


class Perceived:
    """The costs of all roads as one driver takes them to be, ready to search."""

    def __init__(self, graph: RoadGraph, cost: Floats) -> None:
        from scipy.sparse import csr_array  # noqa: PLC0415 - slow import

        links = graph.links
        by_pair = cost[links.order]
        cheapest = np.minimum.reduceat(by_pair, links.first)
        shape = (graph.nodes, graph.nodes)
        self._matrix = csr_array((cheapest, links.indices, links.indptr), shape=shape)
        # The cheapest segment of each pair; of segments equally cheap the first.
        segments = np.diff(np.append(links.first, by_pair.size))
        least = np.flatnonzero(by_pair == np.repeat(cheapest, segments))
        self._graph = graph
        self._best = links.order[least[np.searchsorted(least, links.first)]]

    def from_node(self, node: int) -> tuple[Floats, Ints]:
        """Return the cost of every node from `node`, and its predecessor on the way."""
        return self._search(self._matrix, node)

    def to_node(self, node: int) -> tuple[Floats, Ints]:
        """Return the cost from every node to `node`, and its successor on the way."""
        return self._search(self._matrix.T.tocsr(), node)

    @staticmethod
    def _search(matrix: Any, node: int) -> tuple[Floats, Ints]:
        from scipy.sparse.csgraph import dijkstra  # noqa: PLC0415 - slow import

        search: Any = dijkstra
        cost, before = search(matrix, indices=node, return_predecessors=True)
        return cost, before

    def edges(self, nodes: list[int]) -> list[int]:
        """Return the cheapest segments along a sequence of nodes."""
        way = np.asarray(nodes)
        pairs = way[:-1] * self._graph.nodes + way[1:]
        found: list[int] = self._best[np.searchsorted(self._graph.links.pair, pairs)].tolist()
        return found


def chain(before: Ints, node: int) -> list[int]:
    """Follow predecessors from a node back to the start of the search; the start comes last."""
    nodes = [node]
    while before[nodes[-1]] >= 0:
        nodes.append(int(before[nodes[-1]]))
    return nodes


def choose_route(
    graph: RoadGraph,
    by_length: Perceived,
    weights: Floats,
    settings: SimulateSettings,
    via_share: float,
    rng: np.random.Generator,
) -> Route | None:
    """Draw the ends of a trip and its way; None when the network has none long enough.

    Args:
        graph: The network.
        by_length: The network with lengths for costs, to tell how long the shortest way is.
        weights: How often each segment is an end, any scale.
        settings: Section `simulate`.
        via_share: Share of trips that pass a point off their best way.
        rng: The trip's own stream for its route.
    """
    spread = np.exp(rng.normal(0.0, settings.cost_sigma, graph.u.size))
    perceived = Perceived(graph, graph.length_m / graph.speed_mps * spread)
    passes_via = bool(rng.random() < via_share)
    share = weights / weights.sum()
    for _ in range(_ORIGINS):
        origin, *destinations = rng.choice(graph.u.size, _DESTINATIONS + 1, p=share).tolist()
        offsets = rng.random(_DESTINATIONS + 1)
        cost, before = perceived.from_node(int(graph.v[origin]))
        for destination, offset in zip(destinations, offsets[1:], strict=True):
            if destination == origin or not np.isfinite(cost[graph.u[destination]]):
                continue
            nodes = chain(before, int(graph.u[destination]))[::-1]
            ends = (origin, float(offsets[0])), (destination, float(offset))
            route = _route(graph, perceived, nodes, ends)
            if route is None or route.length_m < settings.shortest_route_m:
                continue
            if passes_via:
                route = _via(graph, perceived, (cost, before), ends, settings, rng) or route
            return route._replace(shortest_m=_shortest(graph, by_length, route))
    return None


def _route(
    graph: RoadGraph,
    perceived: Perceived,
    nodes: list[int],
    ends: tuple[tuple[int, float], tuple[int, float]],
) -> Route | None:
    """Join the ends to the segments between; a driver sets off and arrives on the right side.

    Where the way would turn round at once, the trip starts (ends) on the street's other side.
    """
    (origin, from_share), (destination, to_share) = ends
    middle = perceived.edges(nodes)
    if middle and middle[0] == graph.twin[origin]:
        origin, from_share, middle = middle[0], 1 - from_share, middle[1:]
    if middle and middle[-1] == graph.twin[destination]:
        destination, to_share, middle = middle[-1], 1 - to_share, middle[:-1]
    if origin == destination or graph.twin[origin] == destination:
        return None
    edges = np.asarray([origin, *middle, destination], dtype=np.int64)
    off_from_m = from_share * float(graph.length_m[origin])
    off_to_m = to_share * float(graph.length_m[destination])
    length_m = float(graph.length_m[edges[:-1]].sum()) - off_from_m + off_to_m
    return Route(edges, off_from_m, off_to_m, length_m, length_m, via=False)


def _via(
    graph: RoadGraph,
    perceived: Perceived,
    out: tuple[Floats, Ints],
    ends: tuple[tuple[int, float], tuple[int, float]],
    settings: SimulateSettings,
    rng: np.random.Generator,
) -> Route | None:
    """Lead the way over a node off it, within `via_detour`, without a turn on the spot."""
    goal = int(graph.u[ends[1][0]])
    back, after = perceived.to_node(goal)
    cost, before = out
    least, most = settings.via_detour
    through = cost + back
    near = np.flatnonzero((through >= least * cost[goal]) & (through <= most * cost[goal]))
    for _ in range(_VIA_TRIES if near.size else 0):
        node = int(near[rng.integers(near.size)])
        nodes = chain(before, node)[::-1] + chain(after, node)[1:]
        if len(set(nodes)) < len(nodes):
            continue  # it would pass a junction twice: a turn on the spot or a loop
        route = _route(graph, perceived, nodes, ends)
        if route is not None and route.length_m >= settings.shortest_route_m:
            return route._replace(via=True)
    return None


def _shortest(graph: RoadGraph, by_length: Perceived, route: Route) -> float:
    """Return the length in metres of the shortest way between the same two places."""
    start, goal = int(graph.v[route.edges[0]]), int(graph.u[route.edges[-1]])
    cost, _ = by_length.from_node(start)
    ends_m = float(graph.length_m[route.edges[0]]) - route.off_from_m + route.off_to_m
    return min(float(cost[goal]) + ends_m, route.length_m)
