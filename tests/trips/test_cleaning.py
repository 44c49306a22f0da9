"""The cleaning contract: one smallest trip per reason, and what each rule leaves alone."""

from pathlib import Path

import msgspec
import numpy as np
import polars as pl
import pytest

from pipeline.city.projection import geodesic
from pipeline.errors import SourceError
from pipeline.schemas import schema_document
from pipeline.trips.cleaning.coordinate_order import check_order, count_orders, is_decidable
from pipeline.trips.cleaning.settings import DECISIONS, NOTES, REASONS, CleaningSettings
from pipeline.trips.distance import distance_m
from tests.trips.builders import (
    BBOX,
    CLEANING,
    START,
    cleaned,
    decisions,
    drive,
    lon_lat,
    outcome,
    trip,
)


def test_a_sound_trip_passes_whole_and_keeps_its_id():
    result = cleaned(trip("T", drive(5)))
    assert result.cleaned["trip_id"].to_list() == ["T"]
    assert result.cleaned["raw_index"].to_list() == [[0, 1, 2, 3, 4]]
    assert result.cleaned["notes"].to_list() == [[]]
    assert decisions(result, "T") == ["kept"] * 5
    assert result.raw_trips["trip_ids"].to_list() == [["T"]]
    assert result.rejected.is_empty()


def test_no_trips_give_empty_tables_of_the_same_columns():
    none, some = cleaned(), cleaned(trip("T", drive(5)))
    for empty, full in zip(none[:3], some[:3], strict=True):
        assert empty.is_empty()
        assert empty.schema == full.schema


def _swapped():
    lon, lat = lon_lat(500)
    bad = trip("T", drive(5))
    bad["lon"][2], bad["lat"][2] = lat, lon
    return cleaned(bad)


def test_a_point_with_its_coordinates_exchanged_is_dropped_not_turned_round():
    assert decisions(_swapped(), "T") == ["kept", "kept", "swapped_coordinates", "kept", "kept"]


@pytest.mark.parametrize("place", [(0.0, 0.0), (-8.6, 95.0), (181.0, 41.15)])
def test_a_place_that_cannot_be_is_an_invalid_coordinate(place):
    bad = trip("T", drive(5))
    bad["lon"][2], bad["lat"][2] = place
    assert decisions(cleaned(bad), "T")[2] == "invalid_coordinate"


def test_a_lost_minus_is_a_wrong_sign_not_a_point_to_flip():
    bad = trip("T", drive(5))
    bad["lon"][2] = -bad["lon"][2]
    result = cleaned(bad)
    assert decisions(result, "T")[2] == "wrong_sign"
    assert max(result.cleaned["lon"][0]) < 0


@pytest.mark.parametrize("t", [1e300, 1_372_636_800_000.0, 4_102_444_800.0, 631_151_999.0, -1e18])
def test_a_time_outside_the_believable_dates_is_dropped(t):
    times = [START + 15 * i for i in range(5)]
    times[2] = t
    result = cleaned(trip("T", drive(5), t=times))
    assert decisions(result, "T") == ["kept", "kept", "time_not_believable", "kept", "kept"]


def test_the_first_believable_second_is_kept():
    first = 631_152_000.0  # 1990-01-01
    result = cleaned(trip("T", drive(3), t=[first, first + 15, first + 30]))
    assert decisions(result, "T") == ["kept"] * 3


def test_a_prematched_trip_with_an_unbelievable_time_goes_whole():
    times = [START, START + 15, 1e12]
    result = cleaned(trip("T", drive(3), t=times, edges=["a", "b", "c"]))
    assert outcome(result, "T") == "time_not_believable"


def test_an_unbelievable_time_makes_no_overlap_of_a_vehicle():
    broken = trip("A", drive(6), t=[START + 15 * i for i in range(5)] + [1e300], vehicle="v")
    later = trip("B", drive(5), t=[START + 3600 + 15 * i for i in range(5)], vehicle="v")
    result = cleaned(broken, later)
    assert [outcome(result, name) for name in "AB"] == ["cleaned", "cleaned"]


