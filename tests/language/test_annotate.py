"""Annotate: texts of every trip or a rejection, answers kept, nothing asked twice, replay."""

import json

import msgspec
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import ContractError, ModelError, ParameterError
from pipeline.language.annotate import texts_of
from pipeline.language.annotation_report import AskingTally, TextTally
from pipeline.language.asked import run_figures, sorted_out, standing
from pipeline.language.asking import AskingSummary
from pipeline.language.ledger import Ledger
from pipeline.language.ledger_command import import_answers
from pipeline.language.requests import ModelId
from pipeline.records import AnnotatedTrip, Texts
from pipeline.runner import run_stage
from tests.language.asked_project import (
    ABSENT,
    TEMPLATE,
    AskedProject,
    good_answer,
    nine,
    trip_called,
)
from tests.language.engines import request_about, sound

IDS = ["t1", "t2", "t3"]
FILES = ("annotated", "responses", "annotate_rejected", "annotation_metrics", "words_plot")


@pytest.fixture
def project(tmp_path):
    """Three trips in two shards, all of which the recorded engine answers."""
    made = AskedProject(tmp_path, [[trip_called("t1"), trip_called("t2")], [trip_called("t3")]])
    made.record(made.annotation_requests(), {item: [nine(item)] for item in IDS})
    return made


# ---- what comes out ------------------------------------------------------------------------------


def test_every_trip_gets_its_own_texts_and_keeps_all_it_had(project):
    project.run("annotate")
    planned, annotated = project.rows("planned"), project.rows("annotated")
    assert [trip["trip_id"] for trip in annotated] == IDS
    for before, after in zip(planned, annotated, strict=True):
        assert {name: after[name] for name in before} == before
        expected = json.loads(nine(before["trip_id"]))
        assert after["texts"] == {k: v for k, v in expected.items() if not k.startswith("_")}
        msgspec.convert(after, AnnotatedTrip)


def test_shards_lie_parallel_to_the_planned_ones(project):
    project.run("annotate")
    for name in ("annotated", "responses"):
        assert [len(shard) for shard in project.shards(name)] == [2, 1]


def test_provenance_leads_to_the_response_and_planning_stays_there(project):
    project.run("annotate")
    responses = {row["key"]: row for row in project.rows("responses")}
    requests = project.annotation_requests()
    for trip in project.rows("annotated"):
        source = trip["provenance"]
        assert (source["engine"], source["model"], source["revision"]) == ("recorded", "toy", "1")
        assert source["response_key"] == requests[trip["trip_id"]].key
        assert (source["attempt"], source["shots"]) == (1, [])
        assert json.loads(responses[source["response_key"]]["text"])["_intent_planning"]
        assert "planning" not in json.dumps(trip)


def test_the_shots_in_the_prompt_stand_in_the_provenance(project):
    project.set("annotate", shots=2, engine=TEMPLATE)
    project.run("annotate")
    for trip in project.rows("annotated"):
        assert len(trip["provenance"]["shots"]) == 2


def test_texts_are_kept_with_their_letters_composed(project):
    project.record(
        project.annotation_requests(),
        {item: [nine(item, trajectory_caption="Cafe\u0301")] for item in IDS},
    )
    project.run("annotate")
    assert {trip["texts"]["trajectory_caption"] for trip in project.rows("annotated")} == {"Café"}


def test_an_empty_shard_stays_an_empty_shard(tmp_path):
    project = AskedProject(tmp_path, [[trip_called("t1")], []])
    project.set("annotate", engine=TEMPLATE)
    project.run("annotate")
    assert [len(shard) for shard in project.shards("annotated")] == [1, 0]


def test_a_city_without_trips_has_no_texts_and_no_shares(tmp_path):
    project = AskedProject(tmp_path, [[]])
    project.set("annotate", engine=TEMPLATE)
    project.run("annotate")
    figures = project.record_of("annotation_metrics")
    assert (figures["requests"], figures["different_openers_share"]) == (0, None)
    assert (figures["shots"], figures["sampling"]) == (None, None)
    assert figures["texts"][0] == {
        "field": "instruction_literal", "texts": 0, "words_mean": None, "words_most": None,
        "question_share": None, "openers": 0,
    }  # fmt: skip


def test_the_template_engine_gives_the_same_bytes_in_every_run(project):
    project.set("annotate", engine=TEMPLATE)
    names = (*FILES, "annotation_run", "questions_plot")
    project.run("annotate")
    first = project.bytes_of(*names)
    project.run("annotate")
    assert project.bytes_of(*names) == first


