"""What users of matchers have reported, one small town for each report."""

import math

import polars as pl
import pytest
import shapely

from pipeline.errors import ContractError, ParameterError
from pipeline.trips.matching.matcher import Matcher
from pipeline.trips.matching.network import Network
from pipeline.trips.matching.path_table import PathTable
from tests.matching.towns import Town, chequerboard, degrees, drive, edges_of, joints_hold, points

STREET = Town({"a": (0, 0), "b": (400, 0), "c": (800, 0), "d": (1200, 0)}, ["a-b", "b-c", "c-d"])
ALONG = "a>b b>c c>d"


def test_a_car_that_stands_and_rolls_back_drives_no_loop():
    trace = [(50, 2, 0), (200, 1, 15), (203, 2, 30), (197, 0, 45), (201, 1, 60), (350, 2, 75)]
    result = STREET.match([*trace, (500, 0, 90)])
    assert edges_of(result.path) == "a>b b>c"
    assert result.points["status"].to_list()[2:5] == ["standing"] * 3


def test_one_far_outlier_is_named_and_makes_no_trip_there_and_back():
    town = chequerboard()
    trace = drive((0, 200), (1000, 200))
    trace[3] = (450, 500, 45)
    result = town.match(trace)
    assert result.points["status"][3] == "outlier"
    assert result.trips["reasons"][0].to_list() == ["outliers"]
    assert edges_of(result.path) == "0.1>1.1 1.1>2.1 2.1>3.1 3.1>4.1 4.1>5.1"


def test_a_car_that_turns_off_at_a_crossing_and_returns_keeps_both_legs():
    town = Town({"a": (0, 0), "b": (400, 0), "c": (800, 0), "e": (400, 300)}, ["a-b", "b-c", "b-e"])
    trace = drive((0, 0), (400, 0), (400, 150), (400, 0), (800, 0))
    assert town.path(trace) == "a>b b>e e>b b>c"


def test_fast_sampling_between_two_one_way_lanes_drives_no_circles():
    town = Town(
        {"a": (0, 0), "b": (600, 0), "c": (600, 12), "d": (0, 12)},
        ["a>b", "b>c", "c>d", "d>a"],
    )
    trace = [(10 + 10 * k, 9 if k % 2 else 2, k) for k in range(50)]
    assert town.path(trace) == "a>b"


def test_identical_end_points_a_metre_back_are_still_matched():
    trace = [*drive((0, 0), (1000, 0), step_s=1), (999, 0, 101), (999, 0, 101)]
    result = STREET.match(trace)
    assert result.points["edge_id"].null_count() == 0
    assert edges_of(result.path) == ALONG


def test_a_pair_further_apart_than_the_table_reaches_is_joined_by_search():
    nodes = {f"n{k}": (500 * k, 0) for k in range(9)}
    town = Town(nodes, [f"n{k}-n{k + 1}" for k in range(8)], table_bound_m=600.0)
    result = town.match([(50, 0, 0), (200, 0, 15), (3700, 0, 200), (3900, 0, 215)])
    assert edges_of(result.path) == " ".join(f"n{k}>n{k + 1}" for k in range(8))


def test_a_pair_with_no_plausible_route_is_a_break_with_a_reason():
    result = STREET.match([(50, 0, 0), (200, 0, 15), (220, 0, 2000), (500, 0, 2015)])
    assert edges_of(result.path) == "a>b | a>b b>c"
    assert result.trips["reasons"][0].to_list() == ["gap_time"]


def test_an_absurd_bound_is_predicted_and_made_smaller_to_fit_the_memory():
    network = chequerboard().network
    table = PathTable.build(network, bound_m=1e7, max_mb=0.01, workers=1)
    assert table.size_mb < 0.02
    assert 0 < table.bound_m < 1e7
    with pytest.raises(ParameterError, match="table_bound_m is nan"):
        PathTable.build(network, bound_m=math.nan, max_mb=1.0)


def test_points_in_metres_are_an_error():
    with pytest.raises(ContractError, match="expected degrees, not metres"):
        STREET.matcher.match(
            pl.DataFrame({"trace_id": [1], "t": [0.0], "lon": [5e5], "lat": [4.6e6]})
        )


def test_a_network_in_metres_is_an_error():
    line = shapely.to_wkb(shapely.LineString([(500_000, 4_650_000), (500_100, 4_650_000)]))
    frame = STREET.frame.head(1).with_columns(geometry=pl.lit(line))
    with pytest.raises(ContractError, match="is the network in metres"):
        Network.from_frame(frame)


def test_a_two_way_street_stored_once_is_a_one_way_street():
    town = Town({"a": (0, 0), "b": (400, 0), "c": (800, 0)}, ["a>b", "b>c"])
    assert town.path(drive((0, 0), (800, 0))) == "a>b b>c"
    back = town.match(drive((800, 0), (0, 0)))
    assert back.trips["reasons"][0].to_list() != []
    assert joints_hold(back.path, town.frame)