def test_retiming_leaves_the_believable_dates_to_no_point():
    result = cleaned(
        trip("T", [*drive(4), *drive(4, first_m=5000)]), lasting_jump="retime", retime_grid_s=1e12
    )
    assert set(decisions(result, "T")[4:]) == {"time_not_believable"}


def test_believable_dates_must_be_in_order_and_in_the_calendar():
    keys = msgspec.to_builtins(CLEANING)
    for wrong in ({"latest": "1990-01-01"}, {"latest": "9999-12-31"}, {"earliest": "0001-01-01"}):
        with pytest.raises(msgspec.ValidationError, match="1900-01-01 <= earliest < latest"):
            msgspec.convert(keys | wrong, CleaningSettings)


def test_points_are_sorted_by_time_and_of_equal_times_the_first_stays():
    t = [START, START + 30, START + 15, START + 15, START + 45]
    result = cleaned(trip("T", [0, 200, 100, 101, 300], t=t))
    assert decisions(result, "T") == ["kept", "kept", "kept", "equal_time", "kept"]
    assert result.cleaned["raw_index"].to_list() == [[0, 2, 1, 4]]
    assert result.tally["events", "resorted"] == 1


def test_thinning_keeps_the_first_point_of_each_slot():
    t = [START + i for i in range(40)]
    result = cleaned(trip("T", drive(40, step_m=10), t=t), thin_to_s=15.0)
    kept = [i for i, d in enumerate(decisions(result, "T")) if d == "kept"]
    assert kept == [0, 15, 30]
    assert set(decisions(result, "T")) == {"kept", "thinned"}


def test_a_trip_its_source_flags_is_rejected_as_missing_data():
    result = cleaned(trip("T", drive(5), flag="missing_data"))
    assert outcome(result, "T") == "missing_data"


def test_a_trip_without_points_is_empty():
    result = cleaned(trip("T", []))
    assert outcome(result, "T") == "empty_trip"
    assert result.rejected.to_dicts() == [
        {"item_id": "T", "reason": "empty_trip", "detail": "0 points as read"}
    ]


def test_of_two_copies_of_an_id_the_one_with_more_points_stays():
    result = cleaned(trip("T", drive(4)), trip("T", drive(6)), trip("T", drive(5)))
    assert result.cleaned["trip_id"].to_list() == ["T"]
    assert len(result.cleaned["t"][0]) == 6
    assert outcome(result, "T#2") == outcome(result, "T#3") == "duplicate_trip_id"
    assert len(decisions(result, "T#2")) == 5


def test_of_two_trips_of_a_vehicle_that_start_together_the_longer_stays():
    result = cleaned(trip("A", drive(4), vehicle="v"), trip("B", drive(5), vehicle="v"))
    assert outcome(result, "A") == "duplicate_vehicle_time"
    assert outcome(result, "B") == "cleaned"


def test_a_vehicle_cannot_be_on_two_trips_at_once():
    later = [START + 30 + 15 * i for i in range(4)]
    result = cleaned(trip("A", drive(5), vehicle="v"), trip("B", drive(4), t=later, vehicle="v"))
    assert outcome(result, "A") == "cleaned"
    assert outcome(result, "B") == "vehicle_overlap"


def test_a_trip_may_begin_in_the_second_the_last_one_ends():
    later = [START + 60 + 15 * i for i in range(4)]
    result = cleaned(trip("A", drive(5), vehicle="v"), trip("B", drive(4), t=later, vehicle="v"))
    assert result.cleaned.height == 2


def test_a_loser_of_an_overlap_does_not_drive_out_a_third_trip():
    # B loses to A; C overlaps only B, so it stays.
    t_b = [START + 45 + 15 * i for i in range(4)]
    t_c = [START + 75 + 15 * i for i in range(3)]
    result = cleaned(
        trip("A", drive(5), vehicle="v"),
        trip("B", drive(4), t=t_b, vehicle="v"),
        trip("C", drive(3), t=t_c, vehicle="v"),
    )
    assert [outcome(result, name) for name in "ABC"] == ["cleaned", "vehicle_overlap", "cleaned"]


