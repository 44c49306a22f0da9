"""Metrics against numbers worked out by hand."""

import math

import polars as pl
import pytest

from bench import accuracy
from tests.bench.towns import CORNER, GEOD, chain, square_town

NETWORK = chain({"a": 100.0, "b": 50.0, "c": 30.0})


def path(*edges: str, trace_id: int = 7, parts: str = "") -> pl.DataFrame:
    return pl.DataFrame({
        "trace_id": [trace_id] * len(edges),
        "part": [int(p) for p in parts or "0" * len(edges)],
        "edge_id": list(edges),
    })  # fmt: skip


def scores(truth: pl.DataFrame, found: pl.DataFrame) -> dict[str, float]:
    return accuracy.route_scores(accuracy.trip_metres(truth, found, NETWORK))


def test_an_edge_driven_twice_counts_twice() -> None:
    got = scores(path("a", "b", "a"), path("a", "b", "c"))
    assert got["precision"] == pytest.approx(150 / 180)
    assert got["recall"] == pytest.approx(150 / 250)
    assert got["f1"] == pytest.approx(2 * 150 / (180 + 250))
    assert got["rmf"] == pytest.approx((100 + 30) / 250)
    assert got["exact"] == 0


def test_the_true_route_scores_one_and_is_exact() -> None:
    got = scores(path("a", "b", "a"), path("a", "b", "a"))
    assert (got["f1"], got["rmf"], got["exact"]) == (1, 0, 1)


def test_an_edge_on_both_sides_of_a_break_is_one_passage() -> None:
    got = scores(path("a", "b", "c"), path("a", "b", "b", "c", parts="0011"))
    assert (got["precision"], got["recall"]) == (1, 1)


def test_a_trip_nobody_matched_is_all_missing() -> None:
    truth = pl.concat([path("a"), path("a", trace_id=8)])
    got = scores(truth, path("a"))
    assert (got["precision"], got["recall"], got["rmf"], got["exact"]) == (1, 0.5, 0.5, 0.5)


def test_metres_are_pooled_over_trips_not_averaged() -> None:
    truth = pl.concat([path("a"), path("c", trace_id=8)])
    got = scores(truth, pl.concat([path("a"), path("b", trace_id=8)]))
    assert got["recall"] == pytest.approx(100 / 130)
    assert got["precision"] == pytest.approx(100 / 150)


def test_scores_of_nothing_are_not_numbers() -> None:
    got = scores(path("a").clear(), path("a").clear())
    assert got["trips"] == 0
    assert math.isnan(got["f1"])


def test_a_point_without_an_edge_counts_as_wrong() -> None:
    fixes = pl.DataFrame({"trace_id": [7] * 4, "i": [0, 1, 2, 3], "edge_id": ["a", "a", "b", "c"]})
    points = pl.DataFrame({"trace_id": [7] * 3, "i": [0, 1, 2], "edge_id": ["a", None, "c"]})
    assert accuracy.point_edge_accuracy(fixes, points) == 0.25


def test_entry_times_compare_the_same_passage_and_leave_the_first_edge_out() -> None:
    truth = path("a", "b", "a", "c").with_columns(t_enter_s=pl.Series([0.0, 10.0, 20.0, 30.0]))
    found = path("a", "b", "a").with_columns(t_enter_s=pl.Series([5.0, 11.0, 23.0]))
    got = accuracy.entry_time_error_s(truth, found)
    assert got["entry_n"] == 2
    assert got["entry_s_p50"] == pytest.approx(2.0)


def test_entry_times_of_a_matcher_without_times_are_not_numbers() -> None:
    got = accuracy.entry_time_error_s(path("a"), path("a"))
    assert math.isnan(got["entry_s_p50"])


def test_every_trip_has_one_noise_class() -> None:
    trips = pl.DataFrame({
        "trace_id": [1, 2, 3, 4], "sigma_m": [5.0, 10.0, 20.0, 20.0],
        "outliers": [0, 2, 1, 0], "lost": [0, 0, 6, 6],
    })  # fmt: skip
    kinds = accuracy.noise_class(trips)["kind"].to_list()
    assert kinds == ["sigma5", "outliers", "outliers", "gaps"]


def test_a_jump_is_a_joint_inside_a_part_that_does_not_touch() -> None:
    together = accuracy.joint_faults(path("a", "b", "c"), NETWORK)
    jumping = accuracy.joint_faults(path("a", "c"), NETWORK)
    declared = accuracy.joint_faults(path("a", "c", parts="01"), NETWORK)
    assert [f["jumps"] for f in (together, jumping, declared)] == [0, 1, 0]
    assert jumping["trips_with_jump"] == 1


