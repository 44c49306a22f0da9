"""What a name is to the trip is told by the words around it: left, kept off, its start, its end."""

import pytest

from tests.language.trips import phased_trip, place, planned_trip, step
from tests.quality.small_town import CAPTION, LITERAL, QUERY, SmallTown, town_of


def helsinki() -> SmallTown:
    """Return a town with one trip: A, A, B, B, C, C, D, and a place on its way."""
    roads = ["Annankatu", "Annankatu", "Bergkatu", "Bergkatu", "Castrenkatu", "Castrenkatu",
             "Dahlkatu"]  # fmt: skip
    steps = (step([road]) for road in roads)
    trip = planned_trip(phased_trip(*steps), places=[place(3, "Kahvila Onni")])
    return town_of(trip, roads=["Eerikinkatu"], city="Helsinki")


TOWN = helsinki()


@pytest.mark.parametrize(
    "text",
    [
        "The drive turns off Bergkatu onto Castrenkatu.",
        "It branches off Bergkatu and takes Castrenkatu.",
        "The trip ends just off Dahlkatu.",
        "The first street off Bergkatu is Castrenkatu.",
        "The car comes off Bergkatu.",
        "From Bergkatu it bends into Castrenkatu.",
        "Out of Bergkatu the car swings onto Castrenkatu.",
        "The drive leaves Bergkatu for Castrenkatu.",
        "It goes from Bergkatu to Castrenkatu.",
        "Leaving Bergkatu, it takes Castrenkatu to the end.",
        "It departs Castrenkatu for Dahlkatu.",
        "The taxi leaves Bergkatu behind and follows Castrenkatu.",
        "It starts on Annankatu, passes from Bergkatu to Castrenkatu and ends on Dahlkatu.",
        "At the end of Bergkatu comes Castrenkatu.",
        "The drive turns at the start of Castrenkatu.",
    ],
)
def test_a_road_in_the_middle_may_be_left_for_the_next(text):
    assert TOWN.rules(text, CAPTION) == []


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("The drive leaves Bergkatu.", CAPTION),
        ("The drive leaves Bergkatu. Castrenkatu follows.", CAPTION),
        ("The drive leaves Bergkatu for Dahlkatu.", CAPTION),  # another lies between
        ("From Castrenkatu it turns onto Bergkatu.", CAPTION),  # the other way round
        ("From Kahvila Onni it turns onto Castrenkatu.", CAPTION),  # no road
        ("A drive from Bergkatu to Castrenkatu.", CAPTION),
        ("Starting from Bergkatu it turns onto Castrenkatu.", CAPTION),
        ("Trips from Bergkatu to Dahlkatu", QUERY),
        ("From Bergkatu to Dahlkatu, please.", LITERAL),
        ("Leave from Bergkatu, then Dahlkatu.", LITERAL),
    ],
)
def test_a_road_in_the_middle_is_no_start(text, field):
    assert "wrong_phase" in TOWN.rules(text, field)


@pytest.mark.parametrize(
    "text",
    ["From Bergkatu turn onto Castrenkatu.", "Go from Bergkatu onto Castrenkatu.",
     "Turn off Bergkatu into Castrenkatu.", "Turn left into Bergkatu.",
     "Get off Bergkatu soon.",
     "Get off at Dahlkatu.", "Drop me just off Dahlkatu."],
)  # fmt: skip
def test_an_order_may_leave_a_road_for_the_next(text):
    assert TOWN.rules(text) == []


def test_a_turn_into_a_road_off_the_trip_is_off_route_and_a_way_into_one_is_its_end():
    assert TOWN.rules("Turn left into Eerikinkatu.") == ["off_route_name"]
    assert TOWN.rules("Take me into Bergkatu.") == ["wrong_phase"]


@pytest.mark.parametrize(
    "said",
    ["Keep off {}.", "Stay off {}, please.", "Keep well off {}.", "It stays off {}.",
     "{} is closed.", "{} is blocked off."],
)  # fmt: skip
def test_a_road_one_stays_off_is_not_driven(said):
    assert TOWN.rules(said.format("Bergkatu")) == ["driven_name"]
    assert TOWN.rules(said.format("Eerikinkatu")) == []


def test_a_closed_place_may_be_passed():
    assert TOWN.rules("Kahvila Onni is closed.") == []


