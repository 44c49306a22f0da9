"""Where words lie on the town's map, and routes over what is asked, against brute force."""

import itertools

import networkx as nx
import numpy as np
import pytest

from pipeline.tasks.baselines.grounding import Grounding, Near
from pipeline.tasks.baselines.routing import MOST_TRIED, Routing, Way
from pipeline.tasks.released import open_release
from pipeline.tasks.text_index import Bm25
from tests.tasks.baselines.asking import write_asking_town

HERE = Near(np.zeros(2), 0.0, np.empty(0, np.int32))


@pytest.fixture(scope="module")
def grounding(tmp_path_factory):
    folder = write_asking_town(tmp_path_factory.mktemp("town"))
    return Grounding(open_release(folder).for_models("generation"), Bm25)


def ids(grounding, segments):
    return set(grounding.ground.ids.gather(segments))


def near(grounding, node_id, away_m=0.0, beside=()):
    at = next(k for k, one in enumerate(grounding.ground.ids) if one.split(":")[1] == node_id)
    start = grounding.plane[grounding.ground.u[at]]
    return Near(start, away_m, np.array(beside, np.int32))


def test_a_road_is_all_its_segments_cell_by_cell(grounding):
    spots = grounding.spots("Street 3", near(grounding, "20"))
    found = [ids(grounding, spot) for spot in spots]
    assert set().union(*found) == {
        f"3:{u}:{v}" for u, v in itertools.permutations(range(20, 25), 2) if abs(u - v) == 1
    }
    assert any("3:20:21" in spot for spot in found[:1])  # the nearest to its start
    far = grounding.spots("street 3", near(grounding, "20", away_m=400))
    assert ids(grounding, far[0]) & {"3:23:24", "3:24:23"}


def test_a_place_is_its_nearest_segments_both_ways(grounding):
    (spot,) = grounding.spots("corner bank", HERE)
    assert ids(grounding, spot) == {"4:30:31", "4:31:30"}


def test_a_kind_of_place_is_found_by_description_nearest_first(grounding):
    spots = grounding.spots("a bakery", near(grounding, "24"))
    assert ids(grounding, spots[0]) & {"3:23:24", "3:24:23"}
    assert ids(grounding, spots[1]) & {"1:1:2", "1:2:1"}
    beside = grounding.segments("Street 1")
    spots = grounding.spots("a bakery", near(grounding, "24", beside=beside))
    assert ids(grounding, spots[0]) & {"1:1:2", "1:2:1"}


def test_zones_kinds_and_unknown_words(grounding):
    park = ids(grounding, grounding.segments("the parks"))
    assert {"3:20:21", "4:33:34"} <= park
    assert ids(grounding, grounding.segments("bakery")) >= {"1:1:2", "3:23:24"}
    assert grounding.segments("xylophone").size == 0
    assert grounding.spots("xylophone", HERE) == []


def graph_of(ground):
    graph = nx.DiGraph()
    for k in range(ground.segments):
        graph.add_edge(int(ground.u[k]), int(ground.v[k]), weight=float(ground.length_m[k]))
    return graph


def chain_m(grounding, chain):
    """Return the length of a chain as the crow flies: that of its segments and the gaps between."""
    ground, plane = grounding.ground, grounding.plane
    total = ground.length_m[chain[0]]
    for one, other in itertools.pairwise(chain):
        if one != other:
            total += np.hypot(*(plane[ground.u[other]] - plane[ground.v[one]]))
            total += ground.length_m[other]
    return total


@pytest.mark.parametrize("draw", range(12))
def test_the_chain_is_the_shortest_of_all(grounding, draw):
    rng = np.random.Generator(np.random.Philox(draw))
    start = int(rng.integers(grounding.ground.segments))
    stages = [
        rng.choice(grounding.ground.segments, size=4, replace=False).astype(np.int32)
        for _ in range(3)
    ]
    chain, length = Routing(grounding)._shortest([np.array([start], np.int32), *stages])
    best = min(chain_m(grounding, [start, *some]) for some in itertools.product(*stages))
    assert length == pytest.approx(best)
    assert chain_m(grounding, chain) == pytest.approx(best)


@pytest.mark.parametrize("draw", range(6))
def test_what_may_be_passed_anywhere_is_put_where_it_costs_least(grounding, draw):
    rng = np.random.Generator(np.random.Philox(100 + draw))
    start, first, stop, last = (
        np.array([one], np.int32)
        for one in rng.choice(grounding.ground.segments, size=4, replace=False)
    )
    routing = Routing(grounding)
    routing.add(int(start[0]), Way([first, last], [stop]))
    orders = ([start, stop, first, last], [start, first, stop, last])
    best = min(chain_m(grounding, [int(one[0]) for one in order]) for order in orders)
    assert chain_m(grounding, routing._chains[0]) == pytest.approx(best)


def test_a_route_is_the_shortest_over_its_stages_and_keeps_off_what_is_avoided(grounding):
    ground = grounding.ground
    number = {one: k for k, one in enumerate(ground.ids)}
    start, end = number["1:0:1"], np.array([number["1:3:4"]], np.int32)
    avoided = np.array([number["1:1:2"], number["1:2:3"]], np.int32)
    stop = np.array([number["103:12:22"]], np.int32)
    routing = Routing(grounding)
    routing.add(start, Way([end]))
    routing.add(start, Way([end], soft=[(avoided, 5.0)]))
    routing.add(start, Way([stop, end]))
    plain, kept_off, over = routing.routes()
    assert plain == ["1:0:1", "1:1:2", "1:2:3", "1:3:4"]
    assert not {"1:1:2", "1:2:3"} & set(kept_off)
    assert len(kept_off) == 6
    graph = graph_of(ground)
    legs = [
        nx.dijkstra_path_length(graph, int(ground.v[a]), int(ground.u[b]))
        for a, b in ((start, stop[0]), (stop[0], end[0]))
    ]
    assert "103:12:22" in over
    assert ground.length_m[[number[one] for one in over]].sum() == pytest.approx(sum(legs) + 300)


def test_of_a_large_set_those_least_off_the_way_are_tried(grounding):
    routing = Routing(grounding)
    every = np.arange(grounding.ground.segments, dtype=np.int32)
    many = np.tile(every, 1 + MOST_TRIED // len(every))
    number = {one: k for k, one in enumerate(grounding.ground.ids)}
    kept = routing._thinned(many, number["1:0:1"], np.array([number["1:3:4"]], np.int32))
    assert len(kept) == MOST_TRIED
    assert "1:1:2" in ids(grounding, np.unique(kept))
    assert (
        routing._thinned(every, 0, every) is every
        if len(every) <= MOST_TRIED
        else len(routing._thinned(every, 0, every)) == MOST_TRIED
    )
