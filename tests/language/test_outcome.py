"""An answer is what it is: nothing is mended, and every way to go wrong has its own status."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pipeline.errors import ContractError
from pipeline.language.outcome import (
    LONGEST_GAP,
    answers_of,
    first_ok,
    json_in,
    judge_text,
    responses_frame,
    settled,
    strict_json,
)
from pipeline.schemas import check_frame
from tests.language.engines import SCHEMA, answer_to, request_about, requests_about, sound

GOOD = '{"say": "x"}'


@pytest.mark.parametrize("text", [GOOD, f" {GOOD}\n", '{\n    "say": "Straße, 中関村, 👩‍🚀"\n}'])
@pytest.mark.parametrize("finish_reason", ["stop", ""])
def test_a_finished_text_that_fits_is_an_answer(text, finish_reason):
    assert judge_text(text, finish_reason, SCHEMA) == ("ok", "")


@pytest.mark.parametrize(
    ("text", "finish_reason", "status", "reason"),
    [
        (GOOD, "length", "length", "cut off at the token limit"),
        ("", "length", "length", "cut off at the token limit"),
        (GOOD, "content_filter", "refusal", "stopped by content_filter"),
        (GOOD, "abort", "failed", "stopped by abort"),
        ("", "stop", "empty", "finished with no text"),
        (" \n", "stop", "whitespace", "white spaces"),
        ('{"say":' + "\n" * LONGEST_GAP + '"x"}', "stop", "whitespace", "white spaces"),
        ('{"say": "' + "\\n" * LONGEST_GAP + '"}', "stop", "whitespace", "white spaces"),
        ('{"say": ' + " " * LONGEST_GAP, "abort", "whitespace", "white spaces"),
        ("I cannot.", "stop", "malformed", "no JSON: Expecting value"),
        ('{"say": "x"', "stop", "malformed", "Expecting ',' delimiter"),
        (f"{GOOD} Done.", "stop", "malformed", "Extra data"),
        (f"```json\n{GOOD[:-1]}\n```", "stop", "malformed", "it begins '```json"),
        (f"```\n{GOOD}\n```\n```\n{GOOD}\n```", "stop", "malformed", "it begins '```"),
        (f"<think>So {GOOD}", "stop", "malformed", "it begins '<think>So {"),
        ("<think>So.</think>\nSure! Here", "stop", "malformed", "it begins 'Sure! Here'"),
        ('<tool_call>{"arguments": {"say"}}</tool_call>', "stop", "malformed", "'<tool_call>"),
        ('<tool_call>{"name": "x"}</tool_call>', "tool_calls", "invalid", "expected an object"),
        ('<tool_call>{"arguments": {"say": 7}}</tool_call>', "tool_calls", "invalid", "$.say: 7"),
        ("\ufeff" + GOOD, "stop", "malformed", "BOM"),
        ('{"say": "x", "say": "y"}', "stop", "malformed", "the key 'say' is there twice"),
        ('{"say": NaN}', "stop", "malformed", "NaN is no JSON number"),
        ('{"say": -Infinity}', "stop", "malformed", "-Infinity is no JSON number"),
        ('{"say": 1e999}', "stop", "malformed", "1e999 is too large a number"),
        ('{"say": ' + "9" * 5000 + "}", "stop", "malformed", "limit"),
        ('{"say": "a\nb"}', "stop", "malformed", "Invalid control character"),
        ('{"say": "\\ud800"}', "stop", "malformed", "half of a letter"),
        ('{"say": "\ud800"}', "stop", "malformed", "half of a letter"),
        ("[" * 100_000, "stop", "malformed", "recursion"),
        ('{"say": ' + "[" * 500 + "]" * 500 + "}", "stop", "malformed", "Recursion"),
        ('{"say": 7}', "stop", "invalid", '$.say: 7 is not of type "string"'),
        ('{"tell": "x"}', "stop", "invalid", "$: "),
        ('["say"]', "stop", "invalid", "$: expected an object"),
        ('{"say": "' + "x" * 4001 + '"}', "stop", "invalid", "$.say: "),
    ],
)
def test_a_text_that_is_no_answer_has_a_status_and_a_reason(text, finish_reason, status, reason):
    found = judge_text(text, finish_reason, SCHEMA)
    assert found[0] == status
    assert reason in found[1]
    assert len(found[1]) < 400


@pytest.mark.parametrize(
    ("text", "finish_reason"),
    [
        (f"```json\n{GOOD}\n```", "stop"),
        (f"Here it is:\n```\n{GOOD}\n```\nAnything else?", "stop"),
        (f"```json\n{GOOD}", "stop"),
        (f"<think>\nA {{road}}, then ``` another.\n</think>\n\n{GOOD}", "stop"),
        (f"A road.</think>```json\n{GOOD}```", "stop"),
        (f'<tool_call>\n{{"name": "answer", "arguments": {GOOD}}}\n</tool_call>', "tool_calls"),
        (f'So: <tool_call>{{"arguments": {json.dumps(GOOD)}}}</tool_call>', "function_call"),
    ],
)
def test_what_is_wrapped_around_an_answer_is_left_out_when_it_is_read(text, finish_reason):
    assert judge_text(text, finish_reason, SCHEMA) == ("ok", "")
    assert json.loads(json_in(text)) == {"say": "x"}
    kept = settled(answer_to(request_about("a"), text, status="ok"), SCHEMA)
    assert (kept.status, kept.text) == ("ok", text)  # the text stays raw
    check_frame("response", responses_frame([kept]), where="rows", key="key")


@given(st.integers(1, 40))
def test_a_truncated_text_is_never_an_answer(cut):
    text = '{"say": "Head north.", "why": {"a": [1, 2]}}'
    for start in ("", "```json\n", "<think>So.</think>"):
        assert judge_text(start + text[:-cut], "stop", {"type": "object"})[0] != "ok"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3)
        ),
        max_leaves=8,
    )
)
def test_what_json_writes_is_read_back(value):
    assert strict_json(json.dumps(value)) == strict_json(json.dumps(value, ensure_ascii=False))
    assert strict_json(json.dumps(value)) == value


@pytest.mark.parametrize("schema", [{"type": "nope"}, {"$ref": "https://example.org/x.json"}])
def test_a_generation_schema_that_is_none_is_a_fault_of_the_set_up(schema):
    with pytest.raises(ContractError, match="generation schema: expected a JSON Schema"):
        judge_text(GOOD, "stop", schema)


def test_only_ok_is_judged_again_and_all_text_becomes_storable():
    request = request_about("a")
    refused = answer_to(request, "No \udc80.", status="refusal")
    kept = settled(refused, SCHEMA)
    assert (kept.status, kept.reason, kept.text) == ("refusal", refused.reason, "No \\udc80.")
    boast = answer_to(request, '{"say": "x"', status="ok")
    assert settled(boast, SCHEMA).status == "malformed"


def test_a_keys_answer_is_its_lowest_good_attempt():
    request = request_about("a")
    bad, good = answer_to(request, "Sure!"), sound(request)
    second, third = (replace(good, attempt=number) for number in (2, 3))
    assert first_ok([third, bad, second]) == second
    assert first_ok([bad]) is None
    assert first_ok([]) is None


def test_answers_become_rows_of_the_schema_and_come_back():
    answers = [sound(request) for request in requests_about(3)]
    answers.append(answer_to(request_about("a"), "", status="timeout"))
    answers.append(replace(sound(request_about("b")), prompt_tokens=None, output_tokens=None))
    frame = responses_frame(answers)
    check_frame("response", frame, where="rows", key="key")
    assert answers_of(frame) == answers


def test_no_answers_are_a_table_without_rows_that_has_its_columns():
    frame = responses_frame([])
    assert (frame.height, frame.columns[0], frame.columns[-1]) == (0, "key", "output_tokens")
    assert answers_of(frame) == []
