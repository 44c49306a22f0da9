"""A text is English, has words in it and is not too long for its style; names are of any script."""

import pytest

from pipeline.quality.wording import Longest, whole_text
from tests.language.trips import area, phased_trip, place, planned_trip, step
from tests.quality.real_towns import settings
from tests.quality.small_town import CAPTION, LITERAL, QUERY, porto, town_of

PORTO = porto()
LONGEST = settings().wording.longest


@pytest.mark.parametrize(
    "text",
    [
        "请带我去码头",
        "اذهب إلى الميناء من فضلك",
        "езжай прямо, пожалуйста",
        "пожалуйста, Rua Direita, побыстрее",
        "駅までお願いします, thanks!",
        "Πάμε γρήγορα, please.",
        "קח אותי הביתה",
    ],
)
def test_a_text_in_another_script_is_refused(text):
    findings = PORTO.inspect(text).findings
    assert "not_english" in {one.rule for one in findings if one.action == "reject"}


CITIES = {
    "Tokyo": ("中央通り", "日本橋", "東京駅"),
    "Cairo": ("شارع التحرير", "ميدان طلعت حرب", "برج القاهرة"),
    "Thessaloniki": ("Οδός Τσιμισκή", "Εγνατία", "Λευκός Πύργος"),
    "Helsinki": ("Mäkelänkatu", "Hämeentie", "Kahvila Äyräs"),
    "Monaco": ("Allées des Boulingrins", "Avenue de l'Hermitage", "Église Sainte-Dévote"),
}


@pytest.mark.parametrize("city", CITIES)
@pytest.mark.parametrize(
    "sentence", ["Take {0} to {2}, please.", "{2} via {0}.", "{2}.", "From {1} along {0} to {2}"]
)
def test_names_of_a_city_are_of_its_own_script_in_an_english_sentence(city, sentence):
    first, second, end = CITIES[city]
    trip = phased_trip(step([second], area()), step([first], area()), step(["3rd Street"], area()))
    town = town_of(planned_trip(trip, places=[place(2, end)]), city=city)
    found = town.inspect(sentence.format(first, second, end))
    assert {one.verdict for one in found.mentions} == {"grounded"}
    assert [(one.rule, one.action) for one in found.findings] == []


def test_a_word_of_another_script_that_names_nothing_known_stays_open():
    found = PORTO.inspect("Take Rua Direita past 东京, please.")
    assert [(one.text, one.kind, one.verdict, one.method) for one in found.claims] == [
        ("东京", "name", "unverified", "script")
    ]
    assert found.findings == []


def test_the_share_of_letters_decides_and_names_do_not_count():
    read = PORTO.inspect("Go to Rua Direita, абвг.")
    hits = {
        share: whole_text(read.reading, read.mentions, longest=100, most_foreign_share=share)
        for share in (0.4, 0.5, 0.6)
    }  # 4 letters of "go to", 4 others
    assert [len(hits[share]) for share in (0.4, 0.5, 0.6)] == [1, 0, 0]
    assert hits[0.4][0].detail == "4 of 8 letters beside names are not Latin"


@pytest.mark.parametrize(
    ("field", "longest"),
    [(LITERAL, LONGEST.literal), ("instruction_concise", LONGEST.concise),
     ("instruction_chatty", LONGEST.chatty), (QUERY, LONGEST.query), (CAPTION, LONGEST.caption)],
)  # fmt: skip
def test_a_text_may_have_as_many_characters_as_its_style_and_no_more(field, longest):
    assert PORTO.rules("o" * longest, field) == []
    assert PORTO.rules("o" * (longest + 1), field) == ["too_long"]


@pytest.mark.parametrize("text", ["...", "?", "12, 34.", "", "7:30", "\u200b"])
def test_a_text_without_a_word_is_refused(text):
    assert "no_words" in PORTO.rules(text)


@pytest.mark.parametrize("text", ["Go.", "Rua Direita", "rua direita", "OK?", "é"])
def test_one_word_is_enough(text):
    assert "no_words" not in PORTO.rules(text)


def test_each_field_has_the_limit_of_its_style():
    longest = Longest(literal=1, concise=2, chatty=3, query=4, caption=5)
    fields = ("instruction_literal", "instruction_concise", "instruction_chatty",
              "retrieval_query_1", "retrieval_query_3", "trajectory_caption")  # fmt: skip
    assert [longest.of(field) for field in fields] == [1, 2, 3, 4, 4, 5]
