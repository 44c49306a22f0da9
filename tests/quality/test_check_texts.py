"""The stage `check`: what passes, what is refused and why, in any order, with any verifier."""

import json

import msgspec
import pytest

from pipeline.errors import ModelError
from tests.language.asked_project import ABSENT, RECORDED
from tests.quality.checked_project import CheckedProject, annotated, verified_by, verify_requests

WORDS = ["today", "soon", "again", "alone", "quietly", "early", "calmly", "slowly"]


@pytest.fixture
def project(tmp_path):
    """Return a project of four trips in two shards, three of them at fault."""
    return CheckedProject(
        tmp_path,
        [
            [
                annotated("sound", "today"),
                annotated("mended", "soon",
                          instruction_literal="Via Rua do Campo Alegre — quickly."),
            ],
            [
                annotated("off", "again", retrieval_query_2="Drives along Rua do Sul",
                          trajectory_caption="The drive covers 5 phases."),
                annotated("open", "alone",
                          instruction_chatty="I'm 20 minutes late, so Rua Direita."),
            ],
        ],
    )  # fmt: skip


def test_sound_trips_pass_with_the_evidence_of_their_names(project):
    project.run("check")
    rows = {row["trip_id"]: row for row in project.rows("checked")}
    assert list(rows) == ["sound", "mended", "open"]
    sound = rows["sound"]
    assert sound["texts"] == msgspec.structs.asdict(annotated("sound", "today").texts)
    assert {one["verdict"] for one in sound["mentions"]} == {"grounded"}
    for one in sound["mentions"]:
        assert sound["texts"][one["field"]][one["start"] : one["end"]] == one["text"]
    assert [one["text"] for one in sound["claims"]] == ["pharmacy"]
    assert sound["findings"] == sound["repairs"] == []


def test_a_mended_text_stands_in_the_record_with_its_repair(project):
    project.run("check")
    (row,) = [row for row in project.rows("checked") if row["trip_id"] == "mended"]
    assert row["texts"]["instruction_literal"] == "Via Rua do Campo Alegre, quickly."
    assert row["repairs"] == [
        {
            "field": "instruction_literal",
            "stage": "punctuation",
            "rule": "dash",
            "before": "Via Rua do Campo Alegre — quickly.",
            "after": "Via Rua do Campo Alegre, quickly.",
        }
    ]
    assert [one["action"] for one in row["findings"]] == ["repair"]


def test_a_trip_is_refused_for_its_first_fault_and_all_are_told(project):
    project.run("check")
    (row,) = project.rows("check_rejected")
    assert (row["item_id"], row["stage"], row["reason"]) == ("off", "check", "off_route_name")
    assert "retrieval_query_2: off_route_name: Rua do Sul" in row["detail"]
    assert "trajectory_caption: pipeline_word" in row["detail"]
    assert {row["trip_id"] for row in project.rows("annotated")} >= {"off"}


def test_what_nobody_could_settle_is_flagged(project):
    project.run("check")
    (row,) = [row for row in project.rows("checked") if row["trip_id"] == "open"]
    (claim,) = [one for one in row["claims"] if one["kind"] == "duration"]
    assert (claim["text"], claim["verdict"]) == ("20 minutes", "unverified")
    assert [(one["rule"], one["action"]) for one in row["findings"]] == [("unverified", "flag")]


def test_a_policy_decides_what_follows(project):
    rules = project.params["check"]["rules"] | {
        "off_route_name": "flag",
        "dash": "reject",
        "unverified": "reject",
    }
    project.set("check", rules=rules)
    project.run("check")
    assert {row["item_id"]: row["reason"] for row in project.rows("check_rejected")} == {
        "mended": "dash", "off": "pipeline_word", "open": "unverified",
    }  # fmt: skip


def test_the_figures_add_up(project):
    project.run("check")
    figures = project.record_of("check_metrics")
    assert (figures["trips"], figures["passed"], figures["rejected"]) == (4, 3, 1)
    assert figures["rejected_by_rule"] == {"off_route_name": 1}
    assert figures["repairs"] == {"dash": 1}
    assert figures["names"]["off_route"] == 1
    rules = {row["rule"]: row for row in figures["rules"]}
    assert (rules["off_route_name"]["trips"], rules["off_route_name"]["coverage"]) == (1, 0.25)
    assert rules["off_route_name"]["overlap"] == 1.0  # the same trip speaks of phases
    assert rules["dash"]["overlap"] == 0.0
    assert rules["opener"]["overlap"] is None
    assert figures["verifier"]["engine"] == "rules"
    styles = {row["style"]: row["texts"] for row in figures["styles"]}
    assert styles == {"literal": 3, "concise": 3, "chatty": 3, "query": 9, "caption": 3}


def test_a_second_run_has_the_same_bytes(project):
    names = ("checked", "verify_responses", "check_rejected", "check_metrics", "check_rules_plot",
             "check_names_plot")  # fmt: skip
    project.run("check")
    first = project.bytes_of(*names)
    project.run("check")
    assert project.bytes_of(*names) == first


def test_no_trips_give_no_rows(tmp_path):
    project = CheckedProject(tmp_path, [[]])
    project.run("check")
    assert project.rows("checked") == project.rows("check_rejected") == []
    assert project.record_of("check_metrics")["names_grounded_share"] is None