def test_a_point_reached_and_left_at_impossible_speed_is_a_spike():
    result = cleaned(trip("T", [0, 100, 5000, 300, 400]))
    assert decisions(result, "T") == ["kept", "kept", "spike", "kept", "kept"]
    assert result.cleaned.height == 1


def test_a_good_point_between_two_spikes_stays():
    # Seen alone, 50 m is a spike between 700 m and 750 m.
    result = cleaned(trip("T", [0, 700, 50, 750, 100, 200]))
    assert decisions(result, "T") == ["kept", "spike", "kept", "spike", "kept", "kept"]


def test_two_points_far_off_together_are_no_spike_but_two_jumps():
    result = cleaned(trip("T", [*drive(3), 5000, 5100, *drive(3, first_m=300)]))
    assert result.tally["events", "lasting_jump"] == 2
    assert result.cleaned["trip_id"].to_list() == ["T.1", "T.3"]


def test_an_impossible_step_the_trace_stays_after_splits_the_trip():
    result = cleaned(trip("T", [*drive(4), *drive(4, first_m=5000)]))
    assert result.cleaned["trip_id"].to_list() == ["T.1", "T.2"]
    assert result.cleaned["raw_index"].to_list() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert result.cleaned["notes"].to_list() == [["jump_split"], ["jump_split"]]
    assert result.tally["events", "lasting_jump"] == 1


def test_a_lasting_jump_can_be_marked_instead():
    result = cleaned(trip("T", [*drive(4), *drive(4, first_m=5000)]), lasting_jump="mark")
    assert result.cleaned["trip_id"].to_list() == ["T"]
    assert result.cleaned["notes"].to_list() == [["jump_marked"]]


def test_retiming_gives_the_missing_stretch_time_by_distance():
    # 4700 m at 10 m/s take 470 s; 15 s are there, 455 s missing: 31 steps of the grid.
    settings = {"lasting_jump": "retime", "most_gap_s": 1000.0}
    result = cleaned(trip("T", [*drive(4), *drive(4, first_m=5000)]), **settings)
    t = result.cleaned["t"][0].to_list()
    assert np.diff(t).tolist() == [15, 15, 15, 15 + 31 * 15, 15, 15, 15]
    assert result.cleaned["notes"].to_list() == [["jump_retimed"]]


def test_retiming_one_trip_leaves_the_next_one_alone():
    jumps = [*drive(4), *drive(4, first_m=5000)]
    settings = {"lasting_jump": "retime", "most_gap_s": 1000.0}
    result = cleaned(trip("A", jumps), trip("B", drive(5)), **settings)
    assert result.cleaned.filter(pl.col("trip_id") == "B")["t"][0][0] == START


def test_a_long_pause_splits_the_trip():
    t = [START + 15 * i for i in range(4)] + [START + 600 + 15 * i for i in range(4)]
    result = cleaned(trip("T", drive(8), t=t))
    assert result.cleaned["trip_id"].to_list() == ["T.1", "T.2"]
    assert result.cleaned["notes"].to_list() == [["gap_split"], ["gap_split"]]


def test_standing_at_both_ends_is_trimmed_to_the_point_nearest_the_drive():
    x_m = [0, 2, 1, 3, 0, 2, *drive(4, first_m=100), 405, 402, 404, 403, 401, 400]
    result = cleaned(trip("T", x_m))
    assert decisions(result, "T") == ["standing"] * 5 + ["kept"] * 5 + ["standing"] * 6


def test_a_short_stop_at_an_end_is_left_in():
    result = cleaned(trip("T", [0, 2, 1, *drive(4, first_m=100)]))
    assert decisions(result, "T") == ["kept"] * 7


def test_outliers_do_not_end_the_standing_at_either_end():
    x_m = [0, 2, 90, 60, 0, 2, *drive(4, first_m=100), 405, 402, 310, 403, 401, 400]
    result = cleaned(trip("T", x_m))
    assert decisions(result, "T") == ["standing"] * 5 + ["kept"] * 5 + ["standing"] * 6


