"""Judging: a verdict or the reason there is none, never a low score for it; nothing asked twice."""

import json
from collections import Counter

import msgspec
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import tables
from pipeline.errors import ContractError, ModelError, ParameterError
from pipeline.language.prompts import PROMPTS
from pipeline.params import Parameters
from pipeline.quality.examiner import ExaminerSettings
from pipeline.quality.judge_prompt import JudgePrompt, shown_order, verdict_of
from pipeline.quality.kinship import Kinship, Writer, family_of
from pipeline.quality.rubric import CRITERIA, TASKS, task_of
from pipeline.quality.verdicts import trips_in
from pipeline.records import CheckedTrip, JudgedTrip, Texts
from tests.language.asked_project import ABSENT
from tests.language.engines import request_about, sound
from tests.language.test_prompts import HOSTILE
from tests.language.trips import planned_trip, target
from tests.quality.judged import (
    FAMILIES,
    TEXTS,
    answer,
    checked_trip,
    judge_requests,
    judged_project,
    put_shard,
    recorded,
    request_of,
)

IDS = ["t1", "t2", "t3"]
FILES = ("judged", "judge_responses", "judge_metrics", "judge_scores_plot")
PROMPT = JudgePrompt(PROMPTS)


@pytest.fixture
def trips():
    return [checked_trip(trip_id) for trip_id in IDS]


@pytest.fixture
def project(tmp_path, trips):
    """Three trips in two shards, all of which the recorded judge gives a verdict on."""
    made = judged_project(tmp_path, [trips[:2], trips[2:]])
    made.set("judge", **recorded(made))
    made.record(judge_requests(made, trips), {trip_id: [answer(4)] for trip_id in IDS})
    return made


def user_message(trip: CheckedTrip) -> str:
    return PROMPT.messages(trip, shown_order(7, trip.trip_id))[1].content


# ---- what is asked -------------------------------------------------------------------------------


def test_texts_judged_together_stand_in_an_order_drawn_for_the_trip():
    orders = Counter(tuple(shown_order(7, f"t{n}")) for n in range(2000))
    fields = Texts.__struct_fields__
    for order in orders:
        assert sorted(order[:3]) == sorted(fields[:3])
        assert sorted(order[3:]) == sorted(fields[3:6])
    assert len(orders) == 36  # 3! x 3!
    assert max(orders.values()) < 2 * min(orders.values()) + 40


def test_the_order_of_a_trip_depends_on_seed_and_id_alone():
    assert shown_order(7, "t1") == shown_order(7, "t1")
    assert any(shown_order(7, f"t{n}") != shown_order(8, f"t{n}") for n in range(9))


def test_the_texts_are_shown_in_that_order_with_their_styles():
    shown = ["instruction_concise", "instruction_chatty", "instruction_literal",
             "retrieval_query_3", "retrieval_query_1", "retrieval_query_2"]  # fmt: skip
    user = PROMPT.messages(checked_trip(), shown)[1].content
    lines = [line for line in user.split("\n") if line.startswith("- ")]
    assert lines == [
        '- concise: "Rua C."',
        '- chatty: "Could we go to Rua C?"',
        '- literal: "Drive to Rua C."',
        '- A: "Routes from Rua A"',
        '- B: "Trips to Rua C"',
        '- C: "Drives along Rua B"',
        f'- "{TEXTS.trajectory_caption}"',
    ]


def test_the_judge_is_told_the_speaker_and_nothing_of_the_plan():
    end = target("1.1", "place", phases=[2], names=["Secret Bar"], ids=["x"])
    trip = checked_trip("t1", planned_trip(targets=[end], persona="anxious", street="Secret Road"))
    user = user_message(trip)
    assert "Anxious about time: Afraid of being late" in user
    assert "Secret" not in user
    assert "1.1" not in user


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_reaches_the_judge_as_it_is(text):
    trip = checked_trip(texts=msgspec.structs.replace(TEXTS, trajectory_caption=text))
    line = user_message(trip).split("CAPTION\n- ")[1].split("\n")[0]
    assert json.loads(line) == text


def test_the_system_message_is_the_same_for_all_trips():
    first, second = (PROMPT.messages(checked_trip(one), shown_order(7, one))[0] for one in "ab")
    assert first == second


