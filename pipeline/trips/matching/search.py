"""Bounded search for the fastest paths from one node, stopping once its targets are reached.

    search(graph, space, source=4, limit=900.0, goal=ANYWHERE, targets=[9, 2], wanted=2)
        ->  nodes settled, in order; length, first and last edge of each path in `space`

Paths are the fastest ones (drivers choose by time), while the length in metres is kept beside the
weight, since the transition cost compares lengths. Weights are metres at 30 km/h:
a road of 60 km/h weighs half its length.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.trips.matching.compiled import kernel

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
Rows = npt.NDArray[np.void]
"""An array of records; each module names the fields of its own ones."""
Record = Any
"""One record, as the compiled code sees it."""
REFERENCE_KPH = 30.0
"""Weights are metres at this speed."""

EDGE = np.dtype(
    [
        ("u", "i4"),
        ("v", "i4"),
        ("twin", "i4"),  # the same street the other way, -1 for a one-way street
        ("length", "f4"),
        ("weight", "f4"),
        ("sets_out", "f4"),  # bearing at its start and at its end (radians)
        ("arrives", "f4"),
        ("forks", "i4"),  # whether its end leaves a choice where to go on, turning round aside
    ]
)
_LABEL = np.dtype(
    [
        ("stamp", "i4"),
        ("first", "i4"),
        ("last", "i4"),
        ("length", "f4"),
        ("weight", "f4"),
        ("turning", "f4"),
    ]
)
_MOST_SEARCHES = 2**31 - 1


class Graph(NamedTuple):
    """Roads by edge; the edges that leave node n are out_start[n]:out_start[n + 1]."""

    edges: Rows
    out_start: I32
    place: F64  # (nodes, 2): x and y of each node, metres
    stretch: float  # no edge is shorter than this x the straight line between its nodes


class Goal(NamedTuple):
    """Where a search is going: a path that cannot get there in time is not followed.

    The lengths still to drive are at least the straight line, so what is explored is an ellipse
    around the two places instead of a disc.
    """

    x: float
    y: float
    spread: float  # how far from there the path may end, metres
    budget: float  # greatest length of a path, metres; infinite = follow every path


ANYWHERE = Goal(0.0, 0.0, 0.0, np.inf)


class SearchSpace(NamedTuple):
    """Working arrays of one thread; a label counts only while its stamp is the current one."""

    labels: Rows
    settled: I32
    heap: I64
    counter: I32


@kernel
def search_space(graph: Graph) -> SearchSpace:
    """Return working arrays for searches on this graph.

    Every edge is relaxed at most once in a search, so a heap of one entry an edge never overflows.
    """
    nodes = len(graph.out_start) - 1
    return SearchSpace(
        np.zeros(nodes, _LABEL),
        np.empty(nodes, np.int32),
        np.empty(len(graph.edges) + 2, np.int64),
        np.zeros(1, np.int32),
    )


@kernel
def _entry(weight: np.float32, node: int) -> int:
    """Return a heap entry: positive floats sort like their bits, equal weights by node."""
    return int((np.int64(np.float32(weight).view(np.int32)) << 32) | node)


@kernel
def _push(heap: I64, size: int, entry: int) -> int:
    i = size
    while i > 0:
        parent = (i - 1) >> 1
        if heap[parent] <= entry:
            break
        heap[i] = heap[parent]
        i = parent
    heap[i] = entry
    return size + 1


@kernel
def _pop(heap: I64, size: int) -> int:
    """Remove the least entry (read it at index 0 first) and return the new size."""
    size -= 1
    moved = heap[size]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= moved:
            break
        heap[i] = heap[child]
        i = child
    heap[i] = moved
    return size


@kernel
def _begin(space: SearchSpace, source: int) -> int:
    """Label the source of a new search and return the search's stamp."""
    if space.counter[0] == _MOST_SEARCHES:
        for node in range(len(space.labels)):
            space.labels[node].stamp = 0
        space.counter[0] = 0
    space.counter[0] += 1
    label = space.labels[source]
    label.stamp = space.counter[0]
    label.first = -1
    label.last = -1
    label.length = 0.0
    label.weight = 0.0
    label.turning = 0.0
    return int(space.counter[0])


