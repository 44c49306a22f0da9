"""Three hundred and more labelled texts on real trips: what each rule finds and misses.

Each line of labelled.jsonl is a text, the trip it speaks of, and the rules that a careful reader
would name. Half of the texts are wrong in one small way. `pytest -s` prints the table.
"""

import json
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from pipeline.quality.check_report import Score, precision_and_recall
from pipeline.quality.inspection import FIELDS
from pipeline.quality.rules import STAGE_OF, Rule
from tests.quality.real_towns import real_town, settings

LABELLED = [
    json.loads(line)
    for line in (Path(__file__).parent / "labelled.jsonl").read_text("utf-8").splitlines()
]
WANTED = {one["id"]: one["rules"] for one in LABELLED}
# Diversity is a matter of many texts (test_diversity.py), a repair that failed of unusual names
# (test_punctuation.py), what nobody but a model lists of models (test_whole_texts.py), and what no
# record can bear has texts of its own (test_unrecorded.py).
ELSEWHERE = {rule for rule in Rule if STAGE_OF[rule] == "diversity"} | {
    Rule.UNSAFE_REPAIR,
    Rule.UNSUPPORTED,
    Rule.UNRECORDED,
}


@cache
def found() -> dict[str, list[str]]:
    """Return the rules that find something in each text."""
    return {
        one["id"]: real_town(one["city"]).rules(one["trip_id"], one["field"], one["text"])
        for one in LABELLED
    }


@cache
def scores() -> dict[str, Score]:
    return precision_and_recall(found(), WANTED)


def test_there_are_enough_texts_and_half_of_them_are_wrong():
    policies = settings().rules
    wrong = [
        one
        for one in LABELLED
        if any(policies.action(Rule(rule)) != "flag" for rule in one["rules"])
    ]
    assert len(LABELLED) >= 150
    assert 0.4 <= len(wrong) / len(LABELLED) <= 0.65
    assert len({one["text"] for one in LABELLED}) == len(LABELLED)
    assert {one["field"] for one in LABELLED} <= set(FIELDS)


def test_every_rule_on_single_texts_is_labelled():
    counts = Counter(rule for one in LABELLED for rule in one["rules"])
    assert counts.keys() == {rule.value for rule in Rule} - ELSEWHERE


@pytest.mark.parametrize("rule", ["invented_name", "off_route_name", "wrong_phase"])
def test_names_are_judged_with_precision_and_recall(rule):
    score = scores()[rule]
    assert score.precision >= 0.95
    assert score.recall >= 0.95


@pytest.mark.parametrize("rule", sorted({rule.value for rule in Rule} - ELSEWHERE))
def test_each_rule_finds_what_it_should_and_little_else(rule):
    score = scores()[rule]
    print(f"{rule:<16} precision {score.precision} recall {score.recall} {score}")
    assert score.precision >= 0.9
    assert score.recall >= 0.9


def test_a_text_is_refused_exactly_when_its_labels_say_so():
    policies = settings().rules

    def refused(rules):
        return any(policies.action(Rule(rule)) == "reject" for rule in rules)

    differing = [
        one["text"] for one in LABELLED if refused(found()[one["id"]]) != refused(one["rules"])
    ]
    assert len(differing) <= 0.02 * len(LABELLED), differing