# ---- what comes out ------------------------------------------------------------------------------


def test_a_verdict_holds_the_scores_the_reasons_and_where_they_come_from(project, trips):
    mixed = answer(3, caption_accuracy=5, queries_specificity=1, rationale="Rua B is 'invented'.")
    requests = judge_requests(project, trips)
    project.record(requests, {"t1": [mixed], "t2": [answer(5)], "t3": [answer(2)]})
    project.run("judge")
    first, second, third = project.rows("judged")
    assert first["scores"] == dict.fromkeys(CRITERIA, 3) | {
        "caption_accuracy": 5, "queries_specificity": 1,
    }  # fmt: skip
    assert set(second["scores"].values()) == {5}
    assert set(third["scores"].values()) == {2}
    assert first["rationales"]["caption"] == "Rua B is 'invented'."
    assert (first["engine"], first["model"], first["revision"]) == ("recorded", "toy", "1")
    assert first["prompt_hash"] == PROMPT.hash
    assert first["response_key"] == requests["t1"].key
    assert first["shown"] == shown_order(7, "t1")
    assert (first["status"], first["attempts"]) == ("ok", 1)
    for row in (first, second, third):
        msgspec.convert(row, JudgedTrip)


def test_shards_lie_parallel_to_the_checked_ones(project):
    project.run("judge")
    for name in ("judged", "judge_responses"):
        assert [len(shard) for shard in project.shards(name)] == [2, 1]


@pytest.mark.parametrize("engine", ["rules", "recorded"])
def test_how_many_trips_are_held_at_a_time_changes_no_byte(tmp_path, monkeypatch, trips, engine):
    project = judged_project(tmp_path, [trips, []])
    if engine == "recorded":
        project.set("judge", **recorded(project))
        project.record(judge_requests(project, trips), {one: [answer(4)] for one in IDS})
    project.run("judge")
    whole = project.bytes_of(*FILES)
    monkeypatch.setattr(tables, "_ROWS_AT_A_TIME", 1)
    project.run("judge")
    assert project.bytes_of(*FILES) == whole


def test_a_whole_number_written_with_a_point_is_one():
    text = answer(4).replace('"correctness": 4', '"correctness": 4.0')
    given, _ = verdict_of(msgspec.structs.replace(sound(request_about("t1")), text=text))
    assert given.instructions_correctness == 4


def test_an_answer_without_the_ten_scores_is_a_fault_of_the_generation_schema():
    with pytest.raises(ContractError, match=r"answer to t1: .*judge/answer\.schema\.json"):
        verdict_of(msgspec.structs.replace(sound(request_about("t1")), text='{"say": "x"}'))


def test_figures_count_scores_by_criterion(project, trips):
    texts = {"t1": [answer(5)], "t2": [answer(5, caption_accuracy=2)], "t3": [answer(4)]}
    project.record(judge_requests(project, trips), texts)
    project.run("judge")
    figures = project.record_of("judge_metrics")
    by_code = {one["criterion"]: one for one in figures["criteria"]}
    assert list(by_code) == list(CRITERIA)
    assert by_code["caption_accuracy"] == {
        "criterion": "caption_accuracy", "scored": 3, "unscored": 0, "mean": 3.6667,
        "histogram": [0, 1, 0, 1, 1],
    }  # fmt: skip
    assert by_code["queries_accuracy"]["histogram"] == [0, 0, 0, 1, 2]
    assert figures["asked"]["requests_by_attempts"] == {"1": 3}
    rows = project.path("judge_scores_plot").read_text("utf-8").splitlines()
    assert rows[0] == "criterion,rater,score,share"
    assert "caption_accuracy,toy,2,0.3333" in rows