@kernel
def turning(before: Record, after: Record) -> float:
    """Return the change of heading from one edge to the next, 0 to pi; 0 where none is a choice."""
    if not before.forks:
        return 0.0
    change = abs(after.sets_out - before.arrives)
    return float(min(change, 2.0 * np.pi - change))


@kernel
def straight_m(graph: Graph, source: int, target: int) -> float:
    """Return the metres that no path between two nodes can be shorter than."""
    dx = graph.place[source, 0] - graph.place[target, 0]
    dy = graph.place[source, 1] - graph.place[target, 1]
    return float(graph.stretch * np.sqrt(dx * dx + dy * dy))


@kernel
def _astray(graph: Graph, node: int, length: float, goal: Goal) -> bool:
    """Tell whether a path of this length to a node can no longer reach the goal within budget."""
    if goal.budget == np.inf:
        return False
    straight = np.hypot(graph.place[node, 0] - goal.x, graph.place[node, 1] - goal.y)
    return bool(length + graph.stretch * (straight - goal.spread) > goal.budget)


@kernel
def _relax(graph: Graph, space: SearchSpace, node: int, limit: float, goal: Goal, size: int) -> int:
    """Offer the paths over the edges that leave a settled node; return the new heap size."""
    here = space.labels[node]
    for e in range(graph.out_start[node], graph.out_start[node + 1]):
        edge = graph.edges[e]
        weight = np.float32(here.weight + edge.weight)
        if weight > limit:
            continue
        if _astray(graph, edge.v, here.length + edge.length, goal):
            continue
        label = space.labels[edge.v]
        if label.stamp != here.stamp or weight < label.weight:
            label.stamp = here.stamp
            label.turning = 0.0
            label.first = e
            if here.last >= 0:
                label.first = here.first
                label.turning = here.turning + turning(graph.edges[here.last], edge)
            label.last = e
            label.length = here.length + edge.length
            label.weight = weight
            size = _push(space.heap, size, _entry(weight, edge.v))
    return size


@kernel
def search(
    graph: Graph,
    space: SearchSpace,
    source: int,
    limit: float,
    goal: Goal,
    targets: I32,
    wanted: int,
) -> int:
    """Settle the nodes within `limit` of `source` in order of weight; return how many.

    Args:
        graph: The road graph.
        space: Working arrays; afterwards `settled[:n]` are the nodes reached, and the labels whose
            stamp is `counter[0]` describe the paths found. `first` and `last` are -1 at the source.
        source: Node the paths start from.
        limit: Greatest weight of a path (metres at 30 km/h).
        goal: Where the paths are going, so that those astray are left; ANYWHERE for all.
        targets: Distinct nodes; the search stops once the first `wanted` of them are settled.
        wanted: Number of targets to reach; 0 = settle everything within the limit.
    """
    _begin(space, source)
    size = _push(space.heap, 0, _entry(np.float32(0), source))
    settled = 0
    missing = wanted
    while size > 0:
        weight = np.int32(space.heap[0] >> 32).view(np.float32)
        node = int(space.heap[0] & 0x7FFFFFFF)
        size = _pop(space.heap, size)
        if weight > space.labels[node].weight:
            continue
        space.settled[settled] = node
        settled += 1
        for k in range(wanted):
            if targets[k] == node:
                missing -= 1
        if wanted > 0 and missing == 0:
            break
        size = _relax(graph, space, node, limit, goal, size)
    return settled


@kernel
def walk_back(graph: Graph, space: SearchSpace, source: int, target: int, chain: I32) -> int:
    """Write the edges of a path found by the last search, last edge first; return how many."""
    count = 0
    node = target
    while node != source:
        e = space.labels[node].last
        chain[count] = e
        count += 1
        node = graph.edges[e].u
    return count
