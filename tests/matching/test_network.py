"""The network's arrays, its table on disk, and the nearest-edge baseline."""

import numpy as np
import polars as pl
import pytest
import shapely

from pipeline.errors import ContractError, ParameterError
from pipeline.trips.matching.network import Network
from pipeline.trips.matching.path_table import PathTable
from tests.matching.towns import Town, chequerboard, degrees, drive, edge_rows

NODES = {"a": (0, 0), "b": (300, 0), "c": (300, 400)}


def test_lengths_come_from_the_geometry_and_unknown_speeds_are_30_kph():
    town = Town(NODES, ["a-b", "b>c"], speeds={"b>c": 40.0})
    edges = town.network.graph.edges
    by_name = dict(zip(town.network.edge_ids, edges, strict=True))
    assert by_name["a>b"]["length"] == pytest.approx(300, abs=0.01)
    assert by_name["b>c"]["weight"] == pytest.approx(300, abs=0.01)
    assert by_name["a>b"]["weight"] == pytest.approx(300, abs=0.01)


def test_a_faster_road_weighs_less():
    town = Town(NODES, ["a>b", "b>c"], speeds={"a>b": 60.0, "b>c": 20.0})
    weight = dict(zip(town.network.edge_ids, town.network.graph.edges["weight"], strict=True))
    assert weight["a>b"] == pytest.approx(300 * 30 / 60, rel=1e-4)
    assert weight["b>c"] == pytest.approx(400 * 30 / 20, rel=1e-4)


def test_headings_are_those_of_the_ends_and_a_choice_is_where_roads_part():
    town = Town({**NODES, "d": (600, 0)}, ["a>b", "b>c", "b>d via 450,-100", "c>d"], speeds={})
    edges = dict(zip(town.network.edge_ids, town.network.graph.edges, strict=True))
    assert edges["a>b"]["arrives"] == pytest.approx(0.0, abs=0.01)
    assert edges["b>c"]["sets_out"] == pytest.approx(np.pi / 2, abs=0.01)
    assert edges["b>d"]["sets_out"] == pytest.approx(-np.arctan2(100, 150), abs=0.01)
    assert edges["b>d"]["arrives"] == pytest.approx(np.arctan2(100, 150), abs=0.01)
    assert [bool(edges[name]["forks"]) for name in ("a>b", "b>c", "c>d")] == [True, False, False]


def test_twins_are_found_by_geometry():
    town = Town(
        {"a": (0, 0), "b": (300, 0)}, ["a-b", "a>b#north via 150,30", "b>a#south via 150,-30"]
    )
    names, twin = town.network.edge_ids, town.network.graph.edges["twin"]
    partner = {n: names[int(t)] if t >= 0 else None for n, t in zip(names, twin, strict=True)}
    assert partner == {"a>b": "b>a", "b>a": "a>b", "a>b#north": None, "b>a#south": None}


def test_the_hash_is_that_of_the_content():
    frame = edge_rows(NODES, ["a-b", "b>c"])
    assert Network.from_frame(frame).content_hash == Network.from_frame(frame).content_hash
    other = Network.from_frame(edge_rows({**NODES, "c": (300, 401)}, ["a-b", "b>c"]))
    assert other.content_hash != Network.from_frame(frame).content_hash


POINT = shapely.to_wkb(shapely.Point(3, 42))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop("u"), r"columns \['u'\] are missing"),
        (lambda f: f.clear(), "no edges"),
        (lambda f: f.with_columns(edge_id=pl.lit("x")), "edge_id 'x' is there more than once"),
        (lambda f: f.with_columns(length_m=pl.lit(-1.0)), "length_m of edge .* is -1"),
        (lambda f: f.with_columns(length_m=pl.lit("9")), "length_m is String"),
        (lambda f: f.with_columns(speed_kph=pl.lit(0.0)), "speed_kph of edge .* is 0"),
        (lambda f: f.with_columns(geometry=pl.lit("LINE")), "geometry is String"),
        (lambda f: f.with_columns(geometry=pl.lit(b"\x07")), "geometry is not WKB"),
        (lambda f: f.with_columns(geometry=pl.lit(POINT)), "is a Point, expected LineString"),
        (lambda f: f.with_columns(v=pl.lit(1)), "u is String and v is Int32"),
        (lambda f: f.with_columns(u=pl.lit(None, pl.String)), "rows have no u"),
    ],
)
def test_a_faulty_network_is_refused(change, message):
    with pytest.raises(ContractError, match=message):
        Network.from_frame(change(edge_rows(NODES, ["a-b", "b>c"])))


def test_a_saved_table_is_mapped_back_and_knows_its_network(tmp_path):
    town = chequerboard()
    town.table.save(tmp_path / "table")
    opened = PathTable.open(tmp_path / "table", town.network)
    assert (opened.bound_m, opened.rows) == (town.table.bound_m, town.table.rows)
    assert np.array_equal(opened.table.paths, town.table.table.paths)
    with pytest.raises(ParameterError, match="path table of network"):
        PathTable.open(tmp_path / "table", Town(NODES, ["a-b"]).network)
    with pytest.raises(ParameterError, match="no path table here"):
        PathTable.open(tmp_path, town.network)


def test_the_table_does_not_depend_on_the_number_of_workers():
    network = chequerboard().network
    one, many = (PathTable.build(network, bound_m=900, max_mb=9, workers=w) for w in (1, 3))
    assert np.array_equal(one.table.start, many.table.start)
    assert np.array_equal(one.table.paths, many.table.paths)


def test_a_network_of_far_apart_towns_has_a_grid_of_bounded_size():
    far = {"a": (0, 0), "b": (100, 0), "c": (400_000, 300_000), "d": (400_100, 300_000)}
    town = Town(far, ["a-b", "c-d"])
    assert town.network.grid.columns * town.network.grid.rows < 4_100_000
    assert town.match([(10, 1, 0), (90, 1, 15)]).trips["parts"][0] == 1


def test_crowded_candidates_are_cut_to_the_nearest_streets():
    nodes, streets = {}, []
    for k in range(40):
        nodes |= {f"w{k}": (0, 3 * k), f"e{k}": (500, 3 * k)}
        streets.append(f"w{k}>e{k}")
    town = Town(nodes, streets)
    path = town.match(drive((20, 60), (480, 60), step_s=10)).path
    assert path["edge_id"].to_list() == ["w20>e20"]
    assert degrees(0, 0)[0] == pytest.approx(3.0, abs=1e-9)
