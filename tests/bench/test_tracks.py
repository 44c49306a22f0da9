"""Readers of the two real sets, on files written here."""

from pathlib import Path

import polars as pl
import pytest

from bench.tracks import read_taxi_trips, read_track, read_track_network


@pytest.fixture
def track(tmp_path: Path) -> Path:
    folder = tmp_path / "00000001"
    folder.mkdir()
    files = {
        "nodes": "37.20\t56.00\n37.21\t56.00\n37.21\t56.01\n",
        "arcs": "0\t1\n1\t0\n1\t2\n",
        "track": "".join(f"37.2{k:02d}\t56.00\t{k}.0\n" for k in range(40)),
        "route": "0\n2\n",
    }
    for kind, text in files.items():
        (folder / f"00000001.{kind}").write_text(text)
    return folder


def test_a_track_is_thinned_to_its_interval_and_keeps_its_last_point(track: Path) -> None:
    points, route = read_track(track, interval_s=15.0, trace_id=4)
    assert points["t"].to_list() == [0, 15, 30, 39]
    assert points["trace_id"].to_list() == [4] * 4
    assert route.to_list() == [0, 2]


def test_arcs_become_edges_numbered_by_row_with_length_and_no_speed(track: Path) -> None:
    network = read_track_network(track)
    assert network.select("edge_id", "u", "v").rows() == [(0, 0, 1), (1, 1, 0), (2, 1, 2)]
    # 0.01 degrees of longitude at 56 degrees north are 624 m, 0.01 of latitude 1,114 m.
    assert network["length_m"].to_list() == pytest.approx([624, 624, 1114], rel=0.002)
    assert network["speed_kph"].null_count() == 3


def test_taxi_trips_of_three_points_or_fewer_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "train.csv"
    pl.DataFrame({
        "TRIP_ID": ["1", "2"], "TIMESTAMP": [1000, 2000],
        "POLYLINE": ["[[-8.6,41.1],[-8.5,41.2],[-8.4,41.3]]",
                     "[[-8.6,41.1],[-8.5,41.2],[-8.4,41.3],[-8.3,41.4]]"],
    }).write_csv(file)  # fmt: skip
    points = read_taxi_trips(file)
    assert points["trace_id"].to_list() == [1] * 4
    assert points["t"].to_list() == [2000, 2015, 2030, 2045]
    assert points.row(0)[2:] == (-8.6, 41.1)
