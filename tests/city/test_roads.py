"""Directed segments: where ways are cut, what each segment says, what is kept."""

import math
from dataclasses import replace

import networkx as nx
import numpy as np
import polars as pl
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.city.roads import CityRoads, RoadsReason, city_roads
from pipeline.city.segments import directed_segments, largest_component
from pipeline.city.ways import read_drivable_ways
from pipeline.errors import ParameterError, SourceError
from pipeline.schemas import check_rows
from tests.city.settings_for_tests import NETWORK, ROADS
from tests.city.worlds import BBOX, at, world

STREET = {"highway": "residential"}


def roads_of(folder, nodes, ways, *, bbox=BBOX) -> CityRoads:
    file = world(folder, nodes=nodes, ways=ways)
    found = read_drivable_ways(file, service_roads=False, name_tag="name")
    return city_roads(found, network=NETWORK, bbox=bbox, settings=ROADS)


def ids(frame: pl.DataFrame) -> list[str]:
    return frame["edge_id"].to_list()


def test_a_two_way_street_is_two_segments_each_with_its_own_heading(tmp_path):
    roads = roads_of(tmp_path, {1: (0, 0), 2: (0, 1)}, {10: ([1, 2], STREET)}).roads
    assert ids(roads) == ["10:1:2", "10:2:1"]
    assert roads["bearing_deg"].to_list() == pytest.approx([0.0, 180.0])
    assert roads["forward"].to_list() == [True, False]
    assert roads["oneway"].to_list() == [False, False]
    # One thousandth of a degree of latitude at 43.73 N is 111.1 m on WGS84.
    assert roads["length_m"].to_list() == pytest.approx([111.11, 111.11], abs=0.02)


def test_ways_are_cut_at_junctions_only(tmp_path):
    nodes = {1: (0, 0), 2: (1, 0), 3: (2, 0), 4: (1, 1), 5: (0.5, 0)}
    roads = roads_of(tmp_path, nodes, {10: ([1, 5, 2, 3], STREET), 11: ([4, 2], STREET)}).roads
    assert {i for i in ids(roads) if i.startswith("10:")} == {
        "10:1:2", "10:2:1", "10:2:3", "10:3:2",
    }  # fmt: skip
    line = shapely.from_wkb(
        roads.row(by_predicate=pl.col("edge_id") == "10:1:2", named=True)["geometry"]
    )
    assert list(line.coords) == [at(0, 0), at(0.5, 0), at(1, 0)]


def test_a_way_against_its_digitised_direction_is_driven_backwards(tmp_path):
    ways = {10: ([1, 2], {**STREET, "oneway": "-1"}), 11: ([1, 2], {**STREET, "oneway": "yes"})}
    roads = roads_of(tmp_path, {1: (0, 0), 2: (1, 0)}, ways).roads
    backwards = roads.row(by_predicate=pl.col("edge_id") == "10:2:1", named=True)
    assert ids(roads) == ["10:2:1", "11:1:2"]
    assert (backwards["forward"], backwards["oneway"]) == (False, True)
    assert backwards["bearing_deg"] == pytest.approx(270.0, abs=0.01)
    assert list(shapely.from_wkb(backwards["geometry"]).coords) == [at(1, 0), at(0, 0)]
    assert (backwards["u_lon"], backwards["v_lon"]) == (at(1, 0)[0], at(0, 0)[0])


def test_parallel_ways_between_two_nodes_stay_apart(tmp_path):
    nodes = {1: (0, 0), 2: (2, 0), 3: (1, 1)}
    roads = roads_of(tmp_path, nodes, {10: ([1, 2], STREET), 11: ([1, 3, 2], STREET)}).roads
    assert ids(roads) == ["10:1:2", "10:2:1", "11:1:2", "11:2:1"]


def test_a_way_that_passes_the_same_pair_twice_numbers_its_segments(tmp_path):
    nodes = {1: (0, 0), 2: (2, 0), 3: (1, 1)}
    roads = roads_of(tmp_path, nodes, {10: ([1, 2, 3, 1, 2], {**STREET, "oneway": "yes"})}).roads
    assert ids(roads) == ["10:1:2", "10:1:2:2", "10:2:1"]


