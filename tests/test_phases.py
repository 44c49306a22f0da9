"""Phases mean what paper A.3.2 says, on segments whose answer is plain arithmetic."""

import itertools
import math

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import ContractError
from pipeline.trips.phases import (
    COMPASS,
    CompressSettings,
    compass_point,
    compress_trips,
    duration_words,
    local_time_words,
)

SETTINGS = CompressSettings(min_phases=2)
START_S = 1402715460.0  # Saturday, Jun 14, 2014 at 4:11 AM in Lisbon


def ground(*segments: tuple[str, str, str | None, float, float]) -> pl.DataFrame:
    """Build the ground from (edge_id, cell, name, length_m, bearing_deg)."""
    return pl.DataFrame(
        [
            {
                "edge_id": edge, "name": name, "highway": "residential",
                "length_m": length, "bearing_deg": bearing,
                "bearing_sin": math.sin(math.radians(bearing)),
                "bearing_cos": math.cos(math.radians(bearing)),
                "cell": cell, "desc": f"District: {cell}",
            }
            for edge, cell, name, length, bearing in segments
        ],
        schema_overrides={"name": pl.String},
    )  # fmt: skip


LAST_S = 5.0  # seconds on the last segment


def matched(edges: list[str], times: list[float], trip_id: str = "t1") -> pl.DataFrame:
    """Build one matched trip; each segment is left where the next is entered."""
    left = [*times[1:], times[-1] + LAST_S if times[-1] is not None else None]
    return pl.DataFrame(
        {"trip_id": [trip_id], "edge_ids": [edges], "t_enter_s": [times], "t_exit_s": [left],
         "simulated": [False]}
    )  # fmt: skip


def phases_of(trip: pl.DataFrame, on: pl.DataFrame) -> list[dict]:
    """Compress one trip and return its phases."""
    phased, rejected = compress_trips(trip, on, time_zone="Europe/Lisbon", settings=SETTINGS)
    assert rejected.is_empty()
    return phased["phases"].to_list()[0]


def test_consecutive_segments_in_one_cell_become_one_phase():
    on = ground(
        ("a", "c1", "Rua A", 100, 0), ("b", "c1", "Rua A", 100, 0), ("c", "c2", "Rua B", 50, 90)
    )
    first, last = phases_of(matched(["a", "b", "c"], [START_S, START_S + 55, START_S + 70]), on)
    assert (first["n"], first["cell"], first["role"], first["dir"]) == (2, "c1", "O", "N")
    assert (last["n"], last["cell"], last["role"], last["dir"]) == (1, "c2", "D", "E")
    assert first["road_names"] == ["Rua A"]
    assert first["desc"] == "District: c1"


def test_a_phase_lasts_from_its_first_to_its_last_segments_entry():
    on = ground(("a", "c1", None, 10, 0), ("b", "c1", None, 10, 0), ("c", "c2", None, 10, 0))
    first, last = phases_of(matched(["a", "b", "c"], [START_S, START_S + 55, START_S + 70]), on)
    assert (first["duration"], first["duration_s"]) == ("55 sec", 55.0)
    assert (last["duration"], last["duration_s"]) == ("0 sec", 0.0)


def test_the_time_spent_in_a_phase_lasts_until_the_next_one_or_the_drives_end():
    on = ground(("a", "c1", None, 10, 0), ("b", "c1", None, 10, 0), ("c", "c2", None, 10, 0))
    trip = matched(["a", "b", "c"], [START_S, START_S + 55, START_S + 70])
    first, last = phases_of(trip, on)
    assert (first["time_spent"], first["time_spent_s"]) == ("1 min 10 sec", 70.0)
    assert (last["time_spent"], last["time_spent_s"]) == ("5 sec", LAST_S)


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("abcdefgh"), st.floats(0, 900, allow_nan=False)),
        min_size=2,
        max_size=30,
    )
)
def test_the_times_spent_in_the_phases_add_up_to_that_of_the_trip_in_words_too(driven):
    on = ground(*((e, f"c{i // 3}", None, 10.0, 45.0 * i) for i, e in enumerate("abcdefgh")))
    times = list(itertools.accumulate((round(lasts, 3) for _, lasts in driven), initial=START_S))
    trip = matched([edge for edge, _ in driven], times[:-1])
    phased, _ = compress_trips(trip, on, time_zone="UTC", settings=SETTINGS)
    for meta, phases in zip(phased["meta"].to_list(), phased["phases"].to_list(), strict=True):
        assert sum(p["time_spent_s"] for p in phases) == pytest.approx(meta["time_spent_s"])
        assert meta["time_spent_s"] == pytest.approx(meta["duration_s"] + LAST_S)
        assert sum(seconds(p["time_spent"]) for p in phases) == seconds(meta["time_spent"])
        assert all(p["time_spent_s"] >= p["duration_s"] for p in phases)