def test_a_u_turn_is_an_edge_followed_by_its_way_back() -> None:
    network = pl.DataFrame({"edge_id": ["ab", "ba"], "u": [1, 2], "v": [2, 1]})
    assert accuracy.joint_faults(path("ab", "ba"), network)["u_turns"] == 1


def test_route_length_counts_driven_metres_against_metres_of_gps() -> None:
    gps_m = pl.DataFrame({"trace_id": [7, 8, 9], "gps_m": [1000.0, 1000.0, 200.0]})
    ground = accuracy.Ground(pl.Series([True, False, False, True]), gps_m)
    network = chain({"a": 2000.0, "b": 500.0})
    found = pl.concat([path("a"), path("b", "b", trace_id=8, parts="01")]).with_columns(
        off_from_m=pl.Series([400.0, None, None]), off_to_m=pl.Series([2000.0, None, None])
    )
    points = pl.DataFrame({
        "edge_id": ["a", None, None, "b"], "status": ["matched", "outlier", None, None]
    })  # fmt: skip
    got = accuracy.plausibility_scores(ground, found, points, network)
    assert got["judged"] == 2
    assert got["length_p50"] == pytest.approx((1.6 + 1.0) / 2)
    assert got["over_1.5"] == 0.5
    assert (got["points_matched"], got["points_explained"]) == (0.5, 0.75)
    assert got["near_matched"] == 1
    assert got["parts_per_trip"] == 1


def test_metres_of_gps_run_between_points_near_a_road_only() -> None:
    town = square_town(3, 100.0)
    west, south = CORNER
    lon = GEOD.fwd([west] * 4, [south] * 4, [90] * 4, [0, 50, 450, 100])[0]
    points = pl.DataFrame({"trace_id": [7, 7, 7, 7], "lon": lon, "lat": [south] * 4})
    points = pl.concat([points, pl.DataFrame({"trace_id": [8], "lon": [0.0], "lat": [0.0]})])
    ground = accuracy.on_network(points, town)
    assert ground.near.to_list() == [True, True, False, True, False]
    assert ground.gps_m["trace_id"].to_list() == [7, 8]
    assert ground.gps_m["gps_m"].to_list() == pytest.approx([100, 0], rel=0.002)


def turning(*t_enter_s: float | None, trace_id: int = 7, parts: str = "") -> pl.DataFrame:
    """Return a path that goes to and fro, entering each edge at a time."""
    edges = [("ab", "ba")[k % 2] for k in range(len(t_enter_s))]
    return path(*edges, trace_id=trace_id, parts=parts).with_columns(
        t_enter_s=pl.Series(list(t_enter_s), dtype=pl.Float64)
    )


TO_AND_FRO = pl.DataFrame({"edge_id": ["ab", "ba"], "u": [1, 2], "v": [2, 1]})


@pytest.mark.parametrize(
    ("found", "pairs"),
    [
        (turning(0, 100), 0),
        (turning(0, 100, 105), 1),
        (turning(0, 100, 105.1), 0),
        (turning(0, 100, 100, 100), 2),
        (turning(0, 100, 101, 102, parts="0011"), 0),
        (turning(None, None, None), 0),
        (turning(0).clear(), 0),
        (pl.concat([turning(0, 100), turning(0, 100, trace_id=8)]), 0),
    ],
)
def test_two_u_turns_of_one_part_within_five_seconds_are_a_pair(found, pairs) -> None:
    assert accuracy.u_turn_pairs(found, TO_AND_FRO) == pairs


def test_fixes_lost_on_a_street_are_a_share_of_outliers_and_of_all_fixes_there() -> None:
    town = square_town(2, 200.0)
    places = [(100.0, 9.0), (100.0, -11.0), (9.0, 100.0), (50.0, 0.0)]
    lonlat = [GEOD.fwd(*GEOD.fwd(*CORNER, 90, east)[:2], 0, north)[:2] for east, north in places]
    fixes = pl.DataFrame(lonlat, schema=["lon", "lat"], orient="row")
    points = pl.DataFrame({
        "status": ["outlier", "outlier", "no_route", "matched"], "edge_id": [None, None, None, 1000]
    })  # fmt: skip
    assert accuracy.outliers_near_road(fixes, points, town) == pytest.approx(1 / 2)
    assert accuracy.lost_near_road(fixes, points, town) == pytest.approx(2 / 3)
    assert math.isnan(accuracy.outliers_near_road(fixes.head(0), points.head(0), town))
    assert math.isnan(accuracy.lost_near_road(fixes.head(0), points.head(0), town))
