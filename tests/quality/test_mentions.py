"""What looks like a name and is none of the city is told by its capitals, with care."""

import pytest

from tests.quality.small_town import porto

PORTO = porto()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Head to Zanzibar.", "Zanzibar"),
        ("Zanzibar, please.", "Zanzibar"),
        ("Zanzibar. Now.", "Zanzibar"),
        ("Dest: Zanzibar. Fast.", "Zanzibar"),
        ("Take Golden Gate Bridge.", "Golden Gate Bridge"),
        ("At 7 PM take Golden Gate Bridge.", "Golden Gate Bridge"),
        ("By Station Road, please.", "Station Road"),
        ("Past Church of Saint Nicholas.", "Church of Saint Nicholas"),
        ("Into Rua do Vento Norte.", "Rua do Vento Norte"),
        ("Towards Pier 39 and on.", "Pier 39"),
        ("ZANZIBAR NOW PLEASE", "ZANZIBAR"),
        ("Drive To Zanzibar And Wait", "Zanzibar"),
        ("Straight to Victory.", "Victory"),
        ("To Ponte D, quickly.", "Ponte D"),
    ],
)
def test_an_unknown_name_is_found_whole(text, name):
    assert PORTO.verdicts(text) == {name: "invented"}


@pytest.mark.parametrize(
    "text",
    [
        "Meandering along is fine.",
        "Honestly, I don't mind.",
        "Hey driver, I'm off, OK?",
        "On Monday, Jun 2, at 4 PM it is.",
        "From point A to point B.",
        "An Italian place, or Thai food.",
        "Head NW, then SE-bound.",
        "HURRY UP AND GO FAST",
        "Go To The Park And Wait There",
        "I'd love an ATM, ASAP. Thx!",
        "Left, right, whatever. Fine. Now.",
        "Pref lively streets. Dep 7 PM. Hdg E.",
    ],
)
def test_other_capitals_are_no_names(text):
    assert PORTO.mentions(text) == []
    assert not any(one.kind == "name" for one in PORTO.inspect(text).claims)


@pytest.mark.parametrize(
    ("text", "words"),
    [("Along the Park then.", "Park"), ("Through Old Town.", "Old Town"),
     ("Near Main Street.", "Main Street"), ("Wobbling along is fine.", "Wobbling")],
)  # fmt: skip
def test_where_neither_list_nor_place_tells_the_words_stay_open(text, words):
    found = PORTO.inspect(text)
    assert found.mentions == []
    assert [(one.text, one.verdict) for one in found.claims if one.kind == "name"] == [
        (words, "unverified")
    ]


def test_small_letters_are_enough_for_a_road_but_not_for_a_place_of_one_word():
    assert PORTO.verdicts("via avenida da boavista pls") == {"avenida da boavista": "grounded"}
    assert PORTO.verdicts("what a day for a stop") == {}


def test_a_possessive_is_no_part_of_a_name():
    assert PORTO.verdicts("Near Café Central's door.") == {"Café Central": "grounded"}


def test_an_empty_text_names_nothing():
    assert PORTO.inspect("").mentions == []
    assert PORTO.inspect("...").mentions == []


@pytest.mark.parametrize(
    "text", ["Rua \u0301 Direita.", "\u0301", "Rua Direita \u0301 phase \u0301 one."]
)
def test_an_accent_without_a_letter_is_a_word_like_any_other(text):
    assert PORTO.inspect(text).reading.text == text