DESTINATIONS = [
    "I need to reach {}.", "We have to get to {}.", "I must be on {} by noon.", "My stop is {}.",
    "Our stop's {}.", "{} is my destination.", "{} is where I'm headed.",
    "{} is where the trip ends.", "{} as the destination.", "My destination's {}.",
    "Its destination lies on {}.", "It comes to a halt on {}.", "It draws to a close on {}.",
    "The route winds up on {}.", "The end of the trip is {}.", "The last stretch runs along {}.",
    "The final leg is {}.", "Drop-offs near {}", "Arrivals on {}", "Trips with {} as end point",
    "{} marks the end of the trip.", "Its last road is {}.", "Trips ending their way on {}",
    "I get off at {}.", "I have an appointment on {}.", "You can leave me on {}.",
    "Trips that end where people go out on {}", "It finishes right by the water on {}.",
    "Out at {}.", "The ride is over on {}.", "Trips with their last stop near the shops on {}",
]  # fmt: skip
ORIGINS = [
    "Trips originating on {}", "Trips that take off from {}", "It pulls away from {}.",
    "It starts out on {}.", "The drive commences on {}.",
    "The trip kicks off on {}.", "I'm waiting on {}.", "Collect me on {}.", "Meet me at {}.",
    "The start of the trip is on {}.", "{} is where it starts.", "{} is my starting point.",
    "{} as the origin.", "Pick-ups near {}", "Trips with {} as their start",
    "{} marks the start of the drive.", "We start our trip on {}.",
    "{} to Dahlkatu, please.", "The car sets off along {}.",
]  # fmt: skip


@pytest.mark.parametrize("said", DESTINATIONS)
def test_each_way_to_tell_the_end_wants_the_last_phase(said):
    assert TOWN.rules(said.format("Bergkatu")) == ["wrong_phase"]
    assert TOWN.rules(said.format("Dahlkatu")) == []


@pytest.mark.parametrize("said", ORIGINS)
def test_each_way_to_tell_the_start_wants_the_first_phase(said):
    assert TOWN.rules(said.format("Bergkatu")) == ["wrong_phase"]
    assert TOWN.rules(said.format("Annankatu")) == []


@pytest.mark.parametrize(
    "text",
    ["It comes to a halt on Bergkatu for two minutes.", "It rolls to a stop on Bergkatu and waits.",
     "It follows the last stretch of Bergkatu.", "My friend will meet me on Bergkatu later.",
     "After my meeting on Bergkatu we go on.", "Past my hotel on Bergkatu.",
     "I don't want to be on Bergkatu for long.", "We don't have to reach Bergkatu first."],
)  # fmt: skip
def test_what_happens_on_the_way_is_no_end(text):
    assert "wrong_phase" not in TOWN.rules(text, CAPTION)


def test_trips_between_two_roads_start_and_end_there():
    assert TOWN.rules("Trips between Annankatu and Dahlkatu.", QUERY) == []
    assert TOWN.rules("Trips between Bergkatu and Dahlkatu.", QUERY) == ["wrong_phase"]


def test_where_somebody_lives_lies_at_either_end():
    assert TOWN.rules("I live on Bergkatu, take me home.") == ["wrong_phase"]
    assert TOWN.rules("I live on Dahlkatu, take me home.") == []
    assert TOWN.rules("I live on Annankatu, get me away.") == []


@pytest.mark.parametrize(
    "text",
    ["We get to Bergkatu soon.", "Not Bergkatu as such.", "Bergkatu is my favourite.",
     "Bergkatu is where the shops are.", "It reaches Bergkatu.", "The next stop is Bergkatu.",
     "Bergkatu is as good as any.", "The end of Bergkatu is near.",
     "Trips with many turns between Bergkatu and Castrenkatu.",
     "Trips taking Annankatu before they come to Bergkatu."],
)  # fmt: skip
def test_what_only_sounds_like_an_end_leaves_it_open(text):
    assert "wrong_phase" not in TOWN.rules(text)


