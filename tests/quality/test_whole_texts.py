"""A model that verifies whole texts lists what no pattern sees, in words that stand there."""

import json
from typing import Any

import pytest

from pipeline.errors import ModelError
from tests.answering_server import AnsweringServer
from tests.language.asked_project import ABSENT, RECORDED
from tests.quality.checked_project import CheckedProject, annotated, verified_by, verify_requests

# Names in small letters, haste, a turn: nothing of it is a claim to the rules.
SAYS = "Drives {} past a row of palm trees, in a hurry"
WORDS = {
    "right": "today", "false": "soon", "unsure": "again", "elsewhere": "alone", "many": "quietly",
    "prose": "early", "known": "calmly", "both": "slowly",
}  # fmt: skip
PALMS = ("retrieval_query_2", "past a row of palm trees", "contradicted")
HASTE = ("retrieval_query_2", "in a hurry", "unsupported")


def says(*listed: tuple[str, str, str], verdicts: tuple[str, ...] = ()) -> str:
    """Return a verifier's answer."""
    return json.dumps(
        {
            "verdicts": [
                {"id": n, "verdict": one, "reason": "as asked"} for n, one in enumerate(verdicts, 1)
            ],
            "further": [
                {"field": field, "words": words, "reason": "nothing of it", "verdict": verdict}
                for field, words, verdict in listed
            ],
        }
    )


ANSWERS = {
    "right": [says()],
    "false": [says(HASTE, PALMS)],
    "unsure": [says(HASTE)],
    "elsewhere": [says(("retrieval_query_1", "in a hurry", "contradicted"))],
    "many": [says(*[PALMS] * 21)],
    "prose": ["The palm trees are made up."],
    "known": [says(("instruction_concise", "a dentist", "contradicted"), verdicts=("supported",))],
    "both": [says(PALMS, verdicts=("contradicted",))],
}


def trip(name: str, word: str):
    texts = {"retrieval_query_2": SAYS.format(word)}
    if name in {"known", "both"}:
        texts["instruction_concise"] = f"Past a dentist, {word}."
    return annotated(name, word, **texts)


@pytest.fixture
def project(tmp_path):
    """Return a project whose verifier has been asked about the whole texts of eight trips."""
    trips = [trip(*one) for one in WORDS.items()]
    made = CheckedProject(tmp_path, [trips[:3], trips[3:]])
    engine = RECORDED | {"file": str(tmp_path / RECORDED["file"])}
    verified_by(made, engine, asks="whole_texts", attempts=1, most_failed_share=1.0)
    made.record(verify_requests(made), ANSWERS)
    made.run("check")
    return made


def checked(project) -> dict[str, dict]:
    return {row["trip_id"]: row for row in project.rows("checked")}


def listed(row: dict) -> list[dict]:
    return [one for one in row["claims"] if one["kind"] == "statement"]


def test_what_the_record_denies_refuses_the_trip_and_what_it_cannot_tell_is_flagged(project):
    refused = {row["item_id"]: row["reason"] for row in project.rows("check_rejected")}
    assert refused == {"false": "not_borne_out", "both": "not_borne_out"}
    (claim,) = listed(checked(project)["unsure"])
    start = SAYS.format("again").index("in a h")
    assert claim == {
        "field": "retrieval_query_2", "start": start, "end": start + 10, "text": "in a hurry",
        "kind": "statement", "verdict": "unverified", "phase": None, "expected": "nothing of it",
        "method": "verifier toy",
    }  # fmt: skip
    (finding,) = checked(project)["unsure"]["findings"]
    assert (finding["rule"], finding["action"], finding["start"]) == ("unsupported", "flag", start)


def test_the_action_on_what_a_model_lists_is_a_parameter(project):
    rules = project.params["check"]["rules"] | {"unsupported": "reject", "not_borne_out": "flag"}
    project.set("check", rules=rules)
    project.run("check")
    refused = {row["item_id"]: row["reason"] for row in project.rows("check_rejected")}
    assert refused == {"unsure": "unsupported", "false": "unsupported"}
    assert [one["verdict"] for one in listed(checked(project)["both"])] == ["contradicted"]


def test_an_answer_on_words_that_stand_nowhere_passes_nothing_and_fails_nothing(project):
    row = checked(project)["elsewhere"]
    assert listed(row) == row["findings"] == []
    figures = project.record_of("check_metrics")["verifier"]
    assert (figures["asks"], figures["unread"]) == ("whole_texts", 1)


def test_too_many_statements_and_prose_are_no_answers(project):
    asked = project.record_of("check_metrics")["verifier"]["asked"]
    assert (asked["requests"], asked["ok"]) == (8, 6)
    assert asked["failed_by_status"] == {"invalid": 1, "malformed": 1}
    for name in ("many", "prose"):
        assert checked(project)[name]["findings"] == []


def test_what_is_asked_as_an_open_claim_is_not_listed_again(project):
    row = checked(project)["known"]
    assert listed(row) == row["findings"] == []
    (claim,) = (one for one in row["claims"] if one["text"] == "dentist")
    assert (claim["verdict"], claim["method"]) == ("supported", "verifier toy")


def test_the_statements_are_counted_as_a_kind_of_their_own(project):
    kinds = {row["kind"]: row for row in project.record_of("check_metrics")["claims"]}
    assert kinds["statement"] == {
        "kind": "statement", "supported": 0, "contradicted": 2, "unverified": 2
    }  # fmt: skip


def test_a_replay_gives_the_same_and_starts_no_model(project):
    before = project.bytes_of("checked", "check_rejected", "verify_responses")
    verified_by(project, ABSENT)
    project.run("check", replay=True)
    assert project.bytes_of("checked", "check_rejected", "verify_responses") == before


def test_the_other_question_is_another_request(project):
    verified_by(project, ABSENT, asks="open_claims")
    with pytest.raises(ModelError, match="found 2 of 2 missing"):
        project.run("check", replay=True)


def test_too_many_requests_without_an_answer_end_the_run(project):
    verified_by(project, project.params["check"]["verify"]["engine"], most_failed_share=0.2)
    with pytest.raises(ModelError, match="2 of 8"):
        project.run("check")


def test_the_order_of_trips_changes_nothing(project, tmp_path):
    trips = [trip(*one) for one in WORDS.items()]
    (tmp_path / "turned").mkdir()
    turned = CheckedProject(tmp_path / "turned", [trips[::-1]])
    turned.params["check"] = project.params["check"]
    turned.save()
    turned.run("check")
    assert checked(turned) == checked(project)


def test_a_server_that_speaks_the_openai_protocol_verifies_whole_texts(tmp_path):
    project = CheckedProject(tmp_path, [[trip("false", "soon"), annotated("right", "today")]])

    prompts: list[str] = []

    def answering(body: dict[str, Any]) -> str:
        prompts.append(body["messages"][-1]["content"])
        return says(PALMS) if PALMS[1] in prompts[-1] else says()

    with AnsweringServer(answering) as server:
        engine = {
            "kind": "openai", "base_url": server.url, "model": "toy", "revision": "1",
            "concurrency": 2, "requests_per_minute": None, "timeout_s": 30, "patience_s": 60,
            "api_key_env": None, "strict": True, "extra_body": {},
        }  # fmt: skip
        verified_by(project, engine, asks="whole_texts")
        project.run("check")
        project.run("check")
    assert len(prompts) == 2  # asked once each
    assert list(checked(project)) == ["right"]
    (row,) = project.rows("check_rejected")
    assert (row["item_id"], row["reason"]) == ("false", "not_borne_out")
    assert "palm trees" in row["detail"]
