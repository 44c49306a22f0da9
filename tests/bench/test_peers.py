"""What all adapters share, and one peer-free matcher through the whole table."""

import numpy as np
import polars as pl

from bench import report
from bench.peers.frames import Route, traces
from bench.peers.osm_file import write_osm_file
from tests.bench.towns import square_town

POINTS = pl.DataFrame({
    "trace_id": [5, 5, 5, 9], "t": [0.0, 15.0, 30.0, 0.0],
    "lon": [0.0, 1.0, 2.0, 3.0], "lat": [0.0] * 4,
})  # fmt: skip


def test_traces_are_cut_where_the_id_changes() -> None:
    lon, lat = POINTS["lon"].to_numpy(), POINTS["lat"].to_numpy()
    cut = [(trace.trace_id, trace.first, trace.x.tolist()) for trace in traces(POINTS, lon, lat)]
    assert cut == [(5, 0, [0, 1, 2]), (9, 3, [3])]


def test_a_route_drops_repeats_within_a_part_but_keeps_them_across_parts() -> None:
    route = Route(len(POINTS))
    for part, edge in ((0, 1), (0, 1), (0, 2), (1, 2), (1, 1)):
        route.add(5, part, edge)
    route.point_edge[:] = np.array([1, -1, 2, -1])
    matched = route.matched(POINTS)
    assert matched.path.select("part", "edge_id").rows() == [(0, 1), (0, 2), (1, 2), (1, 1)]
    assert matched.points["i"].to_list() == [0, 1, 2, 0]
    assert matched.points["edge_id"].to_list() == [1, None, 2, None]
    assert matched.points["status"].to_list() == ["matched", None, "matched", None]


def test_each_pair_of_neighbouring_nodes_names_one_directed_edge(tmp_path) -> None:
    town = square_town(2, 100.0)
    ways = write_osm_file(town, tmp_path / "town.osm.pbf")
    pairs = [pair for way in ways for pair in (tuple(way.nodes), tuple(way.nodes[::-1]))]
    assert len(set(pairs)) == len(town)


def test_the_report_names_what_was_not_available_and_gives_the_ratio() -> None:
    one = {
        "trips": 1, "points": 5000, "points_per_cpu_s": 100.0, "f1": 0.9, "parts_per_trip": 1.0,
        "jumps": 0,
    }  # fmt: skip
    text = report.render({
        "sets": {"kubicka15": {"ours": one, "slow": one | {"points_per_cpu_s": 25.0}}},
        "startup": {}, "scaling": {}, "missing": {"osrm": "no Python 3.12 environment"},
    })  # fmt: skip
    assert "4.0 x" in text
    assert "osrm: not available (no Python 3.12 environment)" in text


def test_a_set_of_few_points_shows_no_speed() -> None:
    few = {
        "trips": 1, "points": 10, "points_per_cpu_s": 100.0, "f1": 0.9, "parts_per_trip": 1.0,
        "jumps": 0,
    }  # fmt: skip
    assert "CPU" not in report.set_table("kubicka15", {"ours": few})