def test_a_loop_is_a_segment_from_a_node_to_itself(tmp_path):
    nodes = {1: (0, 0), 2: (1, 0), 3: (2, 0), 4: (2, 1)}
    roads = roads_of(tmp_path, nodes, {10: ([1, 2], STREET), 11: ([2, 3, 4, 2], STREET)}).roads
    loops = roads.filter(pl.col("u") == pl.col("v"))
    assert ids(loops) == ["11:2:2", "11:2:2:2"]
    # The chord of a loop has no direction: its first step speaks, east and north-east.
    assert loops["bearing_deg"][0] == pytest.approx(90.0, abs=0.01)
    assert 0 < loops["bearing_deg"][1] < 90


def test_a_roundabout_is_driven_one_way_round(tmp_path):
    nodes = {1: (-1, 0), 2: (0, 0), 3: (1, 0), 4: (1, 1), 5: (0, 1), 6: (2, 1)}
    ways = {
        10: ([1, 2], STREET),
        11: ([2, 3, 4, 5, 2], {**STREET, "junction": "roundabout"}),
        12: ([4, 6], STREET),
    }
    roads = roads_of(tmp_path, nodes, ways).roads
    assert {i for i in ids(roads) if i.startswith("11:")} == {"11:2:4", "11:4:2"}
    assert roads.filter(pl.col("way_id") == 11)["oneway"].all()


def test_a_missing_node_cuts_the_way_instead_of_bridging_the_gap(tmp_path):
    nodes = {1: (0, 0), 2: (1, 0), 4: (5, 0), 5: (6, 0)}
    made = roads_of(tmp_path, nodes, {10: ([1, 2, 3, 4, 5], STREET)})
    assert made.metrics["dropped_way_nodes"] == 1
    assert ids(made.roads) == ["10:1:2", "10:2:1"]
    assert ids(made.rejected.rename({"item_id": "edge_id"})) == ["10:4:5", "10:5:4"]


def test_a_way_is_cut_where_it_leaves_the_bbox(tmp_path):
    nodes = {1: (0, 0), 2: (1, 0), 3: (2, 0), 4: (3, 0)}
    west, south, _, north = BBOX
    made = roads_of(
        tmp_path, nodes, {10: ([1, 2, 3, 4], STREET)}, bbox=(west, south, at(1.5, 0)[0], north)
    )
    assert ids(made.roads) == ["10:1:2", "10:2:1"]
    assert made.metrics["dropped_way_nodes"] == 2


def test_a_node_noted_twice_makes_no_segment_of_zero_length(tmp_path):
    roads = roads_of(tmp_path, {1: (0, 0), 2: (1, 0)}, {10: ([1, 2, 2], STREET)}).roads
    assert ids(roads) == ["10:1:2", "10:2:1"]


def test_two_nodes_on_one_spot_make_no_segment_and_are_counted(tmp_path):
    nodes = {1: (0, 0), 2: (0, 0), 3: (1, 0)}
    made = roads_of(tmp_path, nodes, {10: ([1, 2], STREET), 11: ([1, 3], STREET)})
    assert ids(made.roads) == ["11:1:3", "11:3:1"]
    assert made.metrics["zero_length_pieces"] == 1


def test_segments_outside_the_largest_component_are_rejected_by_name(tmp_path):
    nodes = {1: (0, 0), 2: (1, 0), 3: (2, 0), 4: (3, 0)}
    ways = {10: ([1, 2, 3], STREET), 11: ([3, 4], {**STREET, "oneway": "yes", "name": "Sackgasse"})}
    made = roads_of(tmp_path, nodes, ways)
    assert ids(made.roads) == ["10:1:3", "10:3:1"]
    assert made.rejected.rows() == [
        ("11:3:4", "roads", RoadsReason.OUTSIDE_COMPONENT.value, "residential Sackgasse, 80.6 m")
    ]
    assert made.metrics["segments"] + made.metrics["rejected_segments"] == 3


