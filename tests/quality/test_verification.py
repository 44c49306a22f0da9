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
    said_of,
    settled,
    with_listed,
)
from pipeline.records import Claim, Mention, Texts
from tests.quality.checked_project import CheckedProject, annotated, verified_by, verify_requests
from tests.quality.real_towns import settings

POLICIES = settings().rules
TEXT = "Past a dentist, then the Park."
DENTIST = Claim(
    "instruction_concise", 7, 14, "dentist", "noun", "unverified", None, "no dentist", "zone"
)
PARK = Claim("instruction_concise", 25, 29, "Park", "name", "unverified", None, "", "capital")
NORTH = Claim("instruction_chatty", 0, 5, "north", "direction", "supported", 0, "north", "legs")
LOOPS = "It heads north past Café Sul, loops back to the start at 90 km/h and ends near a start-up."


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


def verdicts_of(found: Inspected, *attempts: Answer) -> list[str] | None:
    said = said_of(found, attempts, by="toy")
    return said and said.verdicts


def test_verdicts_are_in_the_order_of_the_statements():
    said = told((2, "unclear"), (1, "supported"))
    assert verdicts_of(found_with(DENTIST, PARK), answer(said)) == ["supported", "unclear"]


def test_a_whole_number_may_be_written_with_a_point_as_json_schema_allows():
    assert verdicts_of(found_with(PARK), answer(told((1.0, "supported")))) == ["supported"]


@pytest.mark.parametrize(
    "pairs",
    [[(1, "supported")], [(1, "supported"), (1, "unclear")], [(0, "unclear"), (1, "supported")],
     [(1, "supported"), (2, "unclear"), (3, "supported")]],
    ids=["one is missing", "one is there twice", "a number nobody asked for", "one too many"],
)  # fmt: skip
def test_an_answer_that_does_not_give_each_number_once_says_nothing(pairs):
    assert said_of(found_with(DENTIST, PARK), [answer(told(*pairs))], by="toy") is None


def test_no_answer_says_nothing():
    assert said_of(found_with(PARK), [], by="toy") is None
    assert said_of(found_with(PARK), [answer("I think so", "malformed")], by="toy") is None


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


# ---- what a model lists on its own account -------------------------------------------------------


def loops(*claims: Claim, mentions: tuple[Mention, ...] = ()) -> Inspected:
    """Return a trip whose caption says what no pattern sees."""
    texts = Texts(*(LOOPS if field == "trajectory_caption" else "Go." for field in FIELDS))
    return Inspected("t1", texts, list(mentions), list(claims), [], [])


def claim_at(words: str, kind: str, verdict: str) -> Claim:
    start = LOOPS.index(words)
    return Claim("trajectory_caption", start, start + len(words), words, kind, verdict, None, "",
                 "legs")  # fmt: skip


def listing(*listed: tuple[str, str], field: str = "trajectory_caption", verdicts=()) -> Answer:
    """Return an answer that lists words with verdicts."""
    further = [
        {"field": field, "words": words, "reason": f"not so: {words}", "verdict": verdict}
        for words, verdict in listed
    ]
    return answer(json.dumps(json.loads(told(*verdicts)) | {"further": further}))


def listed_of(found: Inspected, given: Answer) -> list[tuple[str, str]] | None:
    said = said_of(found, [given], by="toy")
    return said and [(one.text, one.verdict) for one in said.listed]


def test_what_a_model_lists_becomes_claims_and_findings_where_it_stands():
    given = listing(("at 90 km/h", "unsupported"), ("loops back to the start", "contradicted"))
    said = said_of(loops(), [given], by="toy")
    now = with_listed(loops(), said.listed, by="toy", policies=POLICIES)
    assert [LOOPS[one.start : one.end] for one in now.claims] == [
        "loops back to the start",
        "at 90 km/h",
    ]
    assert [(one.kind, one.verdict, one.phase, one.method) for one in now.claims] == [
        ("statement", "contradicted", None, "verifier toy"),
        ("statement", "unverified", None, "verifier toy"),
    ]
    assert now.claims[0].expected == "not so: loops back to the start"
    assert [(one.rule, one.stage, one.action) for one in now.findings] == [
        ("not_borne_out", "verification", "reject"),
        ("unsupported", "verification", "flag"),
    ]
    assert now.findings[1].detail == "statement 'at 90 km/h'; toy: not so: at 90 km/h"


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ("loops round to the start", "trajectory_caption"),
        ("Loops back", "trajectory_caption"),
        ("oops back", "trajectory_caption"),
        ("a star", "trajectory_caption"),
        (" ", "trajectory_caption"),
        ("loops back", "instruction_literal"),
    ],
    ids=["other words", "another capital", "begins within a word", "ends within a word", "nothing",
         "another text"],
)  # fmt: skip
def test_words_that_do_not_stand_in_that_text_make_the_whole_answer_unreadable(words, field):
    assert said_of(loops(), [listing((words, "contradicted"), field=field)], by="toy") is None


