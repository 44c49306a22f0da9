"""How long a trip stands in a place or drives on a road is held against its phases."""

from itertools import pairwise

import pytest
from msgspec.structs import replace

from tests.language.trips import phased_trip, place, planned_trip, step
from tests.quality.small_town import CAPTION, LITERAL, QUERY, SmallTown, town_of


def halting() -> SmallTown:
    """Return a town whose trip of 22 minutes stands on Rua B, by Café Rio, for ten of them.

    Rua A 2 min, Rua B 2 + 10 min, Rua C 2 min, Rua D 6 min; 500 m each.
    """
    begins = [0, 120, 240, 840, 960, 1320]
    roads = ["Rua A", "Rua B", "Rua B", "Rua C", "Rua D"]
    trip = phased_trip(*(step([road], length_m=500) for road in roads), duration_s=1320)
    start = trip.meta.t_start_s
    phases = [
        replace(phase, t_enter_s=start + at, time_spent_s=float(until - at))
        for phase, (at, until) in zip(trip.phases, pairwise(begins), strict=True)
    ]
    trip = replace(trip, phases=phases)
    return town_of(planned_trip(trip, places=[place(2, "Café Rio"), place(4, "Café Sol")]))


TOWN = halting()


def length(text: str, field: str = CAPTION) -> list[tuple[str, int | None]]:
    """Return the verdicts on the lengths of a text, and the phases that decided."""
    claims = TOWN.inspect(text, field).claims
    return [(one.verdict, one.phase) for one in claims if one.kind in {"duration", "distance"}]


@pytest.mark.parametrize(
    "text",
    [
        "It stands on Rua B for ten minutes.",
        "The car waits almost ten minutes on Rua B.",
        "It makes a ten-minute halt on Rua B.",
        "It makes a stop of ten minutes at Café Rio.",
        "On Rua B the car stands still for ten minutes.",
        "It goes along Rua A and Rua B, where it stands for ten minutes, then takes Rua C.",
        "It reaches Rua B and is held up there for more than nine minutes.",
        "It ends on Rua D after ten minutes of waiting on Rua B.",
        "Ten minutes of standing on Rua B.",
        "It stands still for ten minutes.",
    ],
)
@pytest.mark.parametrize("right", [True, False])
def test_a_standing_time_is_held_against_the_place_it_is_said_of(text, right):
    if right:
        assert length(text) == [("supported", 2)]
        assert TOWN.rules(text, CAPTION) == []
        return
    for far, rule in (("twenty", "wrong_duration"), ("fourteen", "wrong_duration")):
        wrong = text.replace("nine", far).replace("ten-", f"{far}-").replace("ten m", f"{far} m")
        wrong = wrong.replace("Ten m", f"{far.capitalize()} m")
        assert TOWN.rules(wrong, CAPTION) == [rule], wrong


@pytest.mark.parametrize("road", ["Rua A", "Rua C", "Rua D"])
@pytest.mark.parametrize("field", [LITERAL, QUERY, CAPTION])
def test_a_standing_time_of_one_place_is_wrong_of_another(road, field):
    assert TOWN.rules(f"It waits on {road} for ten minutes.", field) == ["wrong_duration"]
    assert TOWN.rules("It waits on Rua B for ten minutes.", field) == []


@pytest.mark.parametrize(
    "text",
    ["My brother waits on Rua A for ten minutes.", "I've been waiting for twenty minutes.",
     "Wait ten minutes.", "They stopped on Rua C for forty minutes."],
)  # fmt: skip
def test_the_wait_of_somebody_else_or_at_no_place_stays_open(text):
    assert length(text, LITERAL) == [("unverified", None)]
    assert TOWN.inspect(text, LITERAL).findings == []


def test_the_end_of_a_trip_is_no_halt():
    assert length("It stops on Rua D after 22 minutes.") == [("supported", None)]
    assert length("It comes to a stop on Rua D after ten minutes.") == [("contradicted", None)]


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("It follows Rua B for twelve minutes.", "supported"),
        ("It follows Rua B for one kilometre.", "supported"),
        ("It spends twelve minutes on Rua B.", "supported"),
        ("It drives 500 metres along Rua A.", "supported"),
        ("It follows Rua A for twelve minutes.", "contradicted"),
        ("It follows Rua A for two kilometres.", "contradicted"),
        ("It spends twelve minutes on Rua D.", "contradicted"),
        ("After one kilometre along Rua A it ends.", "contradicted"),
    ],
)
def test_a_drive_on_a_road_is_held_against_all_its_phases(text, verdict):
    assert [one for one, _ in length(text)] == [verdict]


def test_what_is_true_of_the_whole_trip_may_be_said_with_a_road():
    assert length("It takes 22 minutes on Rua A and Rua B.") == [("supported", None)]


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("It reaches Rua C after fourteen minutes.", "supported"),
        ("After 1.5 kilometres it turns onto Rua C.", "supported"),
        ("It passes Café Rio after seven minutes.", "supported"),
        ("It reaches Rua C after five minutes.", "contradicted"),
        ("After 500 metres it turns onto Rua C.", "contradicted"),
        ("After four minutes it turns off.", "unverified"),
        ("After 60 minutes it turns off.", "contradicted"),
    ],
)
def test_what_is_passed_after_a_length_is_held_against_when_it_is(text, verdict):
    assert [one for one, _ in length(text)] == [verdict]


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("After 2.5 kilometres the drive ends on Rua D.", "supported"),
        ("It ends on Rua D after 22 minutes.", "supported"),
        ("After 900 metres the drive ends on Rua D.", "contradicted"),
        ("After five minutes, it finishes on Rua D.", "contradicted"),
    ],
)
def test_what_ends_after_a_length_is_the_whole_trip(text, verdict):
    assert [one for one, _ in length(text)] == [verdict]
