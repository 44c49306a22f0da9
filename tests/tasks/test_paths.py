"""Shortest paths and hops against networkx, on towns and on random graphs."""

import networkx as nx
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.tasks.drivable import length_over_shortest, shortest_drive_m
from pipeline.tasks.ground import Ground
from pipeline.tasks.hops import MOST_HOPS, hops
from pipeline.tasks.shortest import shortest_paths
from tests.tasks.town import road_cells, roads, route


def ground_of(table: pl.DataFrame) -> Ground:
    return Ground.build(table, road_cells(table))


@st.composite
def grounds(draw):
    """Return a town with some segments gone, some doubled and with lengths of their own."""
    table = roads(4)
    kept = draw(st.lists(st.booleans(), min_size=table.height, max_size=table.height))
    table = table.filter(pl.Series([*kept[1:], True]))
    twice = table.head(5).with_columns(edge_id=pl.col("edge_id") + ":2")
    table = pl.concat([table, twice]).sort("edge_id")
    longer = st.floats(100, 400)
    lengths = draw(st.lists(longer, min_size=table.height, max_size=table.height))
    return ground_of(table.with_columns(length_m=pl.Series(lengths)))


def graph_of(ground: Ground) -> nx.MultiDiGraph:
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(range(ground.nodes))
    for k in range(ground.segments):
        graph.add_edge(int(ground.u[k]), int(ground.v[k]), weight=float(ground.length_m[k]))
    return graph


@settings(max_examples=40)
@given(grounds(), st.integers(0, 1000))
def test_paths_are_the_shortest(ground, pick):
    graph = graph_of(ground)
    rng = np.random.Generator(np.random.Philox(pick))
    pairs = rng.integers(ground.nodes, size=(20, 2)).astype(np.int32)
    found = shortest_paths(ground, pairs[:, 0], pairs[:, 1])
    for k, (source, target) in enumerate(pairs.tolist()):
        edges = found.edges.values[found.edges.starts[k] : found.edges.starts[k + 1]]
        try:
            expected = nx.dijkstra_path_length(graph, source, target)
        except nx.NetworkXNoPath:
            assert np.isinf(found.weight[k])
            assert edges.size == 0
            continue
        assert found.weight[k] == pytest.approx(expected)
        assert ground.length_m[edges].sum() == pytest.approx(expected)
        nodes = [source, *ground.v[edges]]
        assert [source, *ground.u[edges][1:], target][: len(nodes)] == nodes or not edges.size
        assert nodes[-1] == target


@settings(max_examples=20)
@given(grounds(), st.lists(st.floats(0, 50), min_size=60, max_size=60))
def test_any_weights_will_do(ground, weights):
    weight = np.resize(np.array(weights), ground.segments)
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(range(ground.nodes))
    for k in range(ground.segments):
        graph.add_edge(int(ground.u[k]), int(ground.v[k]), weight=float(weight[k]))
    targets = np.arange(ground.nodes, dtype=np.int32)
    found = shortest_paths(ground, np.zeros_like(targets), targets, weight=weight).weight
    expected = nx.single_source_dijkstra_path_length(graph, 0)
    assert found == pytest.approx([expected.get(k, np.inf) for k in range(ground.nodes)])


@settings(max_examples=40)
@given(grounds())
def test_hops_are_those_of_the_definition(ground):
    directed, undirected = graph_of(ground), graph_of(ground).to_undirected()
    there = dict(nx.all_pairs_shortest_path_length(directed))
    near = dict(nx.all_pairs_shortest_path_length(undirected))
    ends = np.repeat(np.arange(ground.segments), ground.segments)
    targets = np.tile(np.arange(ground.segments), ground.segments)
    found = hops(ground, ends, targets)
    for k, (end, target) in enumerate(zip(ends, targets, strict=True)):
        if end == target:
            assert (found.undirected[k], found.directed[k]) == (0, 0)
            continue
        far = MOST_HOPS + 1
        one = [int(ground.u[end]), int(ground.v[end])]
        other = [int(ground.u[target]), int(ground.v[target])]
        least = 1 + min(near[a].get(b, far) for a in one for b in other)
        assert found.undirected[k] == min(least, far)
        assert found.directed[k] == min(1 + there[one[1]].get(other[0], far), far)


def test_hops_by_hand():
    ground = ground_of(roads(5))

    def between(one, other):
        ends, targets = ground.numbered(pl.Series([route(*one), route(*other)])).values
        found = hops(ground, [ends], [targets])
        return int(found.undirected[0]), int(found.directed[0])

    assert between((0, 1), (0, 1)) == (0, 0)
    assert between((0, 1), (1, 2)) == (1, 1)
    assert between((0, 1), (1, 0)) == (1, 1)
    assert between((1, 2), (0, 1)) == (1, 3)  # 2 > 1 > 0, then the true one
    assert between((0, 1), (3, 4)) == (3, 3)
    assert between((1, 0), (44, 34)) == (7, 9)


def test_hops_beyond_ten_are_more():
    table = pl.concat(roads(10).partition_by("oneway"))
    ground = ground_of(table)
    ends, targets = ground.numbered(pl.Series([route(0, 1), route(98, 99)])).values
    assert hops(ground, [ends], [targets]).undirected.tolist() == [MOST_HOPS + 1]
    assert hops(ground, [], []).undirected.size == 0


def test_the_length_of_a_route_over_the_shortest():
    ground = ground_of(roads(5, one_way=[1]))  # the first row runs east alone
    lists = pl.Series(
        [
            route(0, 1, 2),
            route(0, 10, 11, 1, 2),
            route(0, 1, 11, 10, 0, 1),
            route(2, 1, 0),  # backwards; the shortest drive begins and ends on these segments
            route(0, 10),
        ]
    )
    found = length_over_shortest(ground.numbered(lists), ground)
    assert found == pytest.approx([1.0, 1.0, 5.0, 1.0, 1.0])
    round_about = ground.numbered(pl.Series([route(0, 10, 11, 12, 2, 3)]))
    assert length_over_shortest(round_about, ground) == pytest.approx([1.0])
    detour = ground.numbered(pl.Series([route(0, 1, 11, 21, 22, 12, 2, 3)]))
    assert length_over_shortest(detour, ground) == pytest.approx([7 / 3])


def test_no_drive_leads_there():
    table = roads(3).filter(pl.col("u") != 0)  # nothing leaves node 0
    ground = ground_of(table)
    first, last = ground.numbered(pl.Series([route(1, 0), route(1, 2)])).values
    assert shortest_drive_m(np.array([first]), np.array([last]), ground).tolist() == [np.inf]
    assert shortest_drive_m(np.array([first]), np.array([first]), ground).tolist() == [100.0]
