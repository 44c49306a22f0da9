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
     "Turn left, onto Rua B.", "Right onto Rua B.", "Turn left onto", "Left."],
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