def test_a_way_out_and_back_longer_than_outliers_last_is_driven():
    x_m = [0, 2, 1, 90, 190, 90, 0, *drive(4, first_m=100)]
    assert decisions(cleaned(trip("T", x_m)), "T") == ["kept"] * len(x_m)
    x_m = [0, 2, 1, 0, 2, 90, 190, 90, 0, *drive(4, first_m=100)]
    assert decisions(cleaned(trip("T", x_m)), "T") == ["standing"] * 4 + ["kept"] * 9


def test_a_trip_that_ends_away_has_left():
    x_m = [0, 2, 1, 0, 2, 1, *drive(2, first_m=300)]
    settings = {"fewest_points": 2, "shortest_m": 0, "shortest_s": 0}
    assert decisions(cleaned(trip("T", x_m), **settings), "T") == ["standing"] * 5 + ["kept"] * 3


def test_a_trip_that_never_moves_is_standing():
    assert outcome(cleaned(trip("T", [0, 1, 2, 1, 0, 1, 2])), "T") == "standing"


def test_a_long_stop_inside_is_noted():
    x_m = [*drive(3), *[220.0] * 25, *drive(3, first_m=300)]
    result = cleaned(trip("T", x_m))
    assert result.cleaned["notes"].to_list() == [["inner_dwell"]]
    assert result.tally["events", "dwell"] == 1
    assert set(decisions(result, "T")) == {"kept"}


def test_a_stop_below_the_least_is_no_dwell():
    x_m = [*drive(3), *[250.0] * 18, *drive(3, first_m=300)]
    assert cleaned(trip("T", x_m)).tally["events", "dwell"] == 0


def test_passing_the_same_place_twice_is_no_dwell():
    out = drive(12)
    x_m = [*out, *out[::-1]]
    assert cleaned(trip("T", x_m), most_detour=1e9).tally["events", "dwell"] == 0


def test_a_long_stop_can_split_the_trip():
    x_m = [*drive(4), *[330.0] * 25, *drive(4, first_m=400)]
    result = cleaned(trip("T", x_m), long_dwell="split")
    assert result.cleaned["trip_id"].to_list() == ["T.1", "T.2"]
    assert result.tally["points", "standing"] > 20
    assert {"kept", "standing"} == set(decisions(result, "T"))


NARROW = (lon_lat(-50)[0], 41.1, lon_lat(450)[0], 41.2)


def test_points_outside_are_clipped_and_a_trip_that_comes_back_is_split():
    x_m = [*drive(5), 500, 600, 500, *drive(5)[::-1]]
    result = cleaned(trip("T", x_m), bbox=NARROW)
    assert decisions(result, "T") == ["kept"] * 5 + ["out_of_bbox"] * 3 + ["kept"] * 5
    assert result.cleaned["trip_id"].to_list() == ["T.1", "T.2"]
    assert result.cleaned["notes"].to_list() == [["clipped"], ["clipped"]]


def test_a_trip_that_leaves_can_be_dropped_whole():
    result = cleaned(trip("T", drive(8)), bbox=NARROW, outside="drop")
    assert outcome(result, "T") == "out_of_bbox"


@pytest.mark.parametrize(
    ("reason", "x_m", "changes"),
    [
        ("too_few_points", drive(2, step_m=300), {}),
        ("too_short", drive(3, step_m=40), {}),
        ("too_long", drive(5), {"longest_m": 300.0}),
        ("too_brief", drive(3), {"shortest_s": 40.0}),
        ("too_lasting", drive(5), {"longest_s": 50.0}),
        ("detour", [0, 200, 400, 200, 60], {}),
    ],
)
def test_a_piece_beyond_a_limit_is_rejected_for_it(reason, x_m, changes):
    result = cleaned(trip("T", x_m), **changes)
    assert outcome(result, "T") == reason
    assert set(decisions(result, "T")) == {reason}
    assert result.tally["pieces", reason] == 1


def test_a_rejected_piece_keeps_its_number_and_its_sibling_lives():
    result = cleaned(trip("T", [*drive(2), *drive(4, first_m=5000)]))
    assert result.cleaned["trip_id"].to_list() == ["T.2"]
    assert outcome(result, "T") == "cleaned"
    assert decisions(result, "T")[:2] == ["too_few_points"] * 2