@pytest.mark.parametrize("kind", [pl.String, pl.Int64, pl.UInt16])
def test_ids_of_any_type_survive(kind):
    ids = pl.Series("edge_id", [str(7 + k) for k in range(STREET.frame.height)]).cast(kind)
    matcher = Matcher(Network.from_frame(STREET.frame.with_columns(ids)), STREET.settings)
    result = matcher.match(points(drive((0, 0), (1200, 0)), ids=["taxi 7"]))
    assert result.path["edge_id"].dtype == kind
    assert result.path["edge_id"].cast(pl.String).to_list() == ["7", "9", "11"]
    assert set(result.path["trace_id"]) == {"taxi 7"}


def test_threads_share_one_table_and_agree():
    traces = [drive((0, 200 * (k % 5)), (1000, 200 * (k % 5)), start=k) for k in range(40)]
    town = chequerboard()
    one = town.match(*traces, workers=1)
    many = Matcher(town.network, town.settings, town.table).match(points(*traces), workers=3)
    assert all(a.equals(b) for a, b in zip(one, many, strict=True))


def test_entry_times_follow_the_speed_of_the_roads():
    town = Town(
        {"a": (0, 0), "b": (300, 0), "c": (600, 0)},
        ["a-b", "b-c"],
        speeds={"a>b": 60.0, "b>a": 60.0, "b>c": 30.0, "c>b": 30.0},
    )
    path = town.match([(0, 0, 100), (600, 0, 130)]).path
    assert path["t_enter_s"].to_list() == pytest.approx([100, 110], abs=0.05)
    assert path["t_exit_s"].to_list() == pytest.approx([110, 130], abs=0.05)


def test_a_bad_point_between_two_good_ones_leaves_them_joined():
    trace = drive((0, 0), (1200, 0))
    trace[4] = (600, 90, 60)
    result = STREET.match(trace)
    assert edges_of(result.path) == ALONG
    assert joints_hold(result.path, STREET.frame)


@pytest.mark.parametrize("copies", [1, 2, 50])
def test_points_at_one_place_never_overrun_anything(copies):
    result = STREET.match([(100, 1, k) for k in range(copies)])
    assert result.points.height == copies
    assert result.trips["reasons"][0].to_list() == ["too_short"]
    assert result.path.height == 0


def test_a_dead_end_is_left_the_way_it_was_entered():
    town = Town({"a": (0, 0), "b": (400, 0), "c": (800, 0), "e": (400, 300)}, ["a-b", "b-c", "b-e"])
    trace = drive((0, 0), (400, 0), (400, 300), (400, 0), (0, 0))
    result = town.match(trace)
    assert edges_of(result.path) == "a>b b>e e>b b>a"
    assert result.trips["u_turns"][0] == 1


def test_a_turn_within_a_street_keeps_both_legs_in_place():
    result = STREET.match(drive((0, 0), (700, 0), (0, 0), step_s=10))
    assert edges_of(result.path) == "a>b b>c c>b b>a"
    turn = result.path.filter(pl.col("edge_id") == "b>c")
    assert turn["off_to_m"][0] == pytest.approx(300, abs=20)


def test_out_to_a_depot_and_back_keeps_the_loop():
    town = chequerboard()
    corners = [(0, 0), (400, 0), (400, 400), (0, 400), (0, 0)]
    edges = town.path(drive(*corners, step_s=10)).split()
    assert len(edges) == 8
    assert edges[0].startswith("0.0>")
    assert edges[-1].endswith(">0.0")


def test_a_change_of_sampling_within_a_trace_leaves_both_halves_good():
    fast = drive((0, 0), (600, 0), step_s=2)
    slow = drive((600, 0), (1200, 0), start=60, step_s=30)[1:]
    assert STREET.path(fast + slow) == ALONG


def test_two_minutes_of_tunnel_are_joined_where_the_route_is_plain():
    trace = [(20, 0, 0), (100, 0, 15), (1100, 0, 135), (1180, 0, 150)]
    result = STREET.match(trace)
    assert edges_of(result.path) == ALONG
    assert result.path["evidence"].to_list() == [2, 0, 2]


def test_a_trace_filled_in_to_a_higher_rate_gives_the_same_path():
    town = chequerboard()
    corners = [(0, 200), (400, 200), (400, 600), (900, 600)]
    assert town.path(drive(*corners, step_s=1)) == town.path(drive(*corners, step_s=10))


def test_equal_and_backward_times_keep_the_first_point_and_no_infinite_speed():
    result = STREET.match([(20, 0, 0), (150, 0, 15), (250, 0, 15), (420, 0, 45), (300, 0, 30)])
    assert result.points["edge_id"].null_count() == 0
    assert edges_of(result.path) == "a>b b>c"
    assert result.path["t_enter_s"].is_sorted()


