"""Recorded responses: found by key, judged by today's checks, never guessed."""

import json

import msgspec
import polars as pl
import pytest

from pipeline.errors import ModelError, SourceError
from pipeline.language.engines import engine_for
from pipeline.language.engines.settings import LocalExecutor
from pipeline.language.outcome import responses_frame
from tests.language.engine_requests import (
    GOOD,
    answered,
    recorded_settings,
    request_to,
    requests_to,
)


def answers_from(file, requests):
    with engine_for(recorded_settings(file), LocalExecutor()) as engine:
        return answered(engine, requests)


def write_lines(file, rows):
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_answers_are_found_by_key_whatever_the_order(tmp_path):
    file = tmp_path / "responses.jsonl"
    requests = requests_to(recorded_settings(file), 200)
    texts = {request.item_id: GOOD.replace("7", str(n % 99)) for n, request in enumerate(requests)}
    write_lines(file, [{"key": r.key, "text": texts[r.item_id]} for r in reversed(requests)])
    found = answers_from(file, requests)
    assert {item: answer.text for item, answer in found.items()} == texts
    assert {(a.status, a.model.engine, a.prompt_tokens) for a in found.values()} == {
        ("ok", "recorded", None)
    }


def test_an_unknown_key_names_task_item_key_and_prompt(tmp_path):
    file = write_lines(tmp_path / "responses.jsonl", [{"key": "0" * 64, "text": GOOD}])
    request = request_to(recorded_settings(file), "1626278", prompt="Tell this trip.\nIt is long.")
    with pytest.raises(ModelError) as caught:
        answers_from(file, [request])
    message = str(caught.value)
    assert "annotate of 1626278" in message
    assert request.key in message
    assert "'Tell this trip.'" in message
    assert "\n" not in message


def test_the_rows_of_a_ledger_are_replayed_attempt_by_attempt(tmp_path):
    settings = recorded_settings(tmp_path)
    (request,) = requests_to(settings, 1)
    again = msgspec.structs.replace(request, attempt=2)
    file = tmp_path / "one.jsonl"
    rows = [
        {"key": request.key, "attempt": 2, "text": GOOD, "prompt_tokens": 9, "output_tokens": 5},
        {"key": request.key, "attempt": 1, "text": GOOD[:9], "finish_reason": "length"},
    ]
    write_lines(file, rows)
    first, second = (answers_from(file, [r])["0"] for r in (request, again))
    assert (first.status, first.attempt) == ("length", 1)
    assert (second.status, second.attempt, second.output_tokens) == ("ok", 2, 5)
    responses_frame([first, second]).write_parquet(tmp_path / "part-00000.parquet")
    assert answers_from(tmp_path, [request])["0"] == first
    assert answers_from(tmp_path / "part-00000.parquet", [again])["0"] == second


def test_a_file_of_final_answers_answers_the_first_attempt(tmp_path):
    (request,) = requests_to(recorded_settings(tmp_path), 1)
    file = write_lines(tmp_path / "r.jsonl", [{"key": request.key, "attempt": 3, "text": GOOD}])
    answer = answers_from(file, [request])["0"]
    assert (answer.status, answer.attempt) == ("ok", 1)
    later = answers_from(file, [msgspec.structs.replace(request, attempt=4)])["0"]
    assert (later.status, "attempt 4" in later.reason) == ("empty", True)


def test_a_text_is_judged_by_the_schema_of_today(tmp_path):
    (request,) = requests_to(recorded_settings(tmp_path), 1)
    text = GOOD.replace("7", "700")
    file = write_lines(tmp_path / "r.jsonl", [{"key": request.key, "text": text, "status": "ok"}])
    assert answers_from(file, [request])["0"].status == "invalid"


@pytest.mark.parametrize("status", ["refusal", "prompt_too_long", "whitespace"])
def test_what_a_text_cannot_show_stays_as_it_was_recorded(tmp_path, status):
    (request,) = requests_to(recorded_settings(tmp_path), 1)
    row = {"key": request.key, "text": "", "status": status, "reason": "so it was"}
    answer = answers_from(write_lines(tmp_path / "r.jsonl", [row]), [request])["0"]
    assert (answer.status, answer.reason) == (status, "so it was")


@pytest.mark.parametrize("status", ["timeout", "failed"])
def test_a_recorded_failure_of_a_server_is_no_attempt(tmp_path, status):
    (request,) = requests_to(recorded_settings(tmp_path), 1)
    rows = [{"key": request.key, "attempt": 1, "text": "", "status": status, "reason": "so it was"},
            {"key": request.key, "attempt": 2, "text": GOOD}]  # fmt: skip
    answer = answers_from(write_lines(tmp_path / "r.jsonl", rows), [request])["0"]
    assert (answer.status, answer.attempt) == ("ok", 1)
    alone = answers_from(write_lines(tmp_path / "r.jsonl", rows[:1]), [request])["0"]
    assert alone.status == "empty"


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [("r.jsonl", '{"key": "k", "text": "t"}\n{"key": 7}\n', "line 2: .*key"),
     ("r.jsonl", "no json\n", "line 1"),
     ("r.parquet", "no parquet", "r.parquet")],
)  # fmt: skip
def test_a_file_that_holds_no_responses_is_named(tmp_path, name, content, found):
    (tmp_path / name).write_text(content)
    with pytest.raises(SourceError, match=found):
        answers_from(tmp_path / name, [])


def test_a_missing_file_and_missing_columns_are_named(tmp_path):
    with pytest.raises(SourceError, match=r"none\.jsonl"):
        answers_from(tmp_path / "none.jsonl", [])
    pl.DataFrame({"key": ["k"]}).write_parquet(tmp_path / "r.parquet")
    with pytest.raises(SourceError, match="text"):
        answers_from(tmp_path / "r.parquet", [])