def test_order_and_shards_of_the_trips_change_nothing(tmp_path):
    trips = [annotated(f"t{n}", f"{WORDS[n % 8]} {WORDS[n // 8]}") for n in range(40)]
    said = []
    for number, shards in enumerate(([trips], [trips[::-1]], [trips[1::2], trips[::2]])):
        root = tmp_path / str(number)
        root.mkdir()
        project = CheckedProject(root, shards)
        project.run("check")
        reasons = {row["item_id"]: row["reason"] for row in project.rows("check_rejected")}
        said.append(({row["trip_id"] for row in project.rows("checked")}, reasons))
    assert said[0] == said[1] == said[2]
    # Forty texts of one template: no style keeps more of them than its quota.
    assert set(said[0][1].values()) <= {"template", "opener", "near_duplicate"}
    assert 1 <= len(said[0][0]) <= 10
    assert len(said[0][0]) + len(said[0][1]) == 40


# ---- a model as the verifier ---------------------------------------------------------------------


def verdicts(*told: str) -> str:
    """Return a verifier's answer."""
    each = [{"id": n, "verdict": one, "reason": "as asked"} for n, one in enumerate(told, 1)]
    return json.dumps({"verdicts": each})


@pytest.fixture
def asked(tmp_path):
    """Return a project whose trips all have one statement that no rule settles."""
    trips = [
        annotated(name, word, instruction_concise=f"Past a dentist, {word}.")
        for name, word in zip(("right", "wrong", "unclear", "silent", "twice"), WORDS, strict=False)
    ]
    project = CheckedProject(tmp_path, [trips])
    engine = RECORDED | {"file": str(tmp_path / "recorded.jsonl")}
    verified_by(project, engine, asks="open_claims", attempts=1, most_failed_share=1.0)
    return project


def answered(project):
    requests = verify_requests(project)
    project.record(
        requests,
        {
            "right": [verdicts("supported")],
            "wrong": [verdicts("contradicted")],
            "unclear": [verdicts("unclear")],
            "silent": ["I cannot say."],
            "twice": [verdicts("supported", "supported")],
        },
    )
    project.run("check")


def test_a_models_verdicts_settle_claims_and_say_who(asked):
    answered(asked)
    claims = {
        row["trip_id"]: next(one for one in row["claims"] if one["text"] == "dentist")
        for row in asked.rows("checked")
    }
    assert (claims["right"]["verdict"], claims["right"]["method"]) == ("supported", "verifier toy")
    assert [(row["item_id"], row["reason"]) for row in asked.rows("check_rejected")] == [
        ("wrong", "not_borne_out")
    ]


def test_an_answer_that_cannot_be_read_passes_nothing_and_fails_nothing(asked):
    answered(asked)
    rows = {row["trip_id"]: row for row in asked.rows("checked")}
    for name in ("unclear", "silent", "twice"):
        (finding,) = rows[name]["findings"]
        assert (finding["rule"], finding["action"]) == ("unverified", "flag")
    figures = asked.record_of("check_metrics")["verifier"]
    assert figures["unread"] == 1  # two verdicts for one statement
    assert figures["asked"]["failed_by_status"] == {"malformed": 1}
    assert figures["asked"]["requests"] == 5


def test_every_attempt_is_kept_and_a_replay_starts_no_model(asked):
    answered(asked)
    names = ("checked", "verify_responses", "check_metrics")
    before = asked.bytes_of(*names)
    assert {row["task"] for row in asked.rows("verify_responses")} == {"verify"}
    verified_by(asked, ABSENT)
    asked.run("check", replay=True)
    assert asked.bytes_of("checked", "verify_responses") == {
        name: content for name, content in before.items() if "check.json" not in name
    }


def test_a_replay_without_the_answers_is_an_error(asked):
    verified_by(asked, ABSENT)
    with pytest.raises(ModelError, match="expected every answer in the ledger"):
        asked.run("check", replay=True)


def test_nobody_is_asked_about_a_trip_that_a_rule_refuses(asked):
    trip = annotated("off", "today", instruction_concise="Past a dentist on Rua do Sul.")
    asked.annotated = [[trip]]
    assert verify_requests(asked) == {}


# ---- labels by people ----------------------------------------------------------------------------


def rules_of(project) -> dict[str, tuple[int, float | None]]:
    """Return how many findings of each rule are labelled, and its precision."""
    rows = project.record_of("check_metrics")["rules"]
    return {row["rule"]: (row["labelled"], row["precision"]) for row in rows}


def test_without_labels_no_rule_has_a_precision(project):
    project.run("check")
    assert set(rules_of(project).values()) == {(0, None)}


def test_with_labels_the_precision_of_the_labelled_rules_is_told(project, tmp_path, monkeypatch):
    labels = [
        ("off", "retrieval_query_2", "off_route_name", True),
        ("off", "trajectory_caption", "pipeline_word", False),
        ("mended", "instruction_literal", "dash", True),
        ("mended", "instruction_literal", "semicolon", True),  # no such finding is made
    ]
    keys = ("trip_id", "field", "rule", "right")
    folder = tmp_path / "labels"
    folder.mkdir()
    lines = [json.dumps(dict(zip(keys, one, strict=True))) for one in labels]
    (folder / "toy.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    monkeypatch.setattr("pipeline.quality.check_texts.LABELS", folder)
    project.run("check")
    found = rules_of(project)
    assert found["off_route_name"] == (1, 1.0)
    assert found["pipeline_word"] == (1, 0.0)
    assert found["dash"] == (1, 1.0)
    assert found["semicolon"] == (0, None)