def test_a_point_without_a_road_between_leaves_two_sound_ends():
    trace = drive((0, 0), (1200, 0))
    trace[4] = (600, 400, 60)
    result = STREET.match(trace)
    assert result.points["status"][4] == "no_road_near"
    assert result.points["edge_id"].null_count() == 1


def test_a_road_not_connected_gives_two_parts_and_says_so():
    town = Town({"a": (0, 0), "b": (400, 0), "c": (430, 0), "d": (800, 0)}, ["a-b", "c-d"])
    result = town.match(drive((0, 0), (800, 0)))
    assert edges_of(result.path) == "a>b | c>d"
    assert result.trips["reasons"][0].to_list() == ["disconnected_network"]


def test_noise_wider_than_the_road_spacing_makes_no_needless_turn():
    nodes, streets = {}, []
    for k in range(4):
        nodes |= {f"w{k}": (0, 15 * k), f"m{k}": (500, 15 * k), f"e{k}": (1000, 15 * k)}
        streets += [f"w{k}-m{k}", f"m{k}-e{k}"]
        if k:
            streets += [f"w{k - 1}-w{k}", f"m{k - 1}-m{k}", f"e{k - 1}-e{k}"]
    wobble = [0, 20, -15, 8, 25, -10, 12]
    trace = [(20 + 150 * k, 15 + wobble[k], 15 * k) for k in range(7)]
    result = Town(nodes, streets).match(trace)
    assert result.trips["u_turns"][0] == 0
    assert result.trips["route_length_m"][0] < 1000


def test_leaving_the_network_and_coming_back_is_matched_on_both_sides():
    town = Town({"a": (0, 0), "b": (500, 0), "c": (1500, 0), "d": (2000, 0)}, ["a-b", "c-d"])
    result = town.match(drive((0, 0), (2000, 0)))
    assert edges_of(result.path) == "a>b | c>d"
    assert "no_road_near" in result.trips["reasons"][0].to_list()


def test_a_second_lap_is_kept():
    town = chequerboard()
    lap = [(0, 0), (400, 0), (400, 400), (0, 400)]
    edges = town.path(drive(*lap, *lap, (0, 0), step_s=10)).split()
    assert len(edges) == 16
    assert edges[:8] == edges[8:]


def test_a_bridge_over_an_equal_road_has_low_confidence():
    nodes = {"a": (0, 0), "b": (1000, 0), "w": (-300, 0), "e": (1300, 0)}
    town = Town(nodes, ["w-a", "b-e", "a-b#surface", "a-b#bridge via 500,1"])
    result = town.match(drive((-250, 0), (1250, 0)))
    sure = result.points.filter(pl.col("edge_id").is_in(["w>a", "b>e"]))["confidence"]
    unsure = result.points.filter(pl.col("edge_id").str.contains("#"))["confidence"]
    assert sure.min() > 0.9
    assert unsure.max() < 0.6


def test_a_short_cut_across_a_car_park_gives_no_credit_for_streets_not_driven():
    far = {"a": (0, 0), "b": (300, 0), "c": (300, 2000), "d": (600, 2000), "e": (600, 0)}
    far["f"] = (900, 0)
    town = Town(far, ["a-b", "b-c", "c-d", "d-e", "e-f"])
    result = town.match(drive((0, 0), (900, 0)))
    assert edges_of(result.path) == "a>b | e>f"
    assert "no_plausible_route" in result.trips["reasons"][0].to_list()


def test_small_errors_do_not_flip_the_direction_on_a_dual_carriageway():
    nodes = {"a": (0, 0), "b": (1000, 0), "c": (1000, 14), "d": (0, 14)}
    town = Town(nodes, ["a>b", "b>c", "c>d", "d>a"])
    trace = [(10 + 150 * k, 9 if k % 2 else 3, 15 * k) for k in range(7)]
    assert town.path(trace) == "a>b"


def test_a_jump_no_car_can_make_is_a_break():
    nodes = {f"n{k}": (500 * k, 0) for k in range(13)}
    town = Town(nodes, [f"n{k}-n{k + 1}" for k in range(12)])
    result = town.match([(50, 0, 0), (200, 0, 15), (5100, 0, 30), (5300, 0, 45)])
    assert edges_of(result.path) == "n0>n1 | n10>n11"
    assert result.trips["reasons"][0].to_list() == ["jump"]


def test_parallel_edges_between_two_nodes_are_told_apart():
    town = Town({"a": (0, 0), "b": (600, 0)}, ["a-b#n via 300,120", "a-b#s via 300,-120"])
    assert town.path([(20, -8, 0), (150, -60, 15), (300, -118, 30), (450, -60, 45)]) == "a>b#s"
    assert town.path([(20, 8, 0), (150, 60, 15), (300, 118, 30), (450, 60, 45)]) == "a>b#n"