@pytest.mark.parametrize(
    "text",
    [
        "Take Annankatu to Bergkatu, please, and then Castrenkatu.",
        "From Annankatu go by Bergkatu to Castrenkatu and Dahlkatu.",
        "Take Annankatu down to Bergkatu and stop at Kahvila Onni.",
        "Bear left from Annankatu into Bergkatu and keep on to Dahlkatu.",
        "Drive to Bergkatu, follow Castrenkatu.",
        "Drive to Bergkatu and from there along Castrenkatu.",
        "Over to Bergkatu, I don't care how, and then I'm on Castrenkatu.",
        "Start Annankatu, finish Dahlkatu. Hold to Bergkatu for long.",
        "Follow Annankatu to Bergkatu, then pull up at the right door.",
        "To Dahlkatu, by where Bergkatu gives way to Castrenkatu.",
        "Go via Annankatu, Bergkatu, Castrenkatu and Dahlkatu.",
    ],
)
def test_a_road_that_a_text_goes_on_from_is_no_end(text):
    assert TOWN.rules(text, LITERAL) == []


@pytest.mark.parametrize(
    "text",
    [
        "Take Annankatu to Bergkatu.",
        "Take Annankatu to Castrenkatu via Bergkatu.",
        "Drive to Castrenkatu and past Kahvila Onni.",
        "Drive to Bergkatu and avoid Eerikinkatu.",
        "Drive to Castrenkatu and then Bergkatu.",  # the other way round
        "Drive to Castrenkatu. Start on Annankatu.",
        "It ends on Bergkatu, turning off Castrenkatu.",
        "My destination is Bergkatu and I like Castrenkatu.",
        "Trips starting on Annankatu, ending on Bergkatu and following Castrenkatu.",
        "I want to go to Bergkatu and I do not care whether we take Castrenkatu.",
        "Drive to Bergkatu and mind the works on Castrenkatu.",
        "Drive to Castrenkatu in Helsinki.",
        "Drive to Bergkatu. Castrenkatu is nice.",
        "Bergkatu via Annankatu.",
        "Bergkatu is where I'd like to end up.",
        "Drive to Kahvila Onni and the shop on Castrenkatu.",
        "Go via Dahlkatu, Castrenkatu and Bergkatu.",
    ],
)
def test_a_road_that_no_text_goes_on_from_is_an_end(text):
    assert TOWN.rules(text, LITERAL) == ["wrong_phase"]


def test_from_goes_on_in_a_caption_and_may_be_a_stretch_in_a_query():
    text = "It takes Annankatu. From Bergkatu it heads south along Dahlkatu."
    assert "wrong_phase" not in TOWN.rules(text, CAPTION)
    assert TOWN.rules("From Bergkatu it heads to Dahlkatu.", CAPTION) == ["wrong_phase"]
    assert (
        TOWN.rules("Trips past the trees from Bergkatu to Castrenkatu", QUERY)[-1] == "unverified"
    )
    assert "wrong_phase" in TOWN.rules("Trips from Bergkatu to Castrenkatu", QUERY)


def test_a_road_that_shares_the_first_or_last_phase_is_on_the_way():
    steps = (step(roads) for roads in (["Annankatu", "Bergkatu"], [], ["Castrenkatu", "Dahlkatu"]))
    town = town_of(planned_trip(phased_trip(*steps)))
    assert town.rules("Via Bergkatu and Castrenkatu.") == []
    assert town.rules("Via Annankatu.") == ["wrong_phase"]
    assert town.rules("Through Dahlkatu.") == ["wrong_phase"]


def test_a_road_one_keeps_well_off_is_not_driven():
    assert TOWN.rules("Keeping well off Bergkatu, to Dahlkatu.") == ["driven_name"]
    assert TOWN.rules("Keeping well off Eerikinkatu, to Dahlkatu.") == []


def test_what_begins_with_on_in_the_next_sentence_lies_not_on_the_name_before():
    assert TOWN.rules("It passes Kahvila Onni. On Dahlkatu it ends.", CAPTION) == []
    assert TOWN.rules("It passes Kahvila Onni on Dahlkatu.", CAPTION) == ["wrong_phase"]