def test_a_posted_speed_counts_and_an_unbelievable_one_does_not(tmp_path):
    ways = {
        10: ([1, 2], {**STREET, "maxspeed": "50"}),
        11: ([1, 2], {**STREET, "maxspeed": "500"}),
        12: ([1, 2], STREET),
    }
    roads = roads_of(tmp_path, {1: (0, 0), 2: (1, 0)}, ways).roads
    assert roads.filter(pl.col("forward"))["speed_kph"].to_list() == [50.0, 36.0, 36.0]
    assert roads.filter(pl.col("forward"))["speed_source"].to_list() == [
        "maxspeed", "class", "class",
    ]  # fmt: skip


def test_every_row_keeps_the_schema(tmp_path):
    roads = roads_of(tmp_path, {1: (0, 0), 2: (1, 0.5)}, {10: ([1, 2], STREET)}).roads
    rows = roads.with_columns(pl.col("geometry").bin.encode("hex")).to_dicts()
    check_rows("road", rows, where="roads", first_row=0, key="edge_id")


def test_no_road_inside_the_bbox_is_a_source_error(tmp_path):
    with pytest.raises(SourceError, match="expected drivable roads inside the bbox"):
        roads_of(tmp_path, {1: (0, 0), 2: (1, 0)}, {10: ([1, 2], STREET)}, bbox=(0, 0, 1, 1))


def test_a_class_without_a_speed_is_a_parameter_error(tmp_path):
    file = world(tmp_path, nodes={1: (0, 0), 2: (1, 0)}, ways={10: ([1, 2], STREET)})
    found = read_drivable_ways(file, service_roads=False, name_tag="name")
    slow = {k: v for k, v in ROADS.class_speed_kph.items() if k != "residential"}
    settings = type(ROADS)(class_speed_kph=slow, slowest_kph=5.0, fastest_kph=140.0)
    with pytest.raises(ParameterError, match=r"roads\.class_speed_kph.*residential"):
        city_roads(found, network=NETWORK, bbox=BBOX, settings=settings)


def test_bearings_are_unit_vectors(tmp_path):
    nodes = {i: (math.cos(i), math.sin(i)) for i in range(7)} | {9: (0, 0)}
    roads = roads_of(tmp_path, nodes, {i: ([9, i], STREET) for i in range(7)}).roads
    norm = roads["bearing_sin"] ** 2 + roads["bearing_cos"] ** 2
    assert norm.to_list() == pytest.approx([1.0] * 14)
    assert roads["bearing_deg"].is_between(0, 360, closed="left").all()


def test_equal_components_are_told_apart_by_the_smallest_node():
    u, v = np.array([5, 6, 1, 2]), np.array([6, 5, 2, 1])
    assert largest_component(u, v).tolist() == [False, False, True, True]


def test_no_segments_have_no_component():
    assert (
        largest_component(np.array([], dtype=np.int64), np.array([], dtype=np.int64)).tolist() == []
    )


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=40))
def test_the_largest_component_is_what_networkx_finds(edges):
    u, v = np.array(edges, dtype=np.int64).T
    graph = nx.MultiDiGraph(edges)
    parts = sorted(nx.strongly_connected_components(graph), key=lambda p: (-len(p), min(p)))
    expected = [a in parts[0] and b in parts[0] for a, b in edges]
    assert largest_component(u, v).tolist() == expected


def test_the_order_of_ways_changes_no_row(tmp_path):
    nodes = {1: (0, 0), 2: (1, 0), 3: (2, 0)}
    ways = {10: ([1, 2], STREET), 11: ([2, 3], STREET), 12: ([3, 1], STREET)}
    first = roads_of(tmp_path, nodes, ways).roads
    second = roads_of(tmp_path, nodes, dict(reversed(ways.items()))).roads
    assert first.equals(second)


def test_whole_segments_are_kept_where_nothing_is_split(tmp_path):
    nodes = {1: (0, 0), 2: (1, 0), 3: (2, 0)}
    file = world(tmp_path, nodes=nodes, ways={10: ([1, 2, 3], STREET), 11: ([2, 3], STREET)})
    found = read_drivable_ways(file, service_roads=False, name_tag="name")
    whole = directed_segments(replace(found), bbox=BBOX, split=False)
    assert list(zip(whole.u.tolist(), whole.v.tolist(), strict=True)) == [
        (1, 3), (3, 1), (2, 3), (3, 2),
    ]  # fmt: skip
