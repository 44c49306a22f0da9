"""Shortest paths on the road graph, many at a time.

    paths = shortest_paths(ground, sources=[3, 3], targets=[9, 3])
    paths.weight   ->  [412.5, 0.0]                    metres; infinite where there is no path
    paths.edges    ->  Ragged(values=[17, 4, 8], starts=[0, 3, 3])

A* with the straight line as the bound: no segment is lighter than `stretch` metres a metre of it.
"""

from typing import NamedTuple

import numpy as np

from pipeline.tasks.distances import positions
from pipeline.tasks.ground import F64, I32, I64, Ground, Ragged
from pipeline.trips.matching.compiled import cached_kernel, kernel


class Paths(NamedTuple):
    """Shortest paths: parallel to what was asked.

    Attributes:
        weight: Sum of the weights of each path; 0 from a node to itself, infinite without a path.
        edges: Numbers of its segments in the order driven; none in these two cases.
    """

    weight: F64
    edges: Ragged


class _Graph(NamedTuple):
    """Segments that leave node n are `edge[out[n] : out[n + 1]]`."""

    out: I64
    edge: I32
    v: I32
    u: I32
    weight: F64
    plane: F64  # (nodes, 2) metres, a flat map: its straight lines keep the triangle inequality
    stretch: float


def neighbours(start: I32, nodes: int) -> tuple[I64, I32]:
    """Return the edges that leave each node: those of node n are `edge[out[n] : out[n + 1]]`."""
    edge = np.argsort(start, kind="stable").astype(np.int32)
    out = np.zeros(nodes + 1, np.int64)
    np.cumsum(np.bincount(start, minlength=nodes), out=out[1:])
    return out, edge


def shortest_paths(
    ground: Ground, sources: I32, targets: I32, *, weight: F64 | None = None
) -> Paths:
    """Find the lightest path from source i to target i.

    Args:
        ground: The road graph.
        sources: Nodes.
        targets: Nodes, as many.
        weight: Weight of each segment, none negative; left out = its length in metres.
    """
    edges = ground.segments
    weights = ground.length_m[:edges] if weight is None else np.asarray(weight, dtype=np.float64)
    u, v = ground.u[:edges], ground.v[:edges]
    out, edge = neighbours(u, ground.nodes)
    flat = positions(ground.place)
    plane = flat[:, :2] * flat[:, 2:].mean(axis=0) if len(flat) else np.empty((0, 2))
    straight = np.hypot(*(plane[v] - plane[u]).T)
    apart = straight > 0
    stretch = float((weights[apart] / straight[apart]).min()) if apart.any() else 0.0
    graph = _Graph(out, edge, v, u, weights, plane, stretch)
    pairs = np.column_stack((sources, targets)).astype(np.int32).reshape(-1, 2)
    found, values, starts = _all_paths(graph, pairs)
    return Paths(found, Ragged(values, starts))


@kernel
def _lighter(keys: F64, nodes: I32, a: int, b: int) -> bool:
    return bool(keys[a] < keys[b] or (keys[a] == keys[b] and nodes[a] < nodes[b]))


@kernel
def _exchange(keys: F64, nodes: I32, a: int, b: int) -> None:
    keys[a], keys[b] = keys[b], keys[a]
    nodes[a], nodes[b] = nodes[b], nodes[a]


@kernel
def _push(keys: F64, nodes: I32, size: int, key: float, node: int) -> None:
    """Add to a heap that holds `size` entries and has room for one more."""
    keys[size], nodes[size] = key, node
    child = size
    while child > 0 and _lighter(keys, nodes, child, (child - 1) >> 1):
        _exchange(keys, nodes, child, (child - 1) >> 1)
        child = (child - 1) >> 1


@kernel
def _drop_first(keys: F64, nodes: I32, size: int) -> None:
    """Remove the first of `size` entries."""
    size -= 1
    keys[0], nodes[0] = keys[size], nodes[size]
    parent = 0
    while 2 * parent + 1 < size:
        child = 2 * parent + 1
        if child + 1 < size and _lighter(keys, nodes, child + 1, child):
            child += 1
        if not _lighter(keys, nodes, child, parent):
            break
        _exchange(keys, nodes, child, parent)
        parent = child


@kernel
def _bound(graph: _Graph, node: int, target: int) -> float:
    east = graph.plane[node, 0] - graph.plane[target, 0]
    north = graph.plane[node, 1] - graph.plane[target, 1]
    return float(graph.stretch * np.sqrt(east * east + north * north))


@cached_kernel
def _all_paths(graph: _Graph, pairs: I32) -> tuple[F64, I32, I64]:
    nodes = len(graph.out) - 1
    label, last = np.empty(nodes), np.empty(nodes, np.int32)
    stamp = np.full(nodes, -1, np.int64)
    # Room for more than a search needs: with a bound that is consistent but for rounding, a node is
    # settled again only then.
    keys, queue = np.empty(2 * len(graph.v) + 2), np.empty(2 * len(graph.v) + 2, np.int32)
    weights, starts = np.full(len(pairs), np.inf), np.zeros(len(pairs) + 1, np.int64)
    values = np.empty(64, np.int32)
    for k in range(len(pairs)):
        source, target = pairs[k, 0], pairs[k, 1]
        label[source], stamp[source], last[source] = 0.0, k, -1
        _push(keys, queue, 0, _bound(graph, source, target), source)
        size = 1
        while size > 0:
            node, key = queue[0], keys[0]
            _drop_first(keys, queue, size)
            size -= 1
            if node == target:
                weights[k] = label[node]
                break
            if key > label[node] + _bound(graph, node, target):
                continue  # a lighter path there was found since
            for at in range(graph.out[node], graph.out[node + 1]):
                edge = graph.edge[at]
                there, sum_ = graph.v[edge], label[node] + graph.weight[edge]
                if stamp[there] == k and sum_ >= label[there]:
                    continue
                label[there], stamp[there], last[there] = sum_, k, edge
                if size == len(keys):
                    keys = np.concatenate((keys, np.empty(size)))
                    queue = np.concatenate((queue, np.empty(size, np.int32)))
                _push(keys, queue, size, sum_ + _bound(graph, there, target), there)
                size += 1
        begin = starts[k]
        end = begin
        node = target if weights[k] < np.inf else source
        while node != source:
            if end == len(values):
                values = np.concatenate((values, np.empty(len(values), np.int32)))
            values[end] = last[node]
            node = graph.u[last[node]]
            end += 1
        values[begin:end] = values[begin:end][::-1].copy()
        starts[k + 1] = end
    return weights, values[: starts[-1]], starts