def test_of_two_roads_the_less_preferred_is_no_end():
    assert TOWN.rules("I prefer Castrenkatu to Bergkatu.") == []
    assert TOWN.rules("I prefer Castrenkatu to Eerikinkatu.") == []
    assert TOWN.rules("I prefer going to Bergkatu.") == ["wrong_phase"]


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("Annankatu, then along Castrenkatu, and Bergkatu.", ["wrong_phase"]),
        ("It takes Annankatu, Castrenkatu, Bergkatu and then Dahlkatu.", ["wrong_phase"]),
        ("It takes Annankatu, Bergkatu, Castrenkatu and then Dahlkatu.", []),
        ("It takes Castrenkatu, Bergkatu and Dahlkatu.", []),  # in no order
        ("Annankatu, then Castrenkatu, Bergkatu and Dahlkatu.", ["wrong_phase"]),
        ("Annankatu, then Bergkatu, Dahlkatu and Castrenkatu.", ["wrong_phase"]),
        ("Annankatu, then along Bergkatu, and Castrenkatu.", []),
        ("Annankatu, then Bergkatu, Castrenkatu and Dahlkatu.", []),
        ("Along Castrenkatu and Bergkatu.", []),  # in no order
        ("Annankatu, then Castrenkatu. Bergkatu is quiet.", []),
        ("Annankatu, then go over to Dahlkatu via Bergkatu.", []),
        ("Annankatu, then Castrenkatu and Kahvila Onni.", []),  # no road
    ],
)
def test_a_list_of_roads_after_then_is_in_order(text, rules):
    assert TOWN.rules(text, CAPTION) == rules


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("Via Bergkatu and Castrenkatu, Dahlkatu.", []),  # the end, or one more of the way
        ("Via Annankatu, Bergkatu, Dahlkatu.", []),
        ("Via Bergkatu, Dahlkatu and Castrenkatu.", ["wrong_phase"]),
        ("Via Bergkatu and Dahlkatu.", ["wrong_phase"]),
    ],
)
def test_the_last_of_a_list_may_be_where_it_leads(text, rules):
    assert TOWN.rules(text, "instruction_concise") == rules


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("Via Bergkatu, then Castrenkatu, mostly Bergkatu.", []),
        ("Bergkatu first, Castrenkatu next. Then stay on Bergkatu.", []),
        ("Via Castrenkatu, then Bergkatu, mostly Castrenkatu.", ["wrong_phase"]),
    ],
)
def test_of_a_road_that_was_told_before_no_order_is_told(text, rules):
    assert TOWN.rules(text, "instruction_concise") == rules


@pytest.mark.parametrize("field", [CAPTION, QUERY, LITERAL])
@pytest.mark.parametrize(
    ("said", "told", "false_of", "true_of"),
    [
        ("start", "starts", "on Annankatu", ["on Bergkatu", "on Dahlkatu", "on Eerikinkatu"]),
        ("set off", "sets off", "from Annankatu", ["from Bergkatu", "from Eerikinkatu"]),
        ("end", "ends", "on Dahlkatu", ["on Bergkatu", "on Annankatu", "on Eerikinkatu"]),
        ("come", "comes", "to a stop on Dahlkatu", ["to a stop on Castrenkatu"]),
        ("pass", "passes", "Kahvila Onni", ["Eerikinkatu"]),
        ("take", "takes", "Castrenkatu", ["Eerikinkatu"]),
        ("reach", "reaches", "Castrenkatu", ["Eerikinkatu"]),
        ("go", "goes", "past Bergkatu", ["past Eerikinkatu"]),
    ],
)
def test_a_denial_is_false_of_what_is_so_and_true_of_all_else(field, said, told, false_of, true_of):
    for denial in (f"does not {said}", f"doesn't {said}", f"did not {said}", f"never {told}"):
        assert TOWN.rules(f"The drive {denial} {false_of}.", field) == ["driven_name"]
        for road in true_of:
            assert TOWN.rules(f"The drive {denial} {road}.", field) == []


@pytest.mark.parametrize("road", ["Annankatu", "Bergkatu", "Castrenkatu", "Dahlkatu"])
def test_no_drive_that_is_told_avoids_a_road_it_takes(road):
    for said in ("It avoids {}.", "It stays off {}.", "Trips that skip {}", "It never touches {}."):
        assert TOWN.rules(said.format(road), CAPTION) == ["driven_name"]
        assert TOWN.rules(said.format(road), QUERY) == ["driven_name"]
    # A speaker may ask to be kept off the street that the drive only ends on.
    wished = [] if road == "Dahlkatu" else ["driven_name"]
    assert TOWN.rules(f"Avoid {road}.", LITERAL) == wished


@pytest.mark.parametrize(
    "text",
    ["No, to Dahlkatu, please.", "No, from Annankatu.", "Why not start on Annankatu?",
     "Not only starts it on Annankatu, it ends on Dahlkatu."],
)  # fmt: skip
def test_what_only_sounds_like_a_denial_is_none(text):
    assert TOWN.rules(text, LITERAL) == []
