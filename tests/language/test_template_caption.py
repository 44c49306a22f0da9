"""A caption tells the key roads in order, with directions that the phases bear out, and no more."""

import re

from pipeline.language.engines.template import realiser
from pipeline.language.engines.template.legs import (
    chosen_legs,
    compass_word,
    legs_of,
    turned_deg,
)
from pipeline.records import PhasedTrip
from tests.language.template_trips import trip_number
from tests.language.trips import phased_trip, planned_trip, step


def caption(trip: PhasedTrip) -> str:
    return realiser().annotate(planned_trip(trip)).trajectory_caption


def captions(*steps, count: int = 30, **head) -> list[str]:
    """Return the captions of trips that differ in nothing but their id."""
    return [caption(phased_trip(*steps, trip_id=f"t{n}", **head)) for n in range(count)]


def test_a_trip_of_four_hundred_phases_gets_a_caption_of_six_roads_at_most():
    for number in range(20):
        trip = trip_number(number, phases=400)
        text = realiser().annotate(trip).trajectory_caption
        middle = {name for phase in trip.phases[1:-1] for name in phase.road_names}
        assert sum(name in text for name in middle) <= 6
        assert len(text) <= 1000


def test_a_direction_is_told_only_where_the_phases_have_it():
    winding = step(["Rua B"], heading_deg=90.0, heading_strength=0.2)
    straight = step(["Rua B"], heading_deg=90.0)
    ends = step(["Rua A"], heading_strength=0.1), step(["Rua C"])
    assert not any(
        re.search("east|north|south|west", text) for text in captions(ends[0], winding, ends[1])
    )
    assert all("east" in text for text in captions(ends[0], straight, ends[1]))


def test_a_turn_is_told_only_onto_the_road_driven_next_and_only_where_the_direction_changes():
    north, same, west = (
        step(["Rua A"], heading_deg=0.0),
        step(["Rua B"], heading_deg=10.0),
        step(["Rua C"], heading_deg=270.0),
    )
    turns = re.compile(r"turns|swings|bears")
    assert not any(turns.search(text) for text in captions(north, same, step(["Rua Z"])))
    assert any(turns.search(text) for text in captions(north, west, step(["Rua Z"])))


def test_time_duration_and_length_are_those_of_the_trip():
    steps = [step(["Rua A"], length_m=400.0)] * 3
    for text in captions(*steps, duration_s=495.0):
        assert re.findall(r"\d+(?:\.\d+)? (?:minutes|kilometres?|metres)", text)
        assert set(re.findall(r"\d+ minutes", text)) <= {"8 minutes"}
        assert set(re.findall(r"[\d.]+ kilometres?", text)) <= {"1 kilometre"}
        assert set(re.findall(r"\d+:\d\d [AP]M", text)) <= {"4:11 AM", "4:10 AM"}


def test_legs_merge_runs_share_lengths_and_keep_the_longest_of_a_road():
    trip = phased_trip(
        step(["O"]),
        step(["A"], length_m=100.0, heading_deg=0.0),
        step(["A", "B"], length_m=100.0),
        step(["B"], length_m=60.0, heading_deg=90.0),
        step(["A"], length_m=400.0, heading_deg=180.0),
        step(["D"]),
    )
    legs = legs_of(trip.phases, without={"D"})
    assert [(leg.road, leg.phases, leg.length_m) for leg in legs] == [
        ("B", [2, 3], 110.0),
        ("A", [4], 400.0),
    ]
    assert [compass_word(leg.heading_deg) for leg in legs] == ["east", "south"]
    assert [leg.road for leg in chosen_legs(legs, 1)] == ["A"]


def test_angles_are_measured_across_north():
    assert turned_deg(350.0, 20.0) == 30.0
    assert turned_deg(20.0, 350.0) == 30.0
    assert turned_deg(0.0, 180.0) == 180.0
    assert [compass_word(deg) for deg in (0.0, 22.4, 22.5, 359.0)] == [
        "north", "north", "northeast", "north",
    ]  # fmt: skip
