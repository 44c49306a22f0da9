"""Bounded search for the fastest paths from one node, stopping once its targets are reached.

    search(graph, space, source=4, limit=900.0, targets=[9, 2], n=2)
        ->  nodes settled, in order; length, first and last edge of each path in `space`

Paths are the fastest ones (drivers choose by time), while the length in metres is kept beside the
weight, since the transition cost compares lengths. Weights are metres at the mean speed of the
network: a road at twice the mean speed weighs half its length.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

I32 = npt.NDArray[np.int32]
F32 = npt.NDArray[np.float32]


class Graph(NamedTuple):
    """Roads as arrays by edge and a list of the edges leaving each node."""

    u: I32
    v: I32
    length: F32
    weight: F32
    twin: I32  # the same street the other way, -1 for a one-way street
    out_start: I32  # edges leaving node n: out_edge[out_start[n]:out_start[n + 1]]
    out_edge: I32


class SearchSpace(NamedTuple):
    """Working arrays of one thread; an entry counts only where its stamp is the current one."""

    stamp: I32
    counter: I32
    weight: F32
    length: F32
    first: I32
    last: I32
    settled: I32
    heap_key: F32
    heap_node: I32


@njit(cache=True, nogil=True)
def search_space(graph: Graph) -> SearchSpace:
    """Return working arrays for searches on this graph.

    Every edge is relaxed at most once in a search, so a heap of one entry an edge never overflows.
    """
    nodes = len(graph.out_start) - 1
    heap = len(graph.u) + 2
    return SearchSpace(
        np.zeros(nodes, np.int32),
        np.zeros(1, np.int32),
        np.empty(nodes, np.float32),
        np.empty(nodes, np.float32),
        np.empty(nodes, np.int32),
        np.empty(nodes, np.int32),
        np.empty(nodes, np.int32),
        np.empty(heap, np.float32),
        np.empty(heap, np.int32),
    )


@njit(inline="always")
def _push(key: F32, node: I32, size: int, new_key: np.float32, new_node: int) -> int:
    i = size
    while i > 0:
        parent = (i - 1) >> 1
        if key[parent] <= new_key:
            break
        key[i] = key[parent]
        node[i] = node[parent]
        i = parent
    key[i] = new_key
    node[i] = new_node
    return size + 1


@njit(inline="always")
def _pop(key: F32, node: I32, size: int) -> int:
    """Remove the least entry (read it at index 0 first) and return the new size."""
    size -= 1
    last_key = key[size]
    last_node = node[size]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and key[child + 1] < key[child]:
            child += 1
        if key[child] >= last_key:
            break
        key[i] = key[child]
        node[i] = node[child]
        i = child
    key[i] = last_key
    node[i] = last_node
    return size


@njit(cache=True, nogil=True)
def search(
    graph: Graph, space: SearchSpace, source: int, limit: float, targets: I32, wanted: int
) -> int:
    """Settle the nodes within `limit` of `source` in order of weight; return how many.

    Args:
        graph: The road graph.
        space: Working arrays; afterwards `settled[:n]` are the nodes reached and `weight`, `length`,
            `first`, `last` describe their paths where `stamp` equals `counter[0]`. `first` and
            `last` are -1 for the source itself.
        source: Node the paths start from.
        limit: Greatest weight of a path (metres at mean speed).
        targets: Distinct nodes; the search stops once the first `wanted` of them are settled.
        wanted: Number of targets to reach; 0 = settle everything within the limit.
    """
    if space.counter[0] == 2147483647:
        space.stamp[:] = 0
        space.counter[0] = 0
    space.counter[0] += 1
    stamp = space.counter[0]
    space.stamp[source] = stamp
    space.weight[source] = 0
    space.length[source] = 0
    space.first[source] = -1
    space.last[source] = -1
    size = _push(space.heap_key, space.heap_node, 0, np.float32(0), source)
    settled = 0
    missing = wanted
    while size > 0:
        weight = space.heap_key[0]
        node = space.heap_node[0]
        size = _pop(space.heap_key, space.heap_node, size)
        if weight > space.weight[node]:
            continue
        space.settled[settled] = node
        settled += 1
        if wanted > 0:
            for k in range(wanted):
                if targets[k] == node:
                    missing -= 1
            if missing == 0:
                break
        for k in range(graph.out_start[node], graph.out_start[node + 1]):
            edge = graph.out_edge[k]
            head = graph.v[edge]
            new = np.float32(weight + graph.weight[edge])
            if new > limit:
                continue
            if space.stamp[head] != stamp or new < space.weight[head]:
                space.stamp[head] = stamp
                space.weight[head] = new
                space.length[head] = space.length[node] + graph.length[edge]
                space.first[head] = edge if node == source else space.first[node]
                space.last[head] = edge
                size = _push(space.heap_key, space.heap_node, size, new, head)
    return settled


@njit(cache=True, nogil=True)
def walk_back(graph: Graph, space: SearchSpace, source: int, target: int, chain: I32) -> int:
    """Write the edges of the path found last, from its end to its start; return how many."""
    count = 0
    node = target
    while node != source and count < len(chain):
        edge = space.last[node]
        chain[count] = edge
        count += 1
        node = graph.u[edge]
    return count
