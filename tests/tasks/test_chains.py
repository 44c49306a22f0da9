"""Chains of segments with soft weights against networkx, leg by leg."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.tasks.ground import Ragged
from pipeline.tasks.shortest import Soft, chained_paths, shortest_paths
from tests.tasks.test_paths import grounds


def ragged(lists, kind=np.int32):
    flat = [one for some in lists for one in some]
    return Ragged(np.array(flat, kind), np.cumsum([0, *map(len, lists)]))


def none_soft(chains):
    return Soft(ragged([]), np.empty(0), ragged([[] for _ in range(chains)]))


def by_hand(ground, chain, weights):
    """Return weight and stages of a chain by networkx; no weight where the last is cut off."""
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(range(ground.nodes))
    for k in range(ground.segments):
        graph.add_edge(int(ground.u[k]), int(ground.v[k]), weight=weights[k])
    total, before, stages = weights[chain[0]], chain[0], [chain[0]]
    for number, one in enumerate(chain[1:], 2):
        if one == before:
            continue
        try:
            total += nx.dijkstra_path_length(graph, int(ground.v[before]), int(ground.u[one]))
        except nx.NetworkXNoPath:
            if number == len(chain):
                return None, stages
            continue
        total += weights[one]
        before = one
        stages.append(one)
    return total, stages


@settings(max_examples=40, deadline=None)
@given(grounds(), st.data())
def test_each_leg_is_the_lightest_and_other_chains_leave_no_trace(ground, data):
    segment = st.integers(0, ground.segments - 1)
    chains = data.draw(st.lists(st.lists(segment, min_size=1, max_size=4), min_size=1, max_size=5))
    lists = data.draw(st.lists(st.lists(segment, unique=True, max_size=20), max_size=3))
    factor = st.sampled_from([0.5, 0.8, 2.0, 5.0])
    factors = np.array([data.draw(factor) for _ in lists])
    uses = [
        data.draw(st.lists(st.integers(0, len(lists) - 1), unique=True)) if lists else []
        for _ in chains
    ]
    found = chained_paths(ground, ragged(chains), Soft(ragged(lists), factors, ragged(uses)))
    for k, chain in enumerate(chains):
        weights = ground.length_m[: ground.segments].copy()
        for one in uses[k]:
            weights[lists[one]] *= factors[one]
        route = found.edges.values[found.edges.starts[k] : found.edges.starts[k + 1]]
        expected, stages = by_hand(ground, chain, weights)
        assert (ground.v[route[:-1]] == ground.u[route[1:]]).all()
        assert route[0] == chain[0]
        assert route[-1] == stages[-1]
        if expected is None:
            assert np.isinf(found.weight[k])
            continue
        assert found.weight[k] == pytest.approx(expected)
        assert weights[route].sum() == pytest.approx(expected)
        places = iter(route.tolist())
        assert all(one in places for one in stages)  # in this order


@settings(max_examples=20, deadline=None)
@given(grounds(), st.data())
def test_without_stages_and_factors_it_is_the_shortest_path(ground, data):
    first, last = (data.draw(st.integers(0, ground.segments - 1)) for _ in range(2))
    found = chained_paths(ground, ragged([[first, last]]), none_soft(1))
    if first == last:
        assert found.edges.values.tolist() == [first]
        return
    way = shortest_paths(ground, ground.v[[first]], ground.u[[last]])
    assert np.isinf(found.weight[0]) == np.isinf(way.weight[0])
    if np.isfinite(way.weight[0]):
        assert found.weight[0] == pytest.approx(
            way.weight[0] + ground.length_m[[first, last]].sum()
        )


def test_no_chain_gives_no_route(town_ground):
    found = chained_paths(town_ground, ragged([]), none_soft(0))
    assert found.weight.size == 0
    assert found.edges.starts.tolist() == [0]


@pytest.fixture
def town_ground():
    from tests.tasks.test_paths import ground_of, roads  # noqa: PLC0415

    return ground_of(roads(3))