def test_a_trip_lost_to_several_rules_is_rejected_for_the_one_that_took_most():
    # Three points outside, two inside that are too few.
    result = cleaned(trip("T", [300, 400, 500, 600, 700]), bbox=NARROW)
    assert decisions(result, "T") == ["too_few_points"] * 2 + ["out_of_bbox"] * 3
    assert outcome(result, "T") == "out_of_bbox"


def test_a_prematched_trip_keeps_all_roads_of_its_middle():
    edges = [f"e{i}" for i in range(6)]
    t = [START, START, START + 15, START + 30, START + 31, START + 45]
    result = cleaned(trip("T", [0, 100, 4000, 4100, 8000, 8100], t=t, edges=edges))
    assert result.cleaned["edge_ids"].to_list() == [edges]
    assert set(decisions(result, "T")) == {"kept"}


def test_a_prematched_trip_whose_times_fall_back_is_rejected():
    t = [START, START + 30, START + 15]
    result = cleaned(trip("T", drive(3), t=t, edges=["a", "b", "c"]))
    assert outcome(result, "T") == "times_not_rising"


def test_a_prematched_trip_with_a_wrong_sign_goes_whole():
    bad = trip("T", drive(4), edges=["a", "b", "c", "d"])
    bad["lon"][1] = -bad["lon"][1]
    assert outcome(cleaned(bad), "T") == "wrong_sign"


def test_a_prematched_trip_is_clipped_with_its_roads():
    result = cleaned(trip("T", drive(8), edges=[f"e{i}" for i in range(8)]), bbox=NARROW)
    assert result.cleaned["edge_ids"].to_list() == [["e0", "e1", "e2", "e3", "e4"]]


def test_every_reason_has_a_test_here():
    files = (Path(__file__), Path(__file__).with_name("test_mixed_vehicles.py"))
    text = "".join(file.read_text("utf-8") for file in files)
    assert [name for name in REASONS if f'"{name}"' not in text] == []


def test_the_schemas_list_the_reasons_and_notes_of_the_code():
    raw_trip, audit = schema_document("raw_trip"), schema_document("cleaning_audit")
    items = raw_trip["properties"]["decisions"]["items"]
    assert items["enum"] == list(DECISIONS)
    assert raw_trip["properties"]["outcome"]["enum"] == ["cleaned", *REASONS]
    assert schema_document("cleaned_trip")["properties"]["notes"]["items"]["enum"] == list(NOTES)
    dropped = audit["properties"]["points"]["properties"]["dropped"]
    assert list(dropped["properties"]) == list(REASONS)


def test_an_input_saved_latitude_first_is_refused_with_the_remedy():
    lon, lat = np.array([41.15, 41.16]), np.array([-8.6, -8.61])
    with pytest.raises(SourceError, match="coordinate_order: swapped"):
        check_order(count_orders(lon, lat, BBOX), BBOX, 0.5)


def test_an_input_without_minus_signs_is_refused():
    counts = count_orders(np.array([8.6]), np.array([41.15]), BBOX)
    with pytest.raises(SourceError, match="a minus sign is lost"):
        check_order(counts, BBOX, 0.5)


def test_an_input_of_another_city_is_refused():
    counts = count_orders(np.array([24.9]), np.array([60.2]), BBOX)
    with pytest.raises(SourceError, match="check `bbox`"):
        check_order(counts, BBOX, 0.5)


def test_where_longitude_is_near_latitude_the_order_cannot_be_told():
    assert is_decidable(BBOX)
    assert not is_decidable((41.0, 41.1, 41.3, 41.2))


def test_distances_agree_with_the_ellipsoid():
    # Geodesic lengths of the WGS84 ellipsoid by pyproj.Geod.
    places = [(-8.61, 41.15, -8.60, 41.16), (24.94, 60.17, 24.95, 60.17), (7.42, 43.73, 7.42, 43.8)]
    for a, b, c, d in places:
        _, expected = geodesic(*(np.array([x]) for x in (a, b, c, d)))
        assert distance_m(a, b, c, d) == pytest.approx(expected[0], rel=2e-6)


def test_the_way_over_the_date_line_is_short():
    assert distance_m(179.999, 0.0, -179.999, 0.0) == pytest.approx(222.6, abs=0.1)
