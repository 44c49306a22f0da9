"""A turn to one side is held against the headings before and after the road turned into."""

import pytest

from tests.language.trips import phased_trip, planned_trip, step
from tests.quality.small_town import CAPTION, LITERAL, QUERY, SmallTown, town_of


def bend(heading_deg: float, *, strength: float = 1.0) -> SmallTown:
    """Return a town whose trip goes north on Rua A, then so on Rua B."""
    trip = phased_trip(
        step(["Rua A"], heading_deg=0),
        step(["Rua A"], heading_deg=0),
        step(["Rua B"], heading_deg=heading_deg, heading_strength=strength),
        step(["Rua B"], heading_deg=heading_deg, heading_strength=strength),
    )
    return town_of(planned_trip(trip), roads=["Rua C"])


def turn(town: SmallTown, text: str, field: str = LITERAL) -> tuple[str, str, int | None]:
    (claim,) = town.inspect(text, field).claims
    return claim.text, claim.verdict, claim.phase


@pytest.mark.parametrize("degrees", [30, 90, 150])
def test_a_turn_is_supported_to_its_own_side_and_contradicted_to_the_other(degrees):
    for heading, side, other in ((degrees, "right", "left"), (360 - degrees, "left", "right")):
        town = bend(heading)
        assert turn(town, f"Turn {side} onto Rua B.")[1:] == ("supported", 2)
        assert turn(town, f"Turn {other} onto Rua B.")[1:] == ("contradicted", 2)
        assert town.rules(f"Turn {other} onto Rua B.") == ["wrong_direction"]


@pytest.mark.parametrize("heading", [0, 29, 151, 180, 209, 331])
def test_straight_on_and_about_face_are_to_neither_side(heading):
    assert turn(bend(heading), "Turn left onto Rua B.")[1:] == ("unverified", 2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Turn left onto Rua B.", "Turn left"),
        ("It turns left into Rua B.", "turns left"),
        ("Hang a left on Rua B.", "Hang a left"),
        ("Take a sharp left onto Rua B.", "Take a sharp left"),
        ("Then bear left down Rua B.", "bear left"),
    ],
)
@pytest.mark.parametrize("field", [LITERAL, QUERY, CAPTION])
def test_a_turn_is_told_in_several_ways(text, said, field):
    assert turn(bend(90), text, field) == (said, "contradicted", 2)


@pytest.mark.parametrize(
    "text",
    ["Turn left at the lights.", "It left Rua A for Rua B.", "Go right now to Rua B.",
     "Turn left, onto Rua B.", "Turn left from here onto Rua B.",
     "Right onto Rua B.", "Turn left onto", "Left."],
)  # fmt: skip
def test_nothing_is_stated_where_no_turn_into_a_named_road_is_told(text):
    assert not any(one.kind == "direction" for one in bend(90).inspect(text).claims)


def test_where_the_phases_show_no_such_turn_it_stays_open():
    assert turn(bend(90), "Turn left onto Rua A.")[1:] == ("unverified", None)  # begins there
    assert turn(bend(90), "Turn left onto Rua C.")[1:] == ("unverified", None)  # not driven
    assert turn(bend(90, strength=0.4), "Turn left onto Rua B.")[1:] == ("unverified", None)


def test_a_phase_of_several_roads_has_no_heading_of_its_own():
    north, east = {"heading_deg": 0}, {"heading_deg": 90}
    corner = step(["Rua A", "Rua B"], heading_deg=300)
    one = [step(["Rua A"], **north), corner, step(["Rua B"], **east)]
    assert turn(town_of(planned_trip(phased_trip(*one))), "Turn right onto Rua B.")[1:] == (
        "supported",
        2,
    )
    two = [step(["Rua A"], **north), corner, corner, step(["Rua B"], **east)]
    assert turn(town_of(planned_trip(phased_trip(*two))), "Turn left onto Rua B.")[1:] == (
        "unverified",
        None,
    )


def town_on(*steps) -> SmallTown:
    return town_of(planned_trip(phased_trip(*steps)))


NORTH, EAST, SOUTH = {"heading_deg": 0}, {"heading_deg": 90}, {"heading_deg": 180}


@pytest.mark.parametrize("verb", ["turns {} from Rua A onto", "swings {} from Rua A into"])
def test_the_road_that_is_left_may_stand_between(verb):
    for side, rules in (("right", []), ("left", ["wrong_direction"])):
        assert bend(90).rules(f"It {verb.format(side)} Rua B.", CAPTION) == rules


def test_a_turn_from_a_road_that_does_not_lead_there_stays_open():
    town = town_on(step(["Rua A"], **NORTH), step(["Rua B"], **EAST), step(["Rua C"], **SOUTH))
    assert turn(town, "Turn left from Rua A onto Rua C.")[1:] == ("unverified", None)
    assert turn(town, "Turn left from Rua B onto Rua C.")[1:] == ("contradicted", 2)


def test_of_several_turns_into_a_road_the_one_from_the_road_told_counts():
    town = town_on(
        step(["Rua A"], **NORTH), step(["Rua B"], **EAST),
        step(["Rua C"], **SOUTH), step(["Rua B"], **EAST),
    )  # fmt: skip
    assert turn(town, "Turn right from Rua A onto Rua B.")[1:] == ("supported", 1)
    assert turn(town, "Turn left from Rua C onto Rua B.")[1:] == ("supported", 3)
    assert turn(town, "Turn right from Rua C onto Rua B.")[1:] == ("contradicted", 3)


@pytest.mark.parametrize(("heading", "side"), [(130, "right"), (50, "left")])
def test_within_a_shared_phase_the_heading_lies_between_that_of_its_roads(heading, side):
    """East, then a corner of both roads: 130 degrees on the way south, 50 on the way north."""
    corner = step(["Rua B", "Rua C"], heading_deg=heading, heading_strength=0.7)
    other = "left" if side == "right" else "right"
    following = step(["Rua C"], heading_deg=180 if side == "right" else 0)
    mixed = step(["Rua A", "Rua B"], heading_deg=135, heading_strength=0.7)
    for steps in ([mixed, corner, following], [step(["Rua B"], **EAST), corner]):
        town = town_on(step(["Rua A"], **SOUTH), *steps)
        assert turn(town, f"Turn {side} onto Rua C.")[1] == "supported"
        assert turn(town, f"Turn {other} onto Rua C.")[1] == "contradicted"


def test_the_road_before_the_last_is_not_taken_for_the_one_that_is_left():
    """North, a corner with a road nobody knows the heading of, then north-east."""
    corner = step(["Rua A", "Rua B"], heading_deg=45, heading_strength=0.7)
    town = town_on(step(["Rua A"], **NORTH), corner, step(["Rua C"], heading_deg=50))
    assert turn(town, "Turn right onto Rua C.")[1:] == ("unverified", None)


def test_a_roundabout_is_left_to_any_side():
    town = town_on(step(["Rotunda B"], **NORTH), step(["Rua C"], **EAST))
    assert turn(town, "Turn left onto Rua C.")[1:] == ("unverified", None)