def test_a_loop_road_from_a_node_to_itself_is_driven():
    nodes = {"a": (0, 0), "b": (400, 0)}
    town = Town(nodes, ["a-b", "b>b#loop via 500,100 600,0 500,-100"])
    trace = drive((100, 0), (400, 0), (500, 100), (600, 0), (500, -100), (400, 0), (100, 0))
    assert town.path(trace) == "a>b b>b#loop b>a"


def test_one_way_the_wrong_way_is_never_driven():
    town = Town(
        {"a": (0, 0), "b": (400, 0), "c": (800, 0), "d": (0, 150), "e": (800, 150)},
        ["a>b", "b>c", "e>d", "c-e", "d-a"],
    )
    result = town.match(drive((800, 0), (0, 0)))
    assert "c>b" not in result.path["edge_id"].to_list()
    assert joints_hold(result.path, town.frame)


def test_points_at_the_ends_of_roads_are_matched():
    assert STREET.path([(0, 0, 0), (400, 0, 40), (800, 0, 80), (1200, 0, 120)]) == ALONG


@pytest.mark.parametrize("step_s", [60, 120, 300])
def test_sparse_sampling_follows_the_route(step_s):
    nodes = {f"n{k}": (500 * k, 0) for k in range(13)}
    town = Town(nodes, [f"n{k}-n{k + 1}" for k in range(12)])
    edges = town.path(drive((0, 0), (6000, 0), step_s=step_s)).split()
    assert edges == [f"n{k}>n{k + 1}" for k in range(len(edges))]
    assert len(edges) >= 11


def test_nan_null_and_huge_values_are_invalid_and_named():
    good = drive((0, 0), (1200, 0))
    frame = points(good)
    bad = pl.DataFrame(
        {
            "trace_id": [0, 0, 0, 0],
            "t": [16.0, 17.0, None, math.inf],
            "lon": [math.nan, 1e300, degrees(0, 0)[0], degrees(0, 0)[0]],
            "lat": [42.0, 42.0, 42.0, 42.0],
        }
    )
    result = STREET.matcher.match(pl.concat([frame, bad]), workers=1)
    assert result.points["status"].to_list().count("invalid") == 4
    assert result.trips["reasons"][0].to_list() == ["invalid_points"]
    assert edges_of(result.path) == ALONG


def test_one_point_is_too_short_and_two_make_a_path():
    result = STREET.match([(100, 0, 0)], [(100, 0, 0), (300, 0, 15)])
    assert result.trips["parts"].to_list() == [0, 1]
    assert result.points["status"].to_list() == ["too_short", "matched", "matched"]


def test_an_empty_frame_gives_empty_tables_of_the_same_columns():
    full = STREET.match([(100, 0, 0), (300, 0, 15)])
    empty = STREET.matcher.match(points())
    assert [table.height for table in empty] == [0, 0, 0]
    assert [table.schema for table in empty] == [table.schema for table in full]


def test_unsorted_points_are_read_in_order_of_time():
    trace = drive((0, 0), (1200, 0))
    assert STREET.path(trace[::-1]) == ALONG
    assert STREET.match(trace[::-1]).points.equals(STREET.match(trace).points)


def test_a_trace_unlike_any_drive_is_left_out_as_unlikely():
    town = Town({"a": (0, 0), "b": (3000, 0)}, ["a-b"], skip_run=0, part_cost=3.0, sigma_max_m=8.0)
    trace = [(300 * k, 60 * (k % 2), 15 * k) for k in range(8)]
    result = town.match(trace)
    assert set(result.points["status"]) == {"low_likelihood"}
    assert "low_likelihood" in result.trips["reasons"][0].to_list()


def test_a_trace_elsewhere_has_no_road_near():
    result = STREET.match(drive((50_000, 9_000), (51_000, 9_000)))
    assert result.trips["reasons"][0].to_list() == ["no_road_near"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop("lat"), r"columns \['lat'\] are missing"),
        (lambda f: f.with_columns(pl.col("t").cast(pl.String)), "t is String"),
        (lambda f: f.with_columns(pl.col("trace_id").cast(pl.Float64)), "trace_id is Float64"),
        (lambda f: f.with_columns(trace_id=pl.lit(None, pl.Int64)), "have no trace_id"),
    ],
)
def test_wrong_columns_are_named(change, message):
    with pytest.raises(ContractError, match=message):
        STREET.matcher.match(change(points(drive((0, 0), (400, 0)))))


def test_a_table_of_another_network_is_refused():
    with pytest.raises(ContractError, match="path table of network"):
        Matcher(STREET.network, STREET.settings, chequerboard().table)