def seconds(words: str) -> int:
    """Read back "1 h 2 min 5 sec"."""
    numbers = [int(number) for number in words.split()[::2]]
    return sum(n * unit for n, unit in zip(reversed(numbers), (1, 60, 3600), strict=False))


def test_a_trip_that_returns_to_a_road_ends_on_it_though_the_phase_lists_it_first():
    on = ground(
        ("a", "c1", "Rua A", 10, 0), ("b", "c1", "Rua B", 10, 0), ("c", "c2", "Rua C", 10, 0),
        ("d", "c2", "Rua D", 10, 0), ("e", "c2", None, 10, 0),
    )  # fmt: skip
    for edges, start, end in (("bacdc", "Rua B", "Rua C"), ("abcde", "Rua A", None)):
        trip = matched(list(edges), [float(i) for i in range(len(edges))])
        phased, _ = compress_trips(trip, on, time_zone="UTC", settings=SETTINGS)
        meta = phased["meta"].to_list()[0]
        assert (meta["start_road"], meta["end_road"]) == (start, end)
        assert phased["phases"].to_list()[0][-1]["road_names"] == ["Rua C", "Rua D"]


def test_the_classes_of_the_first_and_the_last_segment_are_recorded():
    on = ground(("a", "c1", None, 10, 0), ("b", "c2", "A1", 10, 0)).with_columns(
        highway=pl.Series(["service", "motorway_link"])
    )
    phased, _ = compress_trips(
        matched(["a", "b"], [0.0, 1.0]), on, time_zone="UTC", settings=SETTINGS
    )
    meta = phased["meta"].to_list()[0]
    assert (meta["start_class"], meta["end_class"]) == ("service", "motorway_link")


def test_a_cell_entered_again_is_a_new_phase():
    on = ground(("a", "c1", None, 10, 0), ("b", "c2", None, 10, 0), ("c", "c1", None, 10, 0))
    phases = phases_of(matched(["a", "b", "c"], [0.0, 1.0, 2.0]), on)
    assert [(p["cell"], p["role"]) for p in phases] == [("c1", "O"), ("c2", "T"), ("c1", "D")]


def test_the_heading_is_a_circular_mean_weighted_by_length():
    on = ground(("a", "c1", None, 300, 350), ("b", "c1", None, 100, 30), ("c", "c2", None, 10, 180))
    first, _ = phases_of(matched(["a", "b", "c"], [0.0, 1.0, 2.0]), on)
    east = 300 * math.sin(math.radians(350)) + 100 * math.sin(math.radians(30))
    north = 300 * math.cos(math.radians(350)) + 100 * math.cos(math.radians(30))
    assert first["heading_deg"] == pytest.approx(
        math.degrees(math.atan2(east, north)) % 360, abs=1e-3
    )
    assert first["heading_strength"] == pytest.approx(math.hypot(east, north) / 400, abs=1e-4)
    assert first["dir"] == "N"


def test_opposite_segments_of_equal_length_take_the_longest_ones_heading():
    on = ground(("a", "c1", None, 100, 90), ("b", "c1", None, 100, 270), ("c", "c2", None, 10, 0))
    first, _ = phases_of(matched(["a", "b", "c"], [0.0, 1.0, 2.0]), on)
    assert first["dir"] == "E"
    assert first["heading_strength"] == pytest.approx(0.0, abs=1e-4)


def test_road_names_are_listed_once_in_the_order_driven_and_unnamed_roads_are_left_out():
    on = ground(
        ("a", "c1", "Rua B", 10, 0), ("b", "c1", None, 10, 0), ("c", "c1", "Rua A", 10, 0),
        ("d", "c1", "Rua B", 10, 0), ("e", "c2", None, 10, 0),
    )  # fmt: skip
    first, last = phases_of(matched(list("abcde"), [0.0, 1.0, 2.0, 3.0, 4.0]), on)
    assert first["road_names"] == ["Rua B", "Rua A"]
    assert last["road_names"] == []


