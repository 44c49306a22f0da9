"""Shortest paths on the road graph, many at a time.

    paths = shortest_paths(ground, sources=[3, 3], targets=[9, 3])
    paths.weight   ->  [412.5, 0.0]                    metres; infinite where there is no path
    paths.edges    ->  Ragged(values=[17, 4, 8], starts=[0, 3, 3])
    chained_paths(ground, chains, soft)   routes over given segments, some lighter or heavier

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


class _Labels(NamedTuple):
    """Of each node: weight of the lightest path so far, its last segment, number of its search."""

    label: F64
    last: I32
    stamp: I64


class Soft(NamedTuple):
    """What makes segments lighter or heavier for some chains: lists of them, each with a factor.

    Attributes:
        segments: Numbers of the segments of each list, each once in it.
        factors: Factor on the weight of the segments of each list, above 0.
        of_chain: Numbers of the lists that hold for each chain, each once.
    """

    segments: Ragged
    factors: F64
    of_chain: Ragged


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
    graph = _graph_of(ground, weight)
    pairs = np.column_stack((sources, targets)).astype(np.int32).reshape(-1, 2)
    found, values, starts = _all_paths(graph, pairs)
    return Paths(found, Ragged(values, starts))


def chained_paths(ground: Ground, chains: Ragged, soft: Soft) -> Paths:
    """Find routes over given segments in their order, each leg the lightest.

    Args:
        ground: The road graph.
        chains: Segments each route drives over in this order, its first and last among them; one
            that no drive leads to is left out. A route may drive over a segment more than once.
        soft: What makes segments lighter or heavier than their length.

    Returns:
        Routes with the segments given; the weight is infinite where no drive leads to the last one,
        and the route then ends at the last that was reached.
    """
    given = Ragged(chains.values.astype(np.int32), chains.starts)
    weight, values, starts = _all_chains(_graph_of(ground, None), given, soft)
    return Paths(weight, Ragged(values, starts))


def _graph_of(ground: Ground, weight: F64 | None) -> _Graph:
    edges = ground.segments
    given = ground.length_m[:edges] if weight is None else weight
    weights = np.array(given, dtype=np.float64)  # chains change it and change it back
    u, v = ground.u[:edges], ground.v[:edges]
    out, edge = neighbours(u, ground.nodes)
    flat = positions(ground.place)
    plane = flat[:, :2] * flat[:, 2:].mean(axis=0) if len(flat) else np.empty((0, 2))
    straight = np.hypot(*(plane[v] - plane[u]).T)
    apart = straight > 0
    stretch = float((weights[apart] / straight[apart]).min()) if apart.any() else 0.0
    return _Graph(out, edge, v, u, weights, plane, stretch)


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


@kernel
def _find(
    graph: _Graph, source: int, target: int, number: int, labels: _Labels, keys: F64, queue: I32
) -> tuple[float, F64, I32]:
    """Search one path; return its weight, infinite without one, and the heap, which may grow.

    `labels` then hold the way back from the target; `number` is that of no search before.
    """
    label, last, stamp = labels.label, labels.last, labels.stamp
    label[source], stamp[source], last[source] = 0.0, number, -1
    _push(keys, queue, 0, _bound(graph, source, target), source)
    size = 1
    while size > 0:
        node, key = queue[0], keys[0]
        _drop_first(keys, queue, size)
        size -= 1
        if node == target:
            return label[node], keys, queue
        if key > label[node] + _bound(graph, node, target):
            continue  # a lighter path there was found since
        for at in range(graph.out[node], graph.out[node + 1]):
            edge = graph.edge[at]
            there, sum_ = graph.v[edge], label[node] + graph.weight[edge]
            if stamp[there] == number and sum_ >= label[there]:
                continue
            label[there], stamp[there], last[there] = sum_, number, edge
            if size == len(keys):
                keys = np.concatenate((keys, np.empty(size)))
                queue = np.concatenate((queue, np.empty(size, np.int32)))
            _push(keys, queue, size, sum_ + _bound(graph, there, target), there)
            size += 1
    return np.inf, keys, queue


@kernel
def _written(
    graph: _Graph, source: int, target: int, labels: _Labels, values: I32, begin: int
) -> tuple[I32, int]:
    """Write the path that was found last from `begin` on; return the values and its end."""
    end, node = begin, target
    while node != source:
        if end == len(values):
            values = np.concatenate((values, np.empty(len(values), np.int32)))
        values[end] = labels.last[node]
        node = graph.u[labels.last[node]]
        end += 1
    values[begin:end] = values[begin:end][::-1].copy()
    return values, end


@kernel
def _scratch(graph: _Graph) -> tuple[_Labels, F64, I32]:
    nodes = len(graph.out) - 1
    labels = _Labels(np.empty(nodes), np.empty(nodes, np.int32), np.full(nodes, -1, np.int64))
    # Room for more than a search needs: with a bound that is consistent but for rounding, a node is
    # settled again only then.
    return labels, np.empty(2 * len(graph.v) + 2), np.empty(2 * len(graph.v) + 2, np.int32)


@cached_kernel
def _all_paths(graph: _Graph, pairs: I32) -> tuple[F64, I32, I64]:
    labels, keys, queue = _scratch(graph)
    weights, starts = np.full(len(pairs), np.inf), np.zeros(len(pairs) + 1, np.int64)
    values = np.empty(64, np.int32)
    for k in range(len(pairs)):
        source, target = pairs[k, 0], pairs[k, 1]
        weights[k], keys, queue = _find(graph, source, target, k, labels, keys, queue)
        end = starts[k]
        if weights[k] < np.inf:
            values, end = _written(graph, source, target, labels, values, end)
        starts[k + 1] = end
    return weights, values[: starts[-1]], starts


@kernel
def _reweighed(graph: _Graph, soft: Soft, chain: int) -> _Graph:
    """Change the weights as a chain wants them; return the graph with the bound that then holds."""
    stretch = graph.stretch
    uses, lists = soft.of_chain, soft.segments
    for one in uses.values[uses.starts[chain] : uses.starts[chain + 1]]:
        stretch *= min(1.0, soft.factors[one])
        for edge in lists.values[lists.starts[one] : lists.starts[one + 1]]:
            graph.weight[edge] *= soft.factors[one]
    return _Graph(graph.out, graph.edge, graph.v, graph.u, graph.weight, graph.plane, stretch)


@kernel
def _restore(graph: _Graph, soft: Soft, chain: int, plain: F64) -> None:
    uses, lists = soft.of_chain, soft.segments
    for one in uses.values[uses.starts[chain] : uses.starts[chain + 1]]:
        for edge in lists.values[lists.starts[one] : lists.starts[one + 1]]:
            graph.weight[edge] = plain[edge]


@cached_kernel
def _all_chains(graph: _Graph, chains: Ragged, soft: Soft) -> tuple[F64, I32, I64]:
    count = len(chains.starts) - 1
    labels, keys, queue = _scratch(graph)
    plain = graph.weight.copy()
    weights, starts = np.full(count, np.inf), np.zeros(count + 1, np.int64)
    values, searches = np.empty(64, np.int32), 0
    for k in range(count):
        eased = _reweighed(graph, soft, k)
        end, sum_, before = starts[k], 0.0, -1
        for at in range(chains.starts[k], chains.starts[k + 1]):
            edge = chains.values[at]
            if edge == before:
                continue
            if before >= 0:
                source, target = graph.v[before], graph.u[edge]
                found, keys, queue = _find(eased, source, target, searches, labels, keys, queue)
                searches += 1
                if found == np.inf:  # no drive leads there: a stage between is left out
                    sum_ = np.inf if at + 1 == chains.starts[k + 1] else sum_
                    continue
                sum_ += found
                values, end = _written(graph, source, target, labels, values, end)
            if end == len(values):
                values = np.concatenate((values, np.empty(len(values), np.int32)))
            values[end] = edge
            end += 1
            sum_ += graph.weight[edge]
            before = edge
        weights[k], starts[k + 1] = sum_, end
        _restore(graph, soft, k, plain)
    return weights, values[: starts[-1]], starts
