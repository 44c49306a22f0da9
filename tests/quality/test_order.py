"""Two names that a text tells one after the other must lie so on the way, as far as phases know."""

import pytest

from pipeline.quality.order import ORDER_WORDS, TELLING_TREE
from tests.language.trips import phased_trip, place, planned_trip, step
from tests.quality.small_town import CAPTION, QUERY, SmallTown, town_of

TELLING = [
    "It takes {}, then {}.",
    "It takes {}, after that {}.",
    "It takes {}. After that it goes along {}.",
    "It takes {}, followed by {}.",
    "It takes {} and later {}.",
    "It takes {} and afterwards turns into {}.",
    "It takes {} before {}.",
    "It takes {} before it reaches {}.",
    "First it takes {}, next {}.",
    "It takes {} and eventually {}.",
    "After {} it takes {}.",
]
TURNED_ROUND = [
    "It takes {} after {}.",
    "It takes {} after a bit of {}.",
    "It takes {}, but before that {}.",
    "Before {} it takes {}.",
]


def town(*roads: list[str]) -> SmallTown:
    """Return a town whose trip has one phase for each list of roads."""
    trip = phased_trip(*map(step, roads))
    return town_of(planned_trip(trip, places=[place(1, "Café Rio"), place(1, "Café Sol")]))


APART = town(["Rua X"], ["Rua A"], ["Rua Y"], ["Rua B"], ["Rua Z"])


def test_every_phrase_of_order_has_a_word_that_texts_are_looked_at_for():
    assert set(TELLING_TREE.root) - {"but"} <= ORDER_WORDS
    assert "first" in ORDER_WORDS  # "but first"


@pytest.mark.parametrize("text", TELLING)
def test_the_name_told_first_must_not_lie_behind_the_other(text):
    assert APART.rules(text.format("Rua A", "Rua B"), CAPTION) == []
    assert APART.rules(text.format("Rua B", "Rua A"), CAPTION) == ["wrong_phase"]


@pytest.mark.parametrize("text", TURNED_ROUND)
def test_after_and_before_that_tell_them_the_other_way_round(text):
    assert APART.rules(text.format("Rua B", "Rua A"), CAPTION) == []
    assert APART.rules(text.format("Rua A", "Rua B"), CAPTION) == ["wrong_phase"]


@pytest.mark.parametrize(
    "text",
    ["It passes {} and {}.", "It takes {} next to {}.", "It takes {} after noon, {} too.",
     "It takes {} no later than nine, and {}.", "It takes {} after all, and {}."],
)  # fmt: skip
def test_other_words_tell_no_order(text):
    for names in (("Rua A", "Rua B"), ("Rua B", "Rua A")):
        assert "wrong_phase" not in APART.rules(text.format(*names), CAPTION)


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("It takes Rua A past the shops and goes on along Rua B.", []),
        ("It takes Rua B past the shops and goes on along Rua A.", ["wrong_phase"]),
        ("It takes Rua B past the shops. It goes east on Rua A.", ["wrong_phase"]),
        ("It takes Rua B, coming from the shops on Rua A.", []),
        ("It takes Rua B, with the shops of Rua A near.", []),
        ("Before Rua B it goes north on Rua A.", []),
    ],
)
def test_a_caption_tells_the_roads_as_they_are_driven(text, rules):
    town_ = town(["Rua A"], ["Rua X"], ["Rua B"])
    assert [rule for rule in town_.rules(text, CAPTION) if rule == "wrong_phase"] == rules
    assert "wrong_phase" not in town_.rules(text, QUERY)


def test_after_in_a_clause_of_its_own_tells_nothing_of_the_name_before():
    town_ = town(["Rua A"], ["Rua B"], ["Rua C"])
    assert town_.rules("It takes Rua A, and ends after Rua B on Rua C.", CAPTION) == []
    assert town_.rules("It takes Rua A after Rua B.", CAPTION) == ["wrong_phase"]
    assert town_.rules("It takes Rua A and does so after Rua B.", CAPTION) == ["wrong_phase"]


@pytest.mark.parametrize("text", TELLING)
def test_roads_of_one_phase_are_told_as_it_lists_them(text):
    """Rua A, then Rua B, on which the trip goes on."""
    one = town(["Rua X"], ["Rua A", "Rua B"], ["Rua B"], ["Rua Z"])
    assert one.rules(text.format("Rua A", "Rua B"), CAPTION) == []
    assert one.rules(text.format("Rua B", "Rua A"), CAPTION) == ["wrong_phase"]


@pytest.mark.parametrize("text", TELLING)
def test_where_the_road_may_come_again_in_the_phase_the_order_is_open(text):
    last = town(["Rua X"], ["Rua Y"], ["Rua A", "Rua B"])
    assert last.rules(text.format("Rua A", "Rua B"), CAPTION) == []
    assert last.rules(text.format("Rua B", "Rua A"), CAPTION) == ["unverified"]


def test_a_road_that_is_driven_again_may_be_told_twice():
    again = town(["Rua A"], ["Rua B"], ["Rua A"])
    assert again.rules("It takes Rua A, then Rua B, after that Rua A.", CAPTION) == []


def test_places_of_one_phase_have_no_order():
    for names in (("Café Rio", "Café Sol"), ("Café Sol", "Café Rio")):
        assert APART.rules("It passes {} and then {}.".format(*names), CAPTION) == []
