"""Lists, articles, names, clock times and durations come out as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.language.engines.template.choices import Choices
from pipeline.language.engines.template.phrase import Phrase
from pipeline.language.engines.template.wording import (
    Clock,
    clock_of,
    ended,
    in_a_row,
    roads_in_order,
    rounded_distance,
    rounded_duration,
    sayable,
    with_article,
    without_article,
)


@pytest.mark.parametrize(
    ("parts", "row"),
    [
        ([], ""),
        (["a"], "a"),
        (["a", "b"], "a and b"),
        (["a", "b", "c"], "a, b and c"),
        (["take A and then B", "head west"], "take A and then B, and head west"),
        (["a", "b, c", "d"], "a, b, c, and d"),
    ],
)
def test_lists_get_a_comma_before_and_only_where_their_parts_hold_one(parts, row):
    assert in_a_row(parts) == row


def test_roads_are_told_in_the_order_driven():
    assert roads_in_order(["A"]) == ("A",)
    assert all(said.index("A") < said.index("B") for said in roads_in_order(["A", "B"]))
    assert roads_in_order(["A", "B", "C"])[0] == "A, B and then C"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (3, "10 seconds"), (44, "40 seconds"), (55, "1 minute"), (89, "1 minute"),
        (91, "2 minutes"), (495, "8 minutes"), (1300, "20 minutes"), (1390, "25 minutes"),
        (3600, "1 hour"), (3900, "1 hour and 5 minutes"), (7300, "2 hours"),
    ],
)  # fmt: skip
def test_durations_are_rounded_as_people_round_them(seconds, words):
    assert rounded_duration(seconds) == words


@pytest.mark.parametrize(
    ("metres", "words"),
    [
        (10, "50 metres"), (480, "500 metres"), (974, "950 metres"), (980, "1 kilometre"),
        (1300, "1.5 kilometres"), (2100, "2 kilometres"), (9800, "10 kilometres"),
        (12345, "12 kilometres"),
    ],
)  # fmt: skip
def test_distances_are_rounded_as_people_round_them(metres, words):
    assert rounded_distance(metres) == words


@pytest.mark.parametrize(
    ("start_time", "clock"),
    [
        ("Sunday, Jun 15, 2014 at 4:11 AM", Clock("4:11 AM", "4:10 AM", "Sunday", "Jun 15, 2014")),
        ("Friday, Jan 3, 2025 at 11:58 PM", Clock("11:58 PM", "12 AM", "Friday", "Jan 3, 2025")),
        ("Friday, Jan 3, 2025 at 12:00 PM", Clock("12:00 PM", "12 PM", "Friday", "Jan 3, 2025")),
        ("some other words", None),
    ],
)  # fmt: skip
def test_start_times_are_read_back(start_time, clock):
    assert clock_of(start_time) == clock


def test_articles_follow_the_sound():
    assert [with_article(noun) for noun in ("cafe", "optician", "university", "hour")] == [
        "a cafe", "an optician", "a university", "an hour",
    ]  # fmt: skip
    assert without_article("a petrol station") == "petrol station"
    assert without_article("a") == "a"


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=90))
def test_a_name_that_may_be_said_breaks_no_rule(name):
    if sayable(name):
        assert not {"\N{EM DASH}", ";", "\n", "\t"} & set(name)
        assert "  " not in name
        assert name == name.strip() != ""


def test_a_name_with_its_own_full_stop_keeps_one():
    assert ended("Drive to Str. 5..", ["Str. 5."]) == "Drive to Str. 5."
    assert ended("Go to Str.... Or not.", ["Str."]) == "Go to Str.... Or not."
    assert ended("Yahoo!. Now.", ["Yahoo!"]) == "Yahoo! Now."


def test_what_is_filled_in_is_not_read_for_slots():
    phrase = Phrase("go to {name}, 100 %", names={"name"})
    assert phrase.fill({"name": "{name} %s"}) == "go to {name} %s, 100 %"


def test_a_name_is_never_capitalised():
    assert Phrase("{name} it is", names={"name"}).fill_capital({"name": "iSpot"}) == "iSpot it is"
    assert Phrase("{stop} first").fill_capital({"stop": "a bar"}) == "A bar first"


def test_choices_depend_on_trip_and_purpose_alone_and_are_even():
    def drawn(trip: str, purpose: str) -> list[int]:
        choices = Choices(trip, purpose)
        return [choices.below(10) for _ in range(50)]

    assert drawn("t", "p") == drawn("t", "p")
    assert drawn("t", "p") != drawn("t", "q")
    assert drawn("t", "p") != drawn("u", "p")
    counts = [0] * 10
    for number in range(400):
        for each in drawn(str(number), "p"):
            counts[each] += 1
    assert all(abs(count - 2000) < 250 for count in counts)