def test_words_are_found_where_they_stand_for_themselves():
    text = "A restart, then the start."
    found = Inspected("t1", Texts(*(text for _ in FIELDS)), [], [], [], [])
    (claim,) = said_of(found, [listing(("start", "contradicted"))], by="toy").listed
    assert claim.start == text.index("the start") + 4


def test_words_may_come_with_blanks_around_and_accents_apart():
    text = "Along a Café in Orly."
    found = Inspected("t1", Texts(*(text for _ in FIELDS)), [], [], [], [])
    assert listed_of(found, listing((" Cafe\u0301 in Orly ", "unsupported"))) == [
        ("Café in Orly", "unverified")
    ]


def test_a_statement_that_is_listed_twice_counts_once():
    given = listing(("at 90 km/h", "contradicted"), ("at 90 km/h", "unsupported"))
    assert listed_of(loops(), given) == [("at 90 km/h", "contradicted")]


@pytest.mark.parametrize("words", ["start-up", "a start-up", "near a start-up", "start"])
def test_what_repeats_an_open_claim_is_settled_by_the_verdict_on_that_claim(words):
    open_claim = claim_at("start-up", "noun", "unverified")
    given = listing((words, "contradicted"), ("90", "contradicted"), verdicts=[(1, "supported")])
    expected = [("start", "contradicted")] if words == "start" else []
    # A lone "start" is found where it stands first, and that is no part of the claim.
    assert listed_of(loops(open_claim), given) == [*expected, ("90", "contradicted")]


def test_what_the_rules_have_settled_is_not_settled_again_but_more_than_it_is():
    north = claim_at("north", "direction", "supported")
    start = LOOPS.index("Café Sul")
    name = Mention("trajectory_caption", start, start + 8, "Café Sul", "place", "grounded",
                   "Café Sul", 0, "n1", 0.0, 0.0, "exact")  # fmt: skip
    given = listing(("north", "contradicted"), ("past Café Sul", "contradicted"),
                    ("heads north past Café Sul", "contradicted"))  # fmt: skip
    assert listed_of(loops(north, mentions=(name,)), given) == [
        ("heads north past Café Sul", "contradicted")
    ]


# ---- requests ------------------------------------------------------------------------------------


def test_the_rules_are_asked_no_question():
    assert model_of(settings().verify) is None


@pytest.fixture
def project(tmp_path):
    """Return a project with one trip, one statement of which no rule settles."""
    trip = annotated("t1", "today", instruction_concise="Past a dentist, today.")
    made = CheckedProject(tmp_path, [[trip, annotated("t2", "now")]])
    verified_by(made, made.params["annotate"]["engine"], asks="open_claims")
    return made


def test_a_request_on_open_claims_shows_the_record_and_the_open_statements_only(project):
    (request,) = verify_requests(project).values()
    system, user = (message.content for message in request.messages)
    assert "dentist" in user
    assert "Avenida da Boavista" in user  # of the record
    assert "takes Rua" not in user  # a text without open statements is not shown
    assert "dentist" not in system
    assert (request.item_id, request.task) == ("t1", "verify")


def test_a_request_on_whole_texts_shows_all_seven_of_every_trip(project):
    verified_by(project, project.params["annotate"]["engine"], asks="whole_texts")
    requests = verify_requests(project)
    assert list(requests) == ["t1", "t2"]
    for one, (trip_id, request) in zip(project.annotated[0], requests.items(), strict=True):
        user = request.messages[-1].content
        assert all(f"- {field}: {json.dumps(getattr(one.texts, field), ensure_ascii=False)}" in user
                   for field in FIELDS)  # fmt: skip
        assert ("NUMBERED STATEMENTS" in user) == (trip_id == "t1")
    assert '- 1 (noun): "dentist" in instruction_concise' in requests["t1"].messages[-1].content


def test_the_answer_schema_knows_the_seven_texts(project):
    verified_by(project, project.params["annotate"]["engine"], asks="whole_texts")
    schema = verify_requests(project)["t2"].schema
    further = schema["properties"]["further"]["items"]["properties"]
    assert further["field"]["enum"] == list(FIELDS)
    assert schema["properties"]["verdicts"]["maxItems"] == MOST_STATEMENTS