def test_the_head_words_start_and_duration_as_listing_1_does():
    on = ground(("a", "c1", None, 10, 0), ("b", "c2", None, 10, 0))
    phased, _ = compress_trips(
        matched(["a", "b"], [START_S, START_S + 495]), on,
        time_zone="Europe/Lisbon", settings=SETTINGS,
    )  # fmt: skip
    meta = phased["meta"].to_list()[0]
    assert meta["start_time"] == "Saturday, Jun 14, 2014 at 4:11 AM"
    assert meta["total_duration"] == "8 min 15 sec"
    assert (meta["n_rids"], meta["n_phases"]) == (2, 2)


def test_a_trip_within_one_cell_is_rejected_as_too_few_phases():
    on = ground(("a", "c1", None, 10, 0))
    phased, rejected = compress_trips(
        matched(["a"], [0.0]), on, time_zone="Europe/Lisbon", settings=SETTINGS
    )
    assert phased.is_empty()
    assert rejected.to_dicts() == [
        {"item_id": "t1", "stage": "compress", "reason": "too_few_phases",
         "detail": "1 phase, expected at least 2"}
    ]  # fmt: skip


def test_no_trips_give_no_phases_and_no_rejections():
    on = ground(("a", "c1", None, 10, 0))
    phased, rejected = compress_trips(
        matched(["a"], [0.0]).clear(), on, time_zone="Europe/Lisbon", settings=SETTINGS
    )
    assert phased.is_empty()
    assert rejected.is_empty()


def test_a_segment_without_a_cell_is_an_error_that_names_trip_and_segment():
    on = ground(("a", "c1", None, 10, 0))
    with pytest.raises(ContractError, match=r"matched trip t1: .*'zzz'"):
        compress_trips(matched(["zzz"], [0.0]), on, time_zone="Europe/Lisbon", settings=SETTINGS)


@pytest.mark.parametrize("t", [float("nan"), float("inf"), 1e300, -1.0, 1e12, None])
def test_an_entry_time_that_is_no_date_is_an_error_that_names_the_trip(t):
    on = ground(("a", "c1", None, 10, 0), ("b", "c2", None, 10, 0))
    with pytest.raises(ContractError, match=r"matched trip t1: expected entry times in UTC epoch"):
        compress_trips(
            matched(["a", "b"], [START_S, t]), on, time_zone="Europe/Lisbon", settings=SETTINGS
        )


@settings(deadline=None)
@given(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=40))
def test_phases_concatenate_back_to_the_segments_and_neighbours_never_share_a_cell(edges):
    on = ground(*((e, f"c{i // 3}", None, 10.0 + i, 45.0 * i) for i, e in enumerate("abcdefgh")))
    cell_of = dict(zip(on["edge_id"], on["cell"], strict=True))
    phased, rejected = compress_trips(
        matched(edges, [float(i) for i in range(len(edges))]), on,
        time_zone="UTC", settings=SETTINGS,
    )  # fmt: skip
    assert phased.height + rejected.height == 1
    for phases in phased["phases"].to_list():
        cells = [cell for phase in phases for cell in [phase["cell"]] * phase["n"]]
        assert cells == [cell_of[edge] for edge in edges]
        assert all(a["cell"] != b["cell"] for a, b in itertools.pairwise(phases))
        assert [p["role"] for p in phases] == ["O", *"T" * (len(phases) - 2), "D"]


@pytest.mark.parametrize("step", range(8))
def test_each_compass_point_covers_45_degrees_around_itself(step):
    frame = pl.DataFrame({"h": [(45 * step + d) % 360 for d in (-22.4, 0.0, 22.4)]})
    assert frame.select(compass_point(pl.col("h")))["h"].to_list() == [COMPASS[step]] * 3


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 sec"), (59.4, "59 sec"), (59.6, "1 min 0 sec"), (495, "8 min 15 sec"),
     (3725, "1 h 2 min 5 sec")],
)  # fmt: skip
def test_durations_are_worded_to_the_second(seconds, words):
    frame = pl.DataFrame({"s": [float(seconds)]})
    assert frame.select(duration_words(pl.col("s"))).item() == words


def test_local_time_follows_summer_time():
    frame = pl.DataFrame({"t": [1372636858.0, 1388534400.0]})
    worded = frame.select(local_time_words(pl.col("t"), "Europe/Lisbon"))["t"].to_list()
    assert worded == ["Monday, Jul 1, 2013 at 1:00 AM", "Wednesday, Jan 1, 2014 at 12:00 AM"]
