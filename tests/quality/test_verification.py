"""What rules leave open is settled by a verifier, or stays open and is counted."""

import json

import pytest

from pipeline.language.requests import Answer, ModelId
from pipeline.quality.examiner import model_of
from pipeline.quality.inspection import FIELDS, Inspected
from pipeline.quality.verification import (
    MOST_STATEMENTS,
    open_claims,
    rules_verdict,
    settled,
    verdicts_of,
)
from pipeline.records import Claim, Texts
from tests.quality.checked_project import CheckedProject, annotated, verify_requests
from tests.quality.real_towns import settings

POLICIES = settings().rules
TEXT = "Past a dentist, then the Park."
DENTIST = Claim(
    "instruction_concise", 7, 14, "dentist", "noun", "unverified", None, "no dentist", "zone"
)
PARK = Claim("instruction_concise", 25, 29, "Park", "name", "unverified", None, "", "capital")
NORTH = Claim("instruction_chatty", 0, 5, "north", "direction", "supported", 0, "north", "legs")


def found_with(*claims: Claim) -> Inspected:
    return Inspected("t1", Texts(*(TEXT for _ in FIELDS)), [], list(claims), [], [])


def answer(text: str, status: str = "ok") -> Answer:
    return Answer(
        key="k", attempt=1, item_id="t1", task="verify", status=status, reason="", text=text,
        finish_reason="stop", model=ModelId("recorded", "toy", "1"), prompt_tokens=1,
        output_tokens=1,
    )  # fmt: skip


def told(*pairs: tuple[int, str]) -> str:
    return json.dumps({"verdicts": [{"id": n, "verdict": v, "reason": "-"} for n, v in pairs]})


def test_verdicts_are_in_the_order_of_the_statements():
    said = told((2, "unclear"), (1, "supported"))
    assert verdicts_of([answer(said)], 2) == ["supported", "unclear"]


@pytest.mark.parametrize(
    "pairs",
    [[(1, "supported")], [(1, "supported"), (1, "unclear")], [(0, "unclear"), (1, "supported")],
     [(1, "supported"), (2, "unclear"), (3, "supported")]],
    ids=["one is missing", "one is there twice", "a number nobody asked for", "one too many"],
)  # fmt: skip
def test_an_answer_that_does_not_give_each_number_once_gives_none(pairs):
    assert verdicts_of([answer(told(*pairs))], 2) is None


def test_no_answer_gives_none():
    assert verdicts_of([], 1) is None
    assert verdicts_of([answer("I think so", "malformed")], 1) is None


def test_the_rules_hold_a_thing_the_record_does_not_show_to_be_absent_and_say_no_more():
    assert rules_verdict(DENTIST) == "contradicted"
    assert rules_verdict(PARK) == "unclear"


def test_verdicts_settle_the_open_claims_and_leave_the_others():
    now = settled(found_with(NORTH, DENTIST, PARK), ["contradicted", "supported"], by="toy",
                  policies=POLICIES)  # fmt: skip
    assert now.claims[0] == NORTH
    assert [(one.verdict, one.method) for one in now.claims[1:]] == [
        ("contradicted", "verifier toy"),
        ("supported", "verifier toy"),
    ]
    assert [(one.rule, one.stage, one.start, one.action) for one in now.findings] == [
        ("not_borne_out", "verification", 7, "reject")
    ]
    assert now.rejected


@pytest.mark.parametrize("verdicts", [None, ["unclear"]])
def test_what_stays_open_is_neither_passed_nor_failed(verdicts):
    now = settled(found_with(PARK), verdicts, by="toy", policies=POLICIES)
    assert now.claims == [PARK]
    assert [(one.rule, one.action) for one in now.findings] == [("unverified", "flag")]
    assert not now.rejected


def test_only_so_many_statements_are_asked_about_and_the_rest_stays_open():
    claims = [DENTIST] * (MOST_STATEMENTS + 2)
    asked = open_claims(claims)
    assert len(asked) == MOST_STATEMENTS
    now = settled(found_with(*claims), ["supported"] * len(asked), by="toy", policies=POLICIES)
    assert [one.verdict for one in now.claims[-2:]] == ["unverified"] * 2
    assert [one.rule for one in now.findings] == ["unverified"] * 2


def test_the_rules_are_asked_no_question():
    assert model_of(settings().verify) is None


def test_a_request_shows_the_record_and_the_open_statements_only(tmp_path):
    trip = annotated("t1", "today", instruction_concise="Past a dentist, today.")
    project = CheckedProject(tmp_path, [[trip]])
    verify = project.params["check"]["verify"]
    recorded = project.params["annotate"]["engine"]
    project.set("check", verify=verify | {"engine": recorded})
    (request,) = verify_requests(project).values()
    system, user = (message.content for message in request.messages)
    assert "dentist" in user
    assert "Avenida da Boavista" in user  # of the record
    assert "takes Rua" not in user  # a text without open statements is not shown
    assert "dentist" not in system
    assert (request.item_id, request.task) == ("t1", "verify")
