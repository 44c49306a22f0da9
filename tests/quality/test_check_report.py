"""The table of rules: coverage, overlap, conflict, and precision where people have labelled."""

import pytest

from pipeline.quality.check_report import CheckTally, Score, precision_and_recall, refusal
from pipeline.quality.inspection import FIELDS, Inspected
from pipeline.quality.rules import STAGE_OF, Rule
from pipeline.records import Claim, Finding, Mention, Texts
from tests.quality.real_towns import settings

FIELD = "instruction_literal"


def finding(rule: Rule, start: int = 0, end: int = 4, action: str = "flag", field: str = FIELD):
    return Finding(field, STAGE_OF[rule], rule.value, start, end, "-", action)


def trip(trip_id: str, *findings: Finding, mentions=(), claims=()) -> Inspected:
    texts = Texts(*("Go." for _ in FIELDS))
    return Inspected(trip_id, texts, list(mentions), list(claims), [], list(findings))


def table(*trips: Inspected, labels=None) -> dict[str, dict[str, object]]:
    tally = CheckTally(settings().rules, labels or {})
    for one in trips:
        tally.add(one)
    return {row["rule"]: row for row in tally.figures()["rules"]}


def test_coverage_counts_trips_not_findings():
    rules = table(trip("a", finding(Rule.DASH), finding(Rule.DASH, 6, 7)), trip("b"), trip("c"))
    dash = rules["dash"]
    assert (dash["findings"], dash["trips"], dash["coverage"]) == (2, 1, 0.3333)
    assert (rules["quotes"]["coverage"], rules["quotes"]["overlap"]) == (0.0, None)


def test_overlap_is_the_share_of_trips_that_another_rule_speaks_of_too():
    rules = table(
        trip("a", finding(Rule.DASH), finding(Rule.QUOTES, 8, 9)), trip("b", finding(Rule.DASH))
    )
    assert (rules["dash"]["overlap"], rules["quotes"]["overlap"]) == (0.5, 1.0)


@pytest.mark.parametrize(
    ("other", "conflict"),
    [
        (finding(Rule.NEAR_NAME, 2, 6, "flag"), 1.0),
        (finding(Rule.OFF_ROUTE_NAME, 2, 6, "reject"), 0.0),  # both want the same
        (finding(Rule.NEAR_NAME, 4, 6, "flag"), 0.0),  # of other words
        (finding(Rule.NEAR_NAME, 2, 6, "flag", "trajectory_caption"), 0.0),  # of another text
    ],
)
def test_rules_conflict_that_want_different_things_of_the_same_words(other, conflict):
    rules = table(trip("a", finding(Rule.INVENTED_NAME, 0, 4, "reject"), other))
    assert rules["invented_name"]["conflict"] == conflict


def test_precision_is_of_labelled_findings_only():
    labels = {("a", FIELD, "dash"): True, ("b", FIELD, "dash"): False, ("z", FIELD, "dash"): False}
    dash = table(*(trip(name, finding(Rule.DASH)) for name in "abcd"), labels=labels)["dash"]
    assert (dash["trips"], dash["labelled"], dash["precision"]) == (4, 2, 0.5)
    assert table(trip("c", finding(Rule.DASH)), labels=labels)["dash"]["precision"] is None


def test_every_rule_stands_in_the_table_with_its_stage_and_action():
    rules = table()
    assert list(rules) == [rule.value for rule in Rule]
    assert (rules["dash"]["stage"], rules["dash"]["action"]) == ("punctuation", "repair")


def test_names_and_claims_are_counted_by_verdict():
    tally = CheckTally(settings().rules, {})
    mentions = [Mention(FIELD, 0, 4, "Foz.", "place", verdict, "Foz", None, "", None, None, "name")
                for verdict in ("grounded", "grounded", "grounded", "invented")]  # fmt: skip
    claims = [Claim(FIELD, 0, 2, "Go", kind, verdict, None, "", "-")
              for kind, verdict in (("time", "supported"), ("time", "unverified"))]  # fmt: skip
    tally.add(trip("a", mentions=mentions, claims=claims))
    figures = tally.figures()
    assert figures["names"] == {"grounded": 3, "off_route": 0, "invented": 1}
    assert figures["names_grounded_share"] == 0.75
    assert figures["claims"] == [
        {"kind": "time", "supported": 1, "contradicted": 0, "unverified": 1}
    ]
    assert tally.names_plot().rows() == [
        (FIELD, "grounded", 3), (FIELD, "off_route", 0), (FIELD, "invented", 1),
    ]  # fmt: skip


def test_a_trip_is_refused_for_its_first_finding_that_rejects():
    first, second = finding(Rule.LABEL, action="reject"), finding(Rule.BRACKETS, action="reject")
    assert refusal(trip("a", finding(Rule.SHORT_NAME), first, second)) == first
    assert refusal(trip("a", finding(Rule.SHORT_NAME))) is None


def test_precision_and_recall_count_texts():
    found = {"1": ["dash", "dash"], "2": ["dash", "label"], "3": []}
    labelled = {"1": ["dash"], "2": [], "3": ["dash", "quotes"]}
    scores = precision_and_recall(found, labelled)
    assert scores == {"dash": Score(1, 1, 1), "label": Score(0, 1, 0), "quotes": Score(0, 0, 1)}
    assert (scores["dash"].precision, scores["dash"].recall) == (0.5, 0.5)
    assert (scores["label"].recall, scores["quotes"].precision) == (None, None)
