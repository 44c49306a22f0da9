"""What no record of a drive can bear: claimed it is refused, wished, denied or named it is not."""

from functools import cache

import pytest
import yaml
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from pipeline.language.vocabulary import vocabulary
from pipeline.quality.check_report import Score
from pipeline.quality.inspection import FIELDS
from pipeline.quality.rules import Rule
from pipeline.quality.tables import unrecorded_table
from tests.quality.real_towns import ROOT, town_of
from tests.quality.small_town import CAPTION, LITERAL, QUERY, porto
from tests.quality.test_held_out import HERE, TextSet, flat, floor, read, row, table

RULE = Rule.UNRECORDED.value
PORTO = porto()
TEXTS = read("unrecorded/texts.jsonl")
NOW = TextSet("unrecorded", "figures now", "", 0, 0)
AT_FIRST = [
    TextSet("unrecorded", name, "", 0, 0) for name in ("figures at first", "figures of the second")
]
# Trips of the texts.
TRIPS = "written_thrice"


@cache
def score() -> Score:
    """Count the texts in which the rule is rightly found, wrongly found and missed."""
    counts = dict.fromkeys(((True, True), (True, False), (False, True), (False, False)), 0)
    for one in TEXTS:
        found = town_of(TRIPS, one["city"]).rules(one["trip_id"], one["field"], one["text"])
        counts[RULE in found, RULE in one["rules"]] += 1
    return Score(counts[True, True], counts[True, False], counts[False, True])


def test_the_texts_are_of_every_field_and_half_of_them_claim_something():
    wrong = [one for one in TEXTS if one["rules"]]
    assert len(TEXTS) == len({one["text"] for one in TEXTS}) >= 150
    assert {one["field"] for one in TEXTS} == set(FIELDS)
    assert 0.4 <= len(wrong) / len(TEXTS) <= 0.6
    assert {one["kind"] for one in wrong} > unrecorded_table().phrases.keys() - {"nothing"}


def test_the_rule_gets_no_worse_than_its_row():
    now = score()
    print(row(RULE, now))
    assert now.missed <= floor(NOW, RULE).missed
    assert now.wrong <= floor(NOW, RULE).wrong
    assert now.right + now.missed == floor(NOW, RULE).right + floor(NOW, RULE).missed


@pytest.mark.parametrize("texts", [NOW, *AT_FIRST], ids=str)
def test_the_table_follows_from_its_counts(texts):
    assert table(texts)[RULE] == row(RULE, floor(texts, RULE))


@pytest.mark.parametrize(
    "claim",
    ["including a stop at a bakery", "after picking up a passenger", "pauses for coffee",
     "in the rain", "with heavy traffic", "past a car crash", "on foot", "to buy flowers"],
)  # fmt: skip
def test_what_is_refused_in_caption_and_query_may_be_wished_in_an_instruction(claim):
    text = f"Along Avenida da Boavista, {claim}, to Rua Direita."
    found = [RULE in PORTO.rules(text, field) for field in (CAPTION, QUERY, LITERAL)]
    assert found == [
        True,
        True,
        False,
    ]
    assert RULE in PORTO.rules(f"The trip was {claim}. {text}", LITERAL)


@pytest.mark.parametrize(
    "text",
    [
        "Without a stop at a bakery it comes to a stop on Rua Direita.",
        "It drives non-stop past the bus stop, the rain garden and the traffic lights.",
        "It goes past Rain Bar and Traffic Street to Rua Direita, its last stop.",
        "It waits for three minutes on Rua Direita.",
        "It pauses nowhere, ends with a stop on Rua Direita and avoids traffic.",
        "A short walk from Rua Direita the drive ends by a bike rental.",
        "It keeps to a quiet, traffic-free path by a place for a coffee.",
    ],
)
def test_what_is_denied_named_or_only_sounds_alike_is_no_claim(text):
    assert RULE not in PORTO.rules(text, CAPTION)


@pytest.mark.parametrize("field", [CAPTION, QUERY])
def test_no_way_to_call_a_kind_of_place_is_a_claim(field):
    words = [kind.words for kind in vocabulary().facilities]
    told = yaml.safe_load((ROOT / "prompts/template/facilities.yaml").read_text("utf-8"))
    words += [one for some in told["facilities"].values() for one in some]
    assert len(words) > 50
    assert not [one for one in words if RULE in PORTO.rules(f"Drives past {one} to {one}.", field)]


@given(st.sampled_from(TEXTS), st.sampled_from(FIELDS))
@hypothesis_settings(deadline=None, max_examples=60)
def test_a_finding_is_part_of_the_text_and_of_no_name(one, field):
    found = town_of(TRIPS, one["city"]).inspect(one["trip_id"], field, one["text"])
    for finding in (one for one in found.findings if one.rule == RULE):
        assert found.reading.text[finding.start : finding.end] in finding.detail
        assert all(
            mention.end <= finding.start or finding.end <= mention.start or " at " in finding.detail
            for mention in found.mentions
        )


def test_the_readme_says_how_many_texts_there_are():
    wrong = sum(bool(one["rules"]) for one in TEXTS)
    said = flat(HERE / "unrecorded/README.md")
    assert f"{len(TEXTS)} labelled texts" in said
    assert f"In {wrong} " in said
