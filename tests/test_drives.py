"""Each cleaned trip becomes drives or one rejection, by the section `drives`."""

import msgspec
import polars as pl
import pytest

from pipeline.trips.drives import DriveSettings, drives_of, keep_good_drives
from pipeline.trips.prematched import adopt
from tests.trips.builders import cleaning

SETTINGS = DriveSettings(
    on_break="split", min_length_m=100.0, min_segments=2, min_matched_share=0.5,
    max_detour_ratio=2.0,
)  # fmt: skip
CLEANING = cleaning(shortest_m=250.0, shortest_s=2.0)


def path(*rows: tuple[str, int, str, float]) -> pl.DataFrame:
    """Build a path table from (trace, part, edge, length); a second per segment."""
    return pl.DataFrame(
        [
            {"trace_id": trace, "part": part, "seq": i, "edge_id": edge, "t_enter_s": float(i),
             "t_exit_s": i + 1.0, "evidence": 1, "off_from_m": 0.0, "off_to_m": length}
            for i, (trace, part, edge, length) in enumerate(rows)
        ]
    )  # fmt: skip


def trip(
    trace: str = "t", share: float = 1.0, route: float = 400.0, gps: float = 390.0, *reasons: str
) -> dict:
    return {"trace_id": trace, "confidence": 0.9, "matched_share": share, "route_length_m": route,
            "gps_length_m": gps, "reasons": list(reasons)}  # fmt: skip


def verdict(paths: pl.DataFrame, *trips: dict, settings: DriveSettings = SETTINGS, limits=CLEANING):
    """Return the ids kept and the rejections as (item, reason)."""
    table = pl.DataFrame(list(trips), schema_overrides={"reasons": pl.List(pl.String)})
    drives, without = drives_of(paths, table, method="hmm")
    kept, rejected = keep_good_drives(drives, table, without, settings, limits)
    return kept["trip_id"].to_list(), sorted(
        zip(rejected["item_id"], rejected["reason"], strict=True)
    )


TWO_PARTS = path(("t", 0, "a", 200), ("t", 0, "b", 200), ("t", 1, "c", 150), ("t", 1, "d", 150))


def test_a_connected_trip_is_one_drive_under_its_own_id():
    assert verdict(path(("t", 0, "a", 200), ("t", 0, "b", 200)), trip()) == (["t"], [])


def test_a_broken_trip_is_split_into_numbered_drives():
    assert verdict(TWO_PARTS, trip()) == (["t", "t_p2"], [])


def test_a_broken_trip_is_rejected_once_when_the_policy_says_so():

    settings = msgspec.structs.replace(SETTINGS, on_break="reject")
    assert verdict(TWO_PARTS, trip(), settings=settings) == ([], [("t", "broken_path")])


def test_a_trip_without_a_path_is_not_matched_and_keeps_the_matchers_reasons():
    table = pl.DataFrame([trip("t", 0.0, 0.0, 10.0, "no_road_near")])
    drives, without = drives_of(TWO_PARTS.clear(), table, method="hmm")
    _, rejected = keep_good_drives(drives, table, without, SETTINGS, CLEANING)
    assert rejected.to_dicts() == [
        {"item_id": "t", "reason": "not_matched", "detail": "no_road_near", "stage": "match"}
    ]


def test_a_trip_with_few_points_on_its_route_is_rejected():
    assert verdict(TWO_PARTS, trip(share=0.4)) == ([], [("t", "few_points_matched")])


def test_a_route_far_longer_than_the_gps_line_is_rejected_as_a_detour():
    assert verdict(TWO_PARTS, trip(route=900, gps=400)) == ([], [("t", "detour")])


def test_one_short_drive_of_a_split_trip_is_rejected_under_its_own_id():
    short = path(("t", 0, "a", 200), ("t", 0, "b", 200), ("t", 1, "c", 20), ("t", 1, "d", 20))
    assert verdict(short, trip()) == (["t"], [("t_p2", "drive_too_short")])


def test_a_drive_cut_by_a_break_obeys_the_least_length_of_a_trip():
    short = path(("t", 0, "a", 200), ("t", 0, "b", 200), ("t", 1, "c", 120), ("t", 1, "d", 120))
    assert verdict(short, trip()) == (["t"], [("t_p2", "drive_too_short")])
    whole = path(("t", 0, "c", 120), ("t", 0, "d", 120))
    assert verdict(whole, trip()) == (["t"], [])  # as long as a drive must be that is not cut


def test_a_drive_cut_by_a_break_obeys_the_least_duration_of_a_trip():
    limits = cleaning(shortest_m=0.0, shortest_s=3.0)
    parts = path(*[("t", 0, e, 200) for e in "abc"], ("t", 1, "d", 200), ("t", 1, "e", 200))
    assert verdict(parts, trip(), limits=limits) == (["t"], [("t_p2", "drive_too_brief")])
    whole = path(("t", 0, "d", 200), ("t", 0, "e", 200))
    assert verdict(whole, trip(), limits=limits) == (["t"], [])


def test_a_trip_without_entry_times_is_rejected():
    times = pl.lit(None, dtype=pl.Float64)
    parts = TWO_PARTS.with_columns(t_enter_s=times, t_exit_s=times)
    assert verdict(parts, trip()) == ([], [("t", "no_times")])


def test_a_drive_of_too_few_segments_is_rejected():
    assert verdict(path(("t", 0, "a", 400)), trip()) == ([], [("t", "drive_too_short")])


ROADS = pl.DataFrame(
    {"edge_id": ["1", "2", "3", "9"], "u": [10, 11, 12, 50], "v": [11, 12, 13, 51],
     "length_m": [100.0, 200.0, 300.0, 50.0]}
)  # fmt: skip


def prematched(*edges: str) -> pl.DataFrame:
    return pl.DataFrame(
        {"trip_id": ["m"], "edge_ids": [list(edges)], "t": [[10.0 * i for i in range(len(edges))]]}
    )


@pytest.mark.parametrize(
    ("edges", "parts", "reasons"),
    [
        (["1", "2", "3"], [["1", "2", "3"]], []),
        (["1", "2", "9"], [["1", "2"], ["9"]], ["not_adjacent"]),
        (["1", "404", "2"], [["1"], ["2"]], ["unknown_segment"]),
        (["1", "1"], [["1"], ["1"]], ["not_adjacent"]),
    ],
)
def test_prematched_segments_that_do_not_touch_break_the_drive(edges, parts, reasons):
    found, trips = adopt(prematched(*edges), ROADS)
    got = found.group_by("part", maintain_order=True).agg("edge_id")["edge_id"].to_list()
    assert got == parts
    assert trips["reasons"].to_list() == [reasons]


def test_a_prematched_segment_is_left_when_the_next_is_entered():
    found, trips = adopt(prematched("1", "2"), ROADS)
    assert found["t_exit_s"].to_list() == [10.0, 10.0]
    assert trips["route_length_m"].to_list() == [300.0]
    assert trips["matched_share"].to_list() == [1.0]


def test_no_prematched_trips_give_empty_tables():
    found, trips = adopt(prematched("1").clear(), ROADS)
    assert found.is_empty()
    assert trips.is_empty()