# ---- what goes wrong -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "reason", "detail"),
    [
        (["Sure!", "Sure!"], "malformed", "no answer in 2 attempts, the last: no JSON"),
        (["Sure!", nine(2)[:50] + "CUT"], "length", "in 2 attempts, the last: cut off"),
        (["{}", "{}"], "invalid", "required property"),
        (["", ""], "empty", "finished with no text"),
        ([" ", " "], "whitespace", "white spaces"),
    ],
)
def test_a_trip_without_a_good_answer_is_rejected_with_its_last_status(
    project, texts, reason, detail
):
    answers = {"t1": [nine(1)], "t2": texts, "t3": [nine(3)]}
    project.record(project.annotation_requests(), answers)
    project.run("annotate")
    assert [trip["trip_id"] for trip in project.rows("annotated")] == ["t1", "t3"]
    (rejection,) = project.rows("annotate_rejected")
    assert (rejection["item_id"], rejection["reason"]) == ("t2", reason)
    assert detail in rejection["detail"]
    raw = [row["text"] for row in project.rows("responses") if row["item_id"] == "t2"]
    assert raw == texts
    figures = project.record_of("annotation_metrics")
    assert figures["shots"] == 0
    assert figures["sampling"] == project.params["annotate"]["sampling"]
    assert (figures["requests"], figures["ok"], figures["failed"]) == (3, 2, 1)
    assert figures["failed_by_status"] == {reason: 1}


def test_a_second_attempt_that_is_good_counts_and_the_first_is_kept(project):
    answers = {"t1": [nine(1)], "t2": ["Sure!", nine("again")], "t3": [nine(3)]}
    project.record(project.annotation_requests(), answers)
    project.run("annotate")
    trip = next(trip for trip in project.rows("annotated") if trip["trip_id"] == "t2")
    assert trip["provenance"]["attempt"] == 2
    assert trip["texts"]["instruction_literal"].endswith("again")
    statuses = [(row["attempt"], row["status"]) for row in project.shards("responses")[0]]
    assert statuses == [(1, "ok"), (1, "malformed"), (2, "ok")]
    figures = project.record_of("annotation_metrics")
    assert figures["requests_by_attempts"] == {"1": 2, "2": 1}
    assert (figures["prompt_tokens"], figures["output_tokens"]) == (40, 20)


def test_too_many_failures_end_the_stage_and_leave_the_old_artifacts(project):
    project.run("annotate")
    before = project.bytes_of(*FILES)
    project.set("annotate", most_failed_share=0.3, sampling={"temperature": 0, "top_p": 1.0,
                                                             "max_tokens": 900})  # fmt: skip
    answers = {item: ["Sure!", "Sure!"] for item in IDS}
    project.record(project.annotation_requests(), answers)
    with pytest.raises(ModelError, match=r"annotate toy: expected at most 30\.0%"):
        project.run("annotate")
    assert project.bytes_of(*FILES) == before


def test_an_answer_without_the_nine_fields_is_a_fault_of_the_generation_schema():
    answer = msgspec.structs.replace(sound(request_about("t1")), text='{"say": "x"}')
    with pytest.raises(ContractError, match=r"answer to t1: .*answer\.schema\.json"):
        texts_of(answer)


# ---- the ledger: nothing twice, replay -----------------------------------------------------------


def test_a_second_run_starts_no_engine_and_gives_the_same_bytes(project):
    project.run("annotate")
    names = ("annotated", "responses", "annotate_rejected", "words_plot", "questions_plot")
    first = project.bytes_of(*names)
    project.set("annotate", engine=ABSENT)  # has the same keys, and cannot be started
    project.run("annotate")
    assert project.bytes_of(*names) == first


def test_imported_responses_rebuild_the_texts_without_a_model(project):
    project.set("annotate", engine=ABSENT)
    with Ledger(project.root / "store") as ledger:
        ledger.record([good_answer(one) for one in project.annotation_requests().values()])
    project.run("annotate")
    first = project.bytes_of(*FILES, "questions_plot")

    project.params["ledger"]["folder"] = "other store"
    project.save()
    with pytest.raises(ModelError, match=r"annotate toy: .* found 3 of 3 missing, .* item t1"):
        project.run("annotate", replay=True)
    list(import_answers(project.root / "other store", [project.path("responses")]))
    project.run("annotate", replay=True)
    assert project.bytes_of(*FILES, "questions_plot") == first
    assert project.record_of("annotation_run")["sent"] == 0


def test_replay_starts_no_engine_and_tells_how_many_answers_are_missing(project):
    project.set("annotate", engine=ABSENT)
    with Ledger(project.root / "store") as ledger:
        ledger.record([good_answer(project.annotation_requests()["t1"])])
    with pytest.raises(ModelError, match="found 2 of 3 missing, the first for item t2"):
        project.run("annotate", replay=True)
    assert not project.path("annotated").exists()


def test_replay_rebuilds_rejections_too(project):
    answers = {"t1": [nine(1)], "t2": ["Sure!", "Sure!"], "t3": [nine(3)]}
    project.record(project.annotation_requests(), answers)
    project.run("annotate")
    first = project.bytes_of(*FILES)
    project.run("annotate", replay=True)
    assert project.bytes_of(*FILES) == first


def test_replay_is_for_stages_that_ask(project):
    with pytest.raises(ParameterError, match=r"--replay: .*\(annotate, .*\), found compress"):
        run_stage("compress", "toy", root=project.root, replay=True)


