"""Directions, times, lengths and things are held against the phases, with room for rounding."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import ParameterError
from pipeline.language.vocabulary import vocabulary
from pipeline.quality.claims_nouns import read_nouns
from pipeline.quality.evidence import clock_of
from pipeline.quality.stated import number_of
from tests.language.trips import phased_trip, place, planned_trip, step
from tests.quality.small_town import (
    CAPTION,
    LITERAL,
    QUERY,
    SmallTown,
    porto,
    porto_trip,
    town_of,
)

# Tuesday, Jun 17, 2014 at 4:11 AM, 10 min, 2 km; north, north, east, east, south.
PORTO = porto()


def verdict(text: str, field: str = LITERAL) -> list[str]:
    """Return the verdicts on what a text states, in order."""
    return list(PORTO.claims(text, field).values())


# ---- the clock -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "At 4:11 AM.", "Around 4 AM.", "About 4:10 a.m.", "At 4:15 am.", "By 4:25 AM.",
        "After 4 AM.", "Before 5 AM.", "At 04:11.", "At four o'clock.", "Four in the morning.",
        "Early in the morning.", "On a Tuesday.", "On a weekday.", "Tuesday night.",
        "Monday night.", "Before dawn.", "At dawn.", "On Jun 17.", "On Tuesday, Jun 17, 2014.",
        "On 17th June.", "In June 2014.", "Late at night.", "Early Tuesday morning.",
        "Middle of the night.", "Past midnight.",
    ],
)  # fmt: skip
def test_a_time_that_fits_is_supported(text):
    assert set(verdict(text)) <= {"supported"}


@pytest.mark.parametrize(
    "text",
    ["At 4:11 PM.", "Around 7 AM.", "At 4:40 AM.", "By 4:10 AM.", "After 5 AM.", "Before 4 AM.",
     "At 16:11.", "Four in the afternoon.", "This afternoon.", "At noon.", "On a Friday.",
     "On a weekend.", "On Jun 18.", "In July 2014.", "On Tuesday, Jun 17, 2015.", "At midday."],
)  # fmt: skip
def test_a_time_that_does_not_fit_is_contradicted(text):
    assert "contradicted" in verdict(text)
    assert PORTO.rules(text) == ["wrong_time"]


@pytest.mark.parametrize(
    "text",
    ["Good afternoon!", "Evening, driver.", "Tomorrow afternoon we meet.", "Not on a Friday.",
     "A night club.", "May I get out?", "I may march 3 times.", "Every Friday."],
)  # fmt: skip
def test_greetings_and_other_days_state_nothing(text):
    assert not any(one.kind in {"day", "part_of_day", "date"} for one in PORTO.inspect(text).claims)


@pytest.mark.parametrize(
    ("text", "right"),
    [("Ten past four.", True), ("Quarter past four in the morning.", True), ("Four a.m.", True),
     ("Four fifteen in the morning.", True), ("Ten minutes past four.", True),
     ("Half past five.", False), ("Quarter to four.", False), ("Half past eleven.", False),
     ("Ten past four in the afternoon.", False), ("Four p.m.", False), ("Ten to midnight.", False),
     ("Half past five on a Tuesday.", False), ("Twenty minutes to nine.", False)],
)  # fmt: skip
def test_times_in_words_are_read_with_their_half_hours(text, right):
    assert verdict(text)[0] == ("supported" if right else "contradicted")
    assert PORTO.rules(text) == ([] if right else ["wrong_time"])


@pytest.mark.parametrize(
    "text",
    ["Five to ten people.", "Half the way past nine bars.", "Ten after two stops.",
     "Open from ten to noon.", "Twenty to nine minutes.", "At half seven in the evening."],
)  # fmt: skip
def test_numbers_side_by_side_are_no_time(text):
    assert not any(one.kind == "clock" for one in PORTO.inspect(text).claims)


@pytest.mark.parametrize(
    ("text", "right"),
    [("Between 4 AM and 5 AM.", True), ("From 4:00 to 5:00.", True), ("From 4 to 5 AM.", True),
     ("Between midnight and 6 AM.", True), ("Between four and five in the morning.", True),
     ("A 4-5 AM trip.", True), ("Between 11 PM and 5 AM.", True), ("4 AM to 4:30 AM.", True),
     ("Between midnight and dawn.", True), ("From night till morning.", True),
     ("Sometime between about 4 and 5 AM.", True), ("Between 3 AM and noon.", True),
     ("Between 5 AM and 6 AM.", False), ("From 5:00 to 7:00 AM.", False),
     ("Between 4 and 5 PM.", False), ("Between noon and 2 PM.", False),
     ("From 10 PM until midnight.", False), ("A 6-7 AM trip.", False),
     ("From 4:11 AM to 4:53 AM.", False), ("Between 4:40 and 4:50 AM.", False)],
)  # fmt: skip
def test_a_stretch_of_time_holds_some_of_the_trip(text, right):
    assert "contradicted" not in verdict(text) if right else "contradicted" in verdict(text)
    assert verdict(text)
    assert PORTO.rules(text) == ([] if right else ["wrong_time"])


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 23), st.integers(1, 6))
def test_of_all_hours_those_are_right_that_the_trip_is_in_or_beside(first, hours):
    last = (first + hours) % 24
    text = f"From {first:02d}:00 to {last:02d}:00."
    ends_before = (251 - 60 * last - 5) % 1440 < 1440 - 60 * hours - 20
    begins_after = ends_before
    assert PORTO.rules(text) == (["wrong_time"] if begins_after else [])


def test_a_stretch_is_one_claim_and_its_hours_are_not_judged_apart():
    (claim,) = PORTO.inspect("Trips between 2 AM and 6 AM", QUERY).claims
    assert (claim.text, claim.verdict) == ("2 AM and 6 AM", "supported")


@pytest.mark.parametrize(
    "text", ["From 4 AM to Rua Direita.", "From 4 AM, to the park.", "4-5 streets on.",
             "Between four and five people.", "From one to ten, five."]
)  # fmt: skip
def test_what_has_no_second_time_is_no_stretch(text):
    assert "contradicted" not in PORTO.claims(text).values()


@pytest.mark.parametrize(
    ("text", "right"),
    [("On Tue.", True), ("On Tues, early.", True), ("Tue morning.", True), ("Tue, Jun 17.", True),
     ("On Fri.", False), ("Late on Thurs.", False), ("Sat night.", False), ("Mon, Jun 17.", False),
     ("17.6.2014", True), ("On 17/6/2014.", True), ("On 6/17/14.", True), ("On 2014-06-17.", True),
     ("On 22.11.2014.", False), ("On 2014-06-18.", False), ("On 17.6.2013.", False)],
)  # fmt: skip
def test_short_days_and_dates_in_figures_are_held_against_the_start(text, right):
    assert set(verdict(text)) == {"supported"} if right else "contradicted" in verdict(text)


@pytest.mark.parametrize(
    "text",
    ["I sat down.", "In the sun.", "On Sun Street.", "We wed there.", "Every Fri.", "Not on Sat.",
     "Sunday drivers everywhere.", "In my Sunday best.", "My weekend bag.", "Black Friday is over.",
     "Version 1.2.3.", "Ratio 1-2-3.", "To 10.2 km."],
)  # fmt: skip
def test_words_like_days_state_none(text):
    assert not any(one.kind in {"day", "date"} for one in PORTO.inspect(text).claims)


def test_figures_of_no_day_are_impossible():
    assert PORTO.rules("On 35.13.2014.") == ["impossible_time"]
    assert PORTO.rules("On 2014-02-31.") == ["impossible_time"]


def without_a_clock() -> SmallTown:
    """Return Porto around a trip whose trace has no clock."""
    trip = phased_trip(step(["Rua A"]), step(["Rua B"]), t_start_s=60.0,
                       start_time="Thursday, Jan 1, 1970 at 1:01 AM")  # fmt: skip
    return town_of(planned_trip(trip))


def test_a_trip_without_a_clock_leaves_times_open():
    town = without_a_clock()
    assert set(town.claims("At 4 AM on a Monday.").values()) == {"unverified"}


@pytest.mark.parametrize(
    "text",
    ["At 25:70.", "By 31:00.", "At 24:01.", "At 7:60.", "At 13 PM.", "At 9:75 AM.", "At 0:10 PM.",
     "Around 15:30 pm.", "At 25 o'clock.", "On May 45.", "On June 31.", "On 30 February."],
)  # fmt: skip
def test_what_no_clock_shows_is_impossible_whatever_the_trip(text):
    for town in (PORTO, without_a_clock()):
        assert town.rules(text) == ["impossible_time"]
        assert set(town.claims(text).values()) == {"contradicted"}


@pytest.mark.parametrize(
    "text",
    ["At 24:00.", "At 0:30 AM.", "At 00:30.", "At 23:59.", "At 12 AM.", "At 12:59 PM.",
     "At 15 o'clock.", "On February 29.", "On 31 July.", "Bus 45 May 3.", "To 45 March Street.",
     "Past 70:30 Bar."],
)  # fmt: skip
def test_odd_times_are_times(text):
    town = town_of(porto_trip(), places=["70:30 Bar"])
    assert "impossible_time" not in town.rules(text)


@settings(deadline=None)
@given(st.integers(0, 99), st.integers(0, 99))
def test_of_all_figures_those_of_a_day_are_possible(hour, minute):
    possible = minute < 60 and hour * 60 + minute <= 24 * 60
    assert ("impossible_time" in PORTO.rules(f"At {hour}:{minute:02d}.")) == (not possible)


@pytest.mark.parametrize(
    ("words", "found"),
    [("Tuesday, Jun 17, 2014 at 4:11 AM", (1, 251, 17, 6, 2014)),
     ("Wednesday, Jan 1, 2014 at 12:00 AM", (2, 0, 1, 1, 2014)),
     ("Monday, Jul 1, 2013 at 12:59 PM", (0, 779, 1, 7, 2013)), ("at noon", None), ("", None)],
)  # fmt: skip
def test_a_start_time_is_read_back(words, found):
    assert clock_of(words) == found


@settings(deadline=None)
@given(st.integers(0, 1439), st.integers(0, 1439))
def test_a_rounded_hour_is_within_half_an_hour_of_the_trip_and_no_more(start, said):
    hour, minute = divmod(start, 60)
    words = (
        f"Tuesday, Jun 17, 2014 at {(hour - 1) % 12 + 1}:{minute:02d} {'AM' if hour < 12 else 'PM'}"
    )
    trip = planned_trip(
        phased_trip(step(["Rua A"]), step(["Rua B"]), start_time=words, duration_s=60)
    )
    said = said // 60 * 60
    text = f"Around {(said // 60 - 1) % 12 + 1} {'AM' if said < 720 else 'PM'}."
    apart = min((start - said) % 1440, (said - start - 1) % 1440)
    fits = "supported" if apart <= 30 else "contradicted"
    assert list(town_of(trip).claims(text).values()) == [fits]


# ---- lengths -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["About 10 minutes.", "Ten minutes.", "9 min 30 sec.", "A 12-minute drive.",
     "In under 15 minutes.", "At least 9 minutes.", "No more than ten minutes.",
     "Ten minutes, tops.", "About 2 kilometres.", "2.2 km.", "2000 metres.", "1.3 miles.",
     "Just under ten minutes.", "Through five streets.", "Across two districts.",
     "Nine and a half minutes."],
)  # fmt: skip
def test_a_length_that_people_would_round_to_is_supported(text):
    assert verdict(text) == ["supported"]


@pytest.mark.parametrize(
    ("text", "right"),
    [("Two kilometres or less.", True), ("1,500 metres or more.", True), ("At most 2 km.", True),
     ("Two and a half km at the most.", True), ("A mile and up.", True), ("Not over 3 km.", True),
     ("Nineteen hundred metres.", True), ("Two thousand metres.", True), ("15 min tops.", True),
     ("Over fifteen hundred metres.", True), ("Ten minutes or so.", True),
     ("Five hundred metres or less.", False), ("Three kilometres or more.", False),
     ("At least 3 km.", False), ("900 metres at the most.", False), ("Not over 1.2 miles.", True),
     ("Over two hundred and fifty metres.", True), ("Under 1,200 metres.", False),
     ("Five minutes or less.", False), ("Half an hour or more.", False), ("Half a mile.", False),
     ("Two hours and up.", False), ("Beyond 3 km.", False), ("Fifty-five minutes.", False)],
)  # fmt: skip
def test_bounds_stand_before_or_after_a_length(text, right):
    assert set(verdict(text)) <= {"supported" if right else "contradicted"}
    assert bool(PORTO.rules(text)) == (not right)


@pytest.mark.parametrize(
    "text", ["A few hundred metres.", "A hundred miles.", "A thousand streets.", "Many hundred km."]
)
def test_what_only_says_many_is_no_length(text):
    assert verdict(text) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [("A hundred kilometres.", "distance"), ("It goes on for a hundred miles.", "distance"),
     ("It takes a hundred minutes.", "duration"), ("A thousand km long.", "distance")],
)  # fmt: skip
def test_where_nobody_speaks_many_is_a_length(text, kind):
    for field in (CAPTION, QUERY):
        assert PORTO.rules(text, field) == [f"wrong_{kind}"]


@pytest.mark.parametrize(
    ("text", "rule"),
    [("It takes an hour and a half.", "wrong_duration"), ("It takes an hour.", "wrong_duration"),
     ("An hour or two.", "wrong_duration"), ("More than an hour.", "wrong_duration"),
     ("An hour and 20 minutes.", "wrong_duration"), ("A kilometre long.", "wrong_distance"),
     ("A mile and a half in all.", None), ("Over a mile.", None), ("A mile or so.", None),
     ("Less than an hour.", None), ("Not even an hour.", None), ("A km or two.", None)],
)  # fmt: skip
def test_one_of_a_unit_is_a_length_as_well(text, rule):
    assert len(verdict(text, CAPTION)) == 1
    assert PORTO.rules(text, CAPTION) == ([rule] if rule else [])
    assert PORTO.rules(text, QUERY) == ([rule] if rule else [])


def test_in_an_instruction_an_hour_may_be_anyones_but_an_hour_and_a_half_is_told():
    assert verdict("It feels like an hour.") == []
    assert verdict("Under an hour.") == ["supported"]
    assert verdict("I give it an hour and a half.") == ["contradicted"]


@pytest.mark.parametrize(
    "text",
    ["Half an hour to kill.", "An hour to spare.", "An hour ago.", "A mile away.", "An hour early.",
     "I waste half an hour.", "Ten minutes left, five to burn.", "Twenty minutes to myself."],
)  # fmt: skip
def test_an_hour_to_kill_is_none_of_the_trip(text):
    for field in (LITERAL, CAPTION):
        assert set(verdict(text, field)) == {"unverified"}
        assert PORTO.inspect(text, field).findings == []


@pytest.mark.parametrize("text", ["Once an hour.", "Rush hour.", "A mile a minute.", "The hour."])
def test_rates_and_single_hours_are_no_length(text):
    assert not {"duration", "distance"} & {one.kind for one in PORTO.inspect(text, CAPTION).claims}


@pytest.mark.parametrize(
    ("text", "found"),
    [("At 90 km/h.", "contradicted"), ("At 60 mph.", "contradicted"), ("25 m/s.", "contradicted"),
     ("At ninety kilometres an hour.", "contradicted"), ("It averages 30 km/h.", "contradicted"),
     ("A mean of 12 kph.", "supported"), ("At 12 km/h.", "supported"), ("At 8 mph.", "supported"),
     ("At 25 km/h.", "unverified"), ("Never over 5 km/h.", "contradicted"),
     ("Under 40 km per hour.", "unverified"), ("A 90 km/h zone.", "unverified"),
     ("Where the limit is 90 km/h.", "unverified")],
)  # fmt: skip
def test_a_speed_is_held_against_the_mean_with_room_for_moments(text, found):
    # 2 km in 10 minutes, 12 km/h; each phase lasts two minutes, the fastest 500 m: 15 km/h.
    (claim,) = PORTO.inspect(text, CAPTION).claims
    assert claim.verdict == found
    assert PORTO.rules(text, CAPTION) == (["wrong_distance"] if found == "contradicted" else [])
    assert PORTO.inspect(text, LITERAL).claims == []


@pytest.mark.parametrize(
    ("text", "number"),
    [("2.5", 2.5), ("2,5", 2.5), ("1,200", 1200), ("seventy", 70), ("fifty-five", 55),
     ("two hundred and fifty", 250), ("hundred", 100), ("nineteen hundred", 1900),
     ("two thousand five hundred", 2500), ("one thousand", 1000)],
)  # fmt: skip
def test_numbers_are_read_in_figures_and_words(text, number):
    assert number_of(text) == number


@pytest.mark.parametrize(
    ("text", "rule"),
    [("About 5 minutes.", "wrong_duration"), ("Half an hour.", "wrong_duration"),
     ("90 seconds.", "wrong_duration"), ("In under five minutes.", "wrong_duration"),
     ("Over an hour and 20 minutes.", "wrong_duration"),
     ("A quarter of an hour.", "wrong_duration"), ("One hour.", "wrong_duration"),
     ("About 5 km.", "wrong_distance"), ("900 metres.", "wrong_distance"),
     ("Less than a mile, 1 mile.", None), ("Through nine streets.", "wrong_count"),
     ("Across four districts.", "wrong_count")],
)  # fmt: skip
def test_a_length_far_off_is_contradicted(text, rule):
    assert PORTO.rules(text) == ([rule] if rule else [])


@pytest.mark.parametrize(
    "text",
    ["I'm 20 minutes late.", "My train leaves in 30 minutes.", "Wait 2 minutes.",
     "We met 20 minutes ago.", "It is 200 metres away.", "Two minutes from the corner."],
)  # fmt: skip
def test_lengths_of_something_else_stay_open(text):
    assert verdict(text) == ["unverified"]
    assert PORTO.inspect(text).findings == []


@pytest.mark.parametrize(
    "text", ["At 50 km/h.", "Every minute counts.", "In a minute.", "Route 66."]
)
def test_speeds_and_turns_of_phrase_state_no_length(text):
    assert not {"duration", "distance", "count"} & {one.kind for one in PORTO.inspect(text).claims}


def test_a_stretch_is_held_against_single_phases():
    assert verdict("About two and a half minutes on the stretch to Rua Direita.") == ["supported"]


# ---- directions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("Head northeast.", LITERAL),
        ("Northeast all along.", LITERAL),
        ("Trips that run mostly north-east", QUERY),
        ("Hdg NE, fast.", LITERAL),
        ("NE-bound.", LITERAL),
        ("Head east along Avenida da Boavista.", LITERAL),
        ("It turns east onto Avenida da Boavista and heads east.", CAPTION),
        ("It follows Rua de Santa Catarina north.", CAPTION),
        ("The drive leaves Cedofeita, heading north.", CAPTION),
        ("A northeasterly course.", LITERAL),
        ("Northbound at first.", CAPTION),
    ],
)
def test_a_direction_that_is_driven_is_supported(text, field):
    assert set(verdict(text, field)) == {"supported"}


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("Head southwest.", LITERAL),
        ("Always west.", LITERAL),
        ("Head west along Avenida da Boavista.", LITERAL),
        ("It turns onto Avenida da Boavista and heads west.", CAPTION),
        ("It follows Rua de Santa Catarina south.", CAPTION),
        ("The drive leaves Cedofeita, heading south.", CAPTION),
        ("Westbound trips to Foz", QUERY),
        ("A southwesterly course.", LITERAL),
        ("Hdg SW.", LITERAL),
    ],
)
def test_a_direction_that_is_not_driven_is_contradicted(text, field):
    assert "contradicted" in verdict(text, field)
    assert PORTO.rules(text, field) == ["wrong_direction"]


@pytest.mark.parametrize(
    "text",
    ["On the south side.", "West of here.", "In the west.", "The West End.", "Size S, or W.",
     "The south-facing one."],
)  # fmt: skip
def test_sides_and_letters_state_no_direction(text):
    assert not any(one.kind == "direction" for one in PORTO.inspect(text).claims)


# North, west, west, east for a short way; then round a corner to the south.
BENDS = town_of(
    planned_trip(
        phased_trip(
            step(["Rua A"]),
            step(["Rua B"], heading_deg=265.0),
            step(["Rua B"], heading_deg=265.0),
            step(["Rua B"], heading_deg=10.0, length_m=30.0),
            step(["Rua C"], heading_deg=185.0),
        )
    )
)


WEST = town_of(
    planned_trip(
        phased_trip(
            step(["Rua A"], heading_deg=0.0, length_m=400.0),
            step(["Rua B"], heading_deg=270.0, length_m=800.0),
            step(["Rua B"], heading_deg=10.0, length_m=30.0),
            step(["Rua C"], heading_deg=185.0, length_m=200.0),
        )
    )
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The car starts on Rua A and goes west.", "supported"),
        ("The car starts on Rua A and goes east.", "contradicted"),
        ("It starts on Rua A, turns onto Rua C and heads south.", "supported"),
        ("It starts on Rua A, turns onto Rua C and heads west.", "unverified"),
        ("After Rua A it heads east along Rua B.", "contradicted"),
        ("After Rua C it heads west along Rua B.", "supported"),
        ("After Rua A it heads south along Rua B.", "unverified"),
        ("It runs west as far as Rua C.", "supported"),
        ("Near the end it leaves Rua C and goes north.", "contradicted"),
        ("Past Rua A it takes Rua B, first west.", "supported"),
        ("It takes Rua B and Rua C, first south.", "supported"),
        ("It goes by Rua A to Rua B and follows it west.", "supported"),
        ("It comes out with one turn north onto Rua C.", "contradicted"),
        ("It turns at the first corner onto Rua C and heads south.", "supported"),
    ],
)
def test_a_direction_is_that_of_the_road_it_is_said_of(text, found):
    assert list(BENDS.claims(text, CAPTION).values()) == [found]


@pytest.mark.parametrize("field", [CAPTION, QUERY, LITERAL])
@pytest.mark.parametrize(
    ("text", "found"),
    [
        # Of 1,430 m 400 go north, 800 west, 30 north and 200 south: west-northwest as a whole.
        ("It goes mostly west.", "supported"),
        ("West overall.", "supported"),
        ("It goes mostly north.", "unverified"),
        ("It goes mostly south.", "contradicted"),
        ("Southeast overall.", "contradicted"),
        ("It runs mostly west along Rua B.", "supported"),
        ("It follows Rua C, mostly south.", "supported"),
        ("It goes mostly south from Rua C to Rua B.", "contradicted"),
    ],
)
def test_what_is_said_of_the_whole_way_is_held_against_it_in_every_text(text, found, field):
    assert list(WEST.claims(text, field).values()) == [found]


@given(st.lists(st.tuples(st.sampled_from(range(0, 360, 45)), st.integers(50, 900)), min_size=1,
                max_size=6), st.sampled_from(range(8)))  # fmt: skip
@settings(deadline=None, max_examples=40)
def test_the_whole_way_decides_alike_in_every_text(ways, said):
    steps = [step([f"Rua {'ABCDEF'[n]}"], heading_deg=float(d), length_m=float(m))
             for n, (d, m) in enumerate(ways)]  # fmt: skip
    town = town_of(planned_trip(phased_trip(*steps)))
    points = ["north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest"]
    text = f"It goes mostly {points[said]}."
    (found,) = {verdict for field in (CAPTION, QUERY, LITERAL)
                for verdict in town.claims(text, field).values()}  # fmt: skip
    off = [abs((45 * said - d + 180) % 360 - 180) for d, _ in ways]
    if max(off) <= 45:
        assert found == "supported"
    if min(off) >= 90:
        assert found == "contradicted"


def test_a_road_may_go_as_the_phase_does_that_it_shares_with_another():
    shared = step(["Rua Alta", "Rua Baixa"])
    town = town_of(planned_trip(phased_trip(shared, step(["Rua Alta"], heading_deg=225.0))))
    assert town.claims("Take Rua Alta north.") == {"north": "unverified"}
    assert town.claims("Take Rua Alta east.") == {"east": "contradicted"}
    assert town.claims("Take Rua Alta southwest.") == {"southwest": "supported"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("From Rua A head north.", ["supported"]),
        ("Start on Rua A and go north.", ["supported"]),
        ("Go north and then west.", ["supported", "supported"]),
        ("Go south and then north.", ["supported", "supported"]),
        ("Start on Rua A and go east.", ["contradicted"]),
        ("Go east.", ["contradicted"]),
    ],
)
def test_an_instruction_may_tell_the_direction_of_a_part(text, found):
    """The whole way goes west-southwest."""
    assert list(BENDS.claims(text).values()) == found


def test_what_is_not_left_is_no_start():
    town = town_of(
        planned_trip(
            phased_trip(
                step(["Rua A"], heading_deg=90.0, length_m=50.0), step(["Rua B"]), step(["Rua C"])
            )
        )
    )
    assert town.claims("Go north without leaving the main roads.") == {"north": "supported"}
    assert town.claims("Go south after leaving the main roads.") == {"south": "contradicted"}


def test_the_direction_of_a_turn_is_not_that_of_the_whole_way():
    assert BENDS.claims("Take Rua A with one turn to the west.") == {"west": "supported"}


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("Drive without a stop and then to a museum.", ["not_borne_out"]),
        ("Go where people go out, near a library.", ["not_borne_out"]),
        ("Why not go by a museum?", ["not_borne_out"]),
        ("Past no museum.", []),
        ("Keep out of the library.", []),
    ],
)
def test_a_refusal_reaches_no_farther_than_what_it_refuses(text, rules):
    settled = PORTO.inspect(text).claims
    assert ["not_borne_out" for one in settled if one.kind == "noun"] == rules


def test_a_short_winding_way_at_the_start_leaves_its_direction_open():
    steps = [
        step(["Rua A"], heading_deg=270.0, heading_strength=0.3, length_m=150.0),
        *(step([f"Rua {name}"], length_m=500.0) for name in "BCD"),
    ]
    town = town_of(planned_trip(phased_trip(*steps)))
    for text in ("It starts out heading west.", "It briefly goes west."):
        assert town.claims(text, CAPTION) == {"west": "unverified"}


def test_a_winding_way_leaves_its_direction_open():
    steps = [step([f"Rua {n}"], heading_deg=90.0 * n) for n in range(5)]
    assert town_of(planned_trip(phased_trip(*steps))).claims("Head north.") == {
        "north": "unverified"
    }


# ---- things -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["Past a pharmacy.", "Past the chemist's.", "By the river.", "Through the park.", "To a cafe.",
     "A hotel, please.", "Pharmacies on the way."],
)  # fmt: skip
def test_a_thing_the_record_shows_is_supported(text):
    assert verdict(text) == ["supported"]


@pytest.mark.parametrize(
    "text", ["Past a dentist.", "Over the bridge.", "At the traffic lights.", "To the airport."]
)
def test_a_thing_the_record_does_not_show_is_left_to_the_verifier(text):
    assert verdict(text) == ["unverified"]
    assert PORTO.inspect(text).findings == []


@pytest.mark.parametrize(
    "text",
    ["Past a lighthouse.", "By the ice rink.", "Is there a swimming pool?", "Let's get petrol.",
     "A fire station.", "Past the Christmas market.", "To the castle.", "We refuel first.",
     "Along the racetrack.", "Under the water tower.", "A bike shop on the way."],
)  # fmt: skip
def test_things_that_few_records_show_are_claimed_as_well(text):
    assert verdict(text) == ["unverified"]


def test_a_thing_of_these_is_borne_out_by_a_name_or_a_category():
    things = [
        ("Phare de Foz", None),
        ("Jäähalli", None),
        ("Piscine A", None),
        ("Shell", "gas station"),
    ]
    for (name, category), noun in zip(
        things, ["lighthouse", "ice hall", "swimming pool", "petrol pump"], strict=True
    ):
        trip = phased_trip(step(["Rua A"]), step(["Rua B"]))
        town = town_of(planned_trip(trip, places=[place(1, name, category=category)]))
        assert town.claims(f"Past a {noun}.") == {noun: "supported"}


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("It ends beside a park.", True),  # the last phase
        ("It ends on Rua Direita near a cafe.", True),
        ("It starts near a pharmacy.", True),  # the phase after the first
        ("It starts on Rua Direita by the river.", False),
        ("The drive ends beside a pharmacy.", False),
        ("It ends on Rua Direita, close to a hotel.", True),  # the comma leaves it open
        ("It ends at a hotel.", False),
        ("The trip begins in the park.", False),
        ("It ends on Rua Direita and passes a pharmacy.", True),
        ("It passes a pharmacy before it ends.", True),
    ],
)
def test_a_thing_at_the_end_or_start_is_held_against_that_end(text, fits):
    (claim,) = [one for one in PORTO.inspect(text, CAPTION).claims if one.kind == "noun"]
    assert claim.verdict == ("supported" if fits else "unverified")


@pytest.mark.parametrize(
    "text",
    [
        "Avoid the bridge.",
        "No highways.",
        "Nowhere near the airport.",
        "Park here.",
        "I bank on you.",
    ],
)
def test_what_is_kept_off_and_verbs_claim_nothing(text):
    assert verdict(text) == []


def test_a_thing_that_is_kept_off_is_no_claim():
    text = "I don't want to go anywhere near the seaside. To a cinema, please."
    (claim,) = PORTO.inspect(text).claims
    assert claim.text == "cinema"


def test_a_name_bears_its_noun_out():
    town = town_of(planned_trip(phased_trip(step(["Pitkäsilta"]), step(["Tunnel Rocher"]))))
    assert town.claims("Over the bridge and through the tunnel.") == {
        "bridge": "supported", "tunnel": "supported",
    }  # fmt: skip


def test_a_word_within_a_name_claims_nothing():
    assert PORTO.claims("From Café Norte to Hotel Dom Pedro.") == {}


def test_a_noun_of_a_zone_nobody_knows_is_refused(tmp_path):
    file = tmp_path / "nouns.yaml"
    file.write_text("nouns: [{words: [moor], zones: [moorland]}]\n"
                    "also_verbs: []\nbefore_nouns: []\nkeeping_off: []\n")  # fmt: skip
    with pytest.raises(ParameterError, match=r"moor: .*found moorland"):
        read_nouns(file, vocabulary())


# ---- the phase that decides ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "phase"),
    [
        ("It goes east on Avenida da Boavista.", 2),  # driven in phase 2 alone
        ("It goes west on Avenida da Boavista.", 2),  # wrong, and there
        ("It sets out heading north.", 0),
        ("It sets out heading west.", None),  # held against the first three, none fits
        ("It turns south.", 4),
        ("By 4:25 AM.", 4),  # when it ends
        ("After 4 AM.", 0),
        ("On a Tuesday.", 0),
        ("On Jun 17.", 0),
        ("Around 4 AM.", None),
        ("At night.", None),
        ("It takes 10 minutes.", None),
        ("It takes five roads.", None),
        ("A pharmacy is passed.", None),
        ("At 25:70.", None),
    ],
)
def test_a_claim_names_the_phase_that_decides_if_one_does(text, phase):
    (claim,) = PORTO.inspect(text, CAPTION).claims
    assert claim.phase == phase


def test_a_direction_of_the_whole_trip_is_of_no_phase():
    (claim,) = PORTO.inspect("Always head northeast.").claims
    assert (claim.verdict, claim.phase) == ("supported", None)


def test_minutes_of_one_stretch_are_of_the_first_phase_that_lasts_so_long():
    # 30 min, a third of it each; a fifth of all, 6 min, is room for rounding.
    trip = phased_trip(*(step([f"Rua {name}"]) for name in "ABCD"), duration_s=1800)
    (claim,) = town_of(planned_trip(trip)).inspect("It spends 9 minutes on Rua B.", CAPTION).claims
    assert (claim.verdict, claim.phase) == ("supported", 1)


@pytest.mark.parametrize(
    ("start", "said", "rules"),
    [
        ("1:16 AM", "On an early weekday morning it heads north.", ["wrong_time"]),
        ("1:16 AM", "On a weekday night it heads north.", []),
        ("1:16 AM", "In the small hours it heads north.", []),
        ("5:16 AM", "On an early weekday morning it heads north.", []),
    ],
)
def test_one_in_the_morning_is_night_and_no_early_morning(start, said, rules):
    trip = phased_trip(
        step(["Rua A"]), step(["Rua B"]), start_time=f"Tuesday, Jun 17, 2014 at {start}"
    )
    assert town_of(planned_trip(trip)).rules(said, CAPTION) == rules