# ---- a failure is no score -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "status", "reason"),
    [
        (["I would give these texts a 2.", "Five!"], "malformed", "no JSON"),
        ([answer(6), answer(0)], "invalid", "is not one of"),
        ([answer(4, caption_accuracy=None)] * 2, "invalid", "caption.accuracy"),
        ([answer(4, caption_accuracy=4.5)] * 2, "invalid", "caption.accuracy"),
        ([answer(4)[:60] + "CUT"] * 2, "length", "token limit"),
        (["", ""], "empty", "no text"),
    ],
)
def test_a_trip_without_a_verdict_is_unscored_with_the_reason(
    project, trips, texts, status, reason
):
    requests = judge_requests(project, trips)
    project.record(requests, {"t1": [answer(4)], "t2": texts, "t3": [answer(5)]})
    project.run("judge")
    row = project.rows("judged")[1]
    assert set(row["scores"].values()) == {None}
    assert (row["status"], row["attempts"]) == (status, 2)
    assert reason in row["reason"]
    assert set(row["rationales"].values()) == {""}
    raw = [one["text"] for one in project.rows("judge_responses") if one["item_id"] == "t2"]
    assert raw == texts
    figures = project.record_of("judge_metrics")
    assert (figures["trips"], figures["without_verdict"]) == (3, 1)
    assert figures["without_verdict_by_status"] == {status: 1}
    assert {one["unscored"] for one in figures["criteria"]} == {1}
    assert {one["mean"] for one in figures["criteria"]} == {4.5}


def test_a_judge_that_writes_nothing_but_prose_leaves_all_unscored(project, trips):
    project.record(judge_requests(project, trips), {one: ["Nice!", "Nice!"] for one in IDS})
    project.run("judge")
    assert {row["status"] for row in project.rows("judged")} == {"malformed"}
    figures = project.record_of("judge_metrics")
    assert {one["mean"] for one in figures["criteria"]} == {None}


def test_a_second_attempt_that_is_a_verdict_counts(project, trips):
    requests = judge_requests(project, trips)
    project.record(requests, {"t1": ["Well.", answer(3)], "t2": [answer(4)], "t3": [answer(4)]})
    project.run("judge")
    row = project.rows("judged")[0]
    assert (row["status"], row["attempts"], row["scores"]["caption_accuracy"]) == ("ok", 2, 3)


def test_too_many_failures_end_the_stage_and_leave_nothing_behind(project, trips):
    project.set("judge", most_failed_share=0.3)
    project.record(judge_requests(project, trips), {one: ["Nice!", "Nice!"] for one in IDS})
    with pytest.raises(ModelError, match=r"judge toy: expected at most 30\.0%"):
        project.run("judge")
    assert not project.path("judged").exists()


# ---- nothing twice, replay -----------------------------------------------------------------------


def test_a_second_run_starts_no_engine_and_gives_the_same_bytes(project):
    project.run("judge")
    names = ("judged", "judge_responses", "judge_scores_plot")
    first = project.bytes_of(*names)
    project.set("judge", engine=ABSENT)  # has the same keys, and cannot be started
    project.run("judge")
    assert project.bytes_of(*names) == first


def test_replay_tells_how_many_answers_are_missing(project):
    with pytest.raises(ModelError, match=r"judge toy: .* found 3 of 3 missing"):
        project.run("judge", replay=True)
    project.run("judge")
    project.run("judge", replay=True)


def test_the_key_knows_the_texts_and_the_seed_but_not_what_quality_control_found(project, trips):
    before = judge_requests(project, trips)["t1"].key
    same = checked_trip("t1", claims=[])
    other = checked_trip("t1", texts=msgspec.structs.replace(TEXTS, trajectory_caption="Other."))
    assert judge_requests(project, [same])["t1"].key == before
    assert judge_requests(project, [other])["t1"].key != before


# ---- the rules, empty cities ---------------------------------------------------------------------


def test_the_rules_judge_without_a_model_and_say_so_everywhere(tmp_path, trips):
    project = judged_project(tmp_path, [trips])
    project.run("judge")
    for row in project.rows("judged"):
        assert (row["engine"], row["model"], row["status"]) == ("rules", "rules", "ok")
        assert (row["prompt_hash"], row["response_key"]) == (None, None)
        assert row["scores"]["instructions_persona_fidelity"] is None
    assert project.rows("judge_responses") == []
    figures = project.record_of("judge_metrics")
    assert (figures["model"], figures["family"]) == ("rules", "rules")
    assert not (tmp_path / "store").exists()