def test_requests_are_sorted_into_reused_exhausted_and_due(tmp_path):
    requests = [request_about(f"item {n}") for n in range(5)]
    failed = msgspec.structs.replace(sound(requests[1]), status="malformed", reason="x")
    hopeless = msgspec.structs.replace(sound(requests[2]), status="prompt_too_long", reason="x")
    with Ledger(tmp_path) as ledger:
        ledger.record([sound(requests[0]), failed, hopeless])
        once = standing(sorted_out(requests, ledger, attempts=1))
        twice = standing(sorted_out(requests, ledger, attempts=2))
    assert (once.total, once.reused, once.exhausted, once.due) == (5, 1, 2, 2)
    assert (twice.total, twice.reused, twice.exhausted, twice.due) == (5, 1, 1, 3)
    assert (once.first_due, twice.first_due) == ("item 3", "item 1")


# ---- figures -------------------------------------------------------------------------------------


def texts(literal: str, concise: str, chatty: str) -> Texts:
    return Texts(
        literal, concise, chatty, "Trips north", "Drives west", "Routes by day", "It ends."
    )


def test_words_questions_and_openers_are_counted():
    tally = TextTally()
    tally.add(texts("Go to the park.", "Park.", "Could we, well, go to the park?"))
    tally.add(texts("Go to the sea now, please.", "Sea.", "Go on, to the sea."))
    literal, concise, chatty = tally.figures()[:3]
    assert (literal["words_mean"], literal["words_most"], literal["openers"]) == (5.0, 6, 1)
    assert (concise["words_mean"], concise["question_share"], concise["openers"]) == (1.0, 0.0, 2)
    assert (chatty["words_mean"], chatty["question_share"], chatty["openers"]) == (6.0, 0.5, 2)
    assert tally.different_openers_share() == 0.5


def test_the_plot_of_words_has_a_row_for_every_number_up_to_the_largest():
    tally = TextTally()
    tally.add(texts("one two three", "one", "one two"))
    plot = tally.words_plot()
    assert plot.filter(pl.col("style") == "chatty")["texts"].to_list() == [0, 0, 1, 0]
    assert plot["words"].to_list() == [0, 1, 2, 3] * 3
    assert plot["texts"].sum() == 3


def test_the_plot_of_questions_stands_beside_the_papers_shares():
    tally = TextTally()
    tally.add(texts("Go.", "Go.", "Go?"))
    rows = tally.questions_plot().rows()
    assert rows == [
        ("literal", "here", 0.0), ("literal", "paper", 0.002), ("concise", "here", 0.0),
        ("concise", "paper", 0.0), ("chatty", "here", 1.0), ("chatty", "paper", 0.275),
    ]  # fmt: skip


@given(st.lists(st.lists(st.sampled_from("ab?"), max_size=6), max_size=8))
def test_every_text_falls_into_one_bin_of_the_plot(drawn):
    tally = TextTally()
    for words in drawn:
        tally.add(texts(" ".join(words), "x", "y"))
    plot = tally.words_plot()
    for style in ("literal", "concise", "chatty"):
        assert plot.filter(pl.col("style") == style)["texts"].sum() == len(drawn)


def test_tokens_are_unknown_as_soon_as_one_attempt_did_not_count_them():
    known = sound(request_about("a"))
    unknown = msgspec.structs.replace(known, prompt_tokens=None)
    tally = AskingTally()
    tally.add([known], known, shared=False)
    assert tally.figures()["prompt_tokens"] == 10
    tally.add([unknown], unknown, shared=False)
    assert tally.figures()["prompt_tokens"] is None
    assert tally.figures()["output_tokens"] is not None


def test_a_shared_answer_counts_its_tokens_once():
    answer = sound(request_about("a"))
    tally = AskingTally()
    tally.add([answer], answer, shared=False)
    tally.add([answer], answer, shared=True)
    assert (tally.figures()["requests"], tally.figures()["prompt_tokens"]) == (2, 10)


def test_a_run_tells_tokens_a_second_and_nothing_that_was_not_measured():
    summary = AskingSummary(
        total=5, reused=1, sent=4, ok=4, failed={}, prompt_tokens=400, output_tokens=100,
        seconds=8.0, engine_started=True,
    )  # fmt: skip
    figures = run_figures("toy", "annotate", ModelId("vllm", "toy", "1"), summary)
    assert (figures["sent"], figures["reused"], figures["seconds"]) == (4, 1, 8.0)
    assert (figures["prompt_tokens_per_s"], figures["output_tokens_per_s"]) == (50.0, 12.5)
    idle = msgspec.structs.replace(summary, sent=0, seconds=0.0, output_tokens=None)
    figures = run_figures("toy", "annotate", ModelId("vllm", "toy", "1"), idle)
    assert (figures["sent"], figures["seconds"], figures["output_tokens_per_s"]) == (0, None, None)
    template = run_figures("toy", "annotate", ModelId("template", "template", "1"), summary)
    assert [value for key, value in template.items() if key not in {"city", "task"}][3:] == [
        None
    ] * 5