def test_the_rules_give_the_same_bytes_in_every_run(tmp_path, trips):
    project = judged_project(tmp_path, [trips])
    project.run("judge")
    first = project.bytes_of(*FILES)
    project.run("judge")
    assert project.bytes_of(*FILES) == first


@pytest.mark.parametrize("engine", ["rules", "recorded"])
def test_a_city_without_trips_is_judged_to_nothing(tmp_path, engine):
    project = judged_project(tmp_path, [[]])
    if engine == "recorded":
        project.set("judge", **recorded(project))
        project.record({}, {})
    project.run("judge")
    assert project.shards("judged") == [[]]
    figures = project.record_of("judge_metrics")
    assert (figures["trips"], figures["writers"]) == (0, [])
    assert {one["mean"] for one in figures["criteria"]} == {None}


def test_an_engine_that_is_no_judge_is_refused(tmp_path, trips):
    project = judged_project(tmp_path, [trips])
    project.set("judge", engine={"kind": "template"})
    with pytest.raises(
        ParameterError, match=r"params\.yaml: judge\.engine\.kind: invalid value 'template'"
    ):
        project.run("judge")


def test_trips_are_read_back_as_they_were_written(tmp_path, trips):
    project = judged_project(tmp_path, [])
    put_shard(project, "checked", trips)
    frame = pl.read_parquet(project.path("checked") / "part-00000.parquet")
    assert list(trips_in(frame)) == trips


# ---- families ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "engine", "family"),
    [
        ("openai/gpt-oss-120b", "vllm", "openai"),
        ("Qwen/Qwen3.5-27B", "vllm", "qwen"),
        ("my-finetune", "vllm", None),
        ("rules", "rules", "rules"),
        ("template", "template", "template"),
    ],
)
def test_a_family_is_told_by_a_word_of_the_models_name(model, engine, family):
    assert family_of(model, engine, FAMILIES) == family


def test_of_two_words_the_longer_one_tells_the_family():
    families = {"llama": "meta", "nemotron-llama": "nvidia"}
    assert family_of("nvidia/Nemotron-Llama-49B", "vllm", families) == "nvidia"


@pytest.mark.parametrize(
    ("judge", "writers", "same", "words"),
    [
        ("qwen-72b", ["qwen-7b"], True, "judges texts of its own family"),
        ("qwen-72b", ["gpt-oss", "qwen-7b"], True, "judges texts of its own family"),
        ("qwen-72b", ["gpt-oss"], False, None),
        ("qwen-72b", ["mystery"], None, "cannot tell whether"),
        ("mystery", ["gpt-oss"], None, "cannot tell whether"),
        ("mystery", [], None, None),
    ],
)
def test_a_judge_of_the_writers_family_is_warned_of(judge, writers, same, words):
    found = Kinship(
        engine="vllm", model=judge, families=FAMILIES,
        writers=[Writer("vllm", model, 3) for model in writers],
    )  # fmt: skip
    assert found.same_family is same
    warning = found.warning()
    assert warning is None if words is None else words in str(warning)


def test_the_warning_comes_on_one_line_before_anything_is_asked(tmp_path, capsys):
    trips = [checked_trip("t1", writer=("vllm", "Qwen/Qwen3-4B"))]
    project = judged_project(tmp_path, [trips])
    project.set("judge", engine=ABSENT | {"model": "Qwen/Qwen3.5-27B"})
    with pytest.raises(ModelError):
        project.run("judge", replay=True)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("warning: Qwen/Qwen3.5-27B judges texts of its own family (qwen)")


@given(st.permutations(IDS))
def test_a_request_does_not_depend_on_the_other_trips(order):
    alone = {one: PROMPT.messages(checked_trip(one), shown_order(7, one)) for one in IDS}
    assert {one: PROMPT.messages(checked_trip(one), shown_order(7, one)) for one in order} == alone


def test_every_task_is_answered_with_its_own_criteria():
    told = json.loads(answer(4))
    assert {task: len(told[task]) - 1 for task in TASKS} == Counter(map(task_of, CRITERIA))


def test_a_request_names_task_and_trip(project, trips):
    settings = Parameters(project.root).section("judge", ExaminerSettings)
    request = request_of(trips[0], settings)
    assert (request.task, request.item_id, request.facts) == ("judge", "t1", None)
