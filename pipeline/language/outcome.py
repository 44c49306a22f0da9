"""What became of a request: judge an answer's text, and keep answers as rows of a table.

    judge_text('{"caption": "A calm street."}', "stop", schema)  ->  ("ok", "")
    judge_text('{"caption": "A calm', "length", schema)          ->  ("length", "cut off at ...")
    judge_text('{"caption": 7}', "stop", schema)  ->  ("invalid", "$.caption: 7 is not of type ...")
    json_in('<think>Calm.</think> {"caption": "A calm street."}')  ->  '{"caption": ...}'

Nothing is ever mended: a truncated text that is closed by added braces becomes a shorter "valid"
object. What is wrapped around an answer is left out when it is read; the text is kept as it came.
"""

import json
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import polars as pl

from pipeline.language.requests import Answer, ModelId, Status
from pipeline.schemas import arrow_schema, fault_against

# So much white space in a row, real or escaped within a string, is a model that loops; indented
# JSON of any bearable depth stays below it.
LONGEST_GAP = 64
_GAP = re.compile(rf"(?:\s|\\[nrt]){{{LONGEST_GAP}}}")
# How an engine says that the model ended by itself; some say nothing at all.
_ENDED = frozenset({"stop", "", "tool_calls", "function_call"})
_REFUSED = frozenset({"content_filter", "refusal"})
_REASONED = "</think>"
_CALL = re.compile(r"<tool_call>\s*(\{.*?\})\s*</tool_call>", re.DOTALL)
_FENCED = re.compile(r"```[\w-]*\s*(\{.*?\})\s*(?:```|\Z)", re.DOTALL)
_BEGINNING = 60  # letters of a text that is no answer, to be shown


def judge_text(text: str, finish_reason: str, schema: dict[str, Any]) -> tuple[Status, str]:
    """Tell whether a text is an answer, and what is wrong with it if it is none.

    Args:
        text: As the model gave it.
        finish_reason: As the engine told it; "" where it told nothing.
        schema: Generation schema the answer must fit.

    Returns:
        Status and reason; the reason is "" for `ok`.

    Raises:
        ContractError: The schema is no JSON Schema.
    """
    ended = _bad_end(text, finish_reason)
    if ended:
        return ended
    try:
        value = strict_json(json_in(text))
        fault = None if isinstance(value, dict) else "$: expected an object"
        fault = fault or fault_against(schema, value)
    except (ValueError, RecursionError) as error:
        beginning = _without_reasoning(text)[:_BEGINNING]
        return "malformed", f"no JSON: {error}; it begins {beginning!r}"
    return ("invalid", fault) if fault else ("ok", "")


def json_in(text: str) -> str:
    """Return the part of a raw text that is to be JSON.

    That is what follows the reasoning (`<think>...</think>`), and of that the one block in ```
    fences or the arguments of the one `<tool_call>`; prose around these is left out. The text as it
    is where there is no such thing, or more than one.

    Raises:
        ValueError: What is in a tool call is no JSON.
        RecursionError: It is nested too deeply.
    """
    if text.lstrip().startswith("{"):
        return text
    body = _without_reasoning(text)
    if body.startswith("{"):
        return body
    calls, blocks = _CALL.findall(body), _FENCED.findall(body)
    if len(calls) == 1:
        arguments = strict_json(calls[0]).get("arguments")
        return arguments if isinstance(arguments, str) else json.dumps(arguments)
    return str(blocks[0]) if len(blocks) == 1 else body


def _without_reasoning(text: str) -> str:
    """Return what follows the reasoning; some chat templates begin it, so only its end shows."""
    if text.lstrip().startswith("{"):
        return text
    before, found, after = text.partition(_REASONED)
    return (after if found else before).strip()


def _bad_end(text: str, finish_reason: str) -> tuple[Status, str] | None:
    """Tell what is wrong with how a text ended; None where it ended by itself, with something."""
    if finish_reason == "length":
        return "length", "cut off at the token limit"
    if finish_reason in _REFUSED:
        return "refusal", f"stopped by {finish_reason}"
    if not text:
        return "empty", "finished with no text"
    if text.isspace() or _GAP.search(text):
        return "whitespace", f"{LONGEST_GAP} or more white spaces in a row, or nothing else"
    if finish_reason not in _ENDED:
        return "failed", f"stopped by {finish_reason}"
    return None


def strict_json(text: str) -> Any:
    """Read JSON as the standard has it: no NaN, no key twice, no half of a letter, nothing after.

    Raises:
        ValueError: It is none.
        RecursionError: It is nested too deeply.
    """
    value = json.loads(
        text, object_pairs_hook=_object, parse_constant=_refused_constant, parse_float=_finite
    )
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as fault:  # an escape such as \ud800 alone; no file can hold it
        raise ValueError("half of a letter (a lone surrogate)") from fault
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} is there twice")
    return found


def _refused_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits} is too large a number")
    return number


def settled(answer: Answer, schema: dict[str, Any]) -> Answer:
    """Return an answer as it is kept: `ok` only if its text proves it, all of it storable."""
    status, reason = answer.status, answer.reason
    if status == "ok":
        status, reason = judge_text(answer.text, answer.finish_reason, schema)
    return msgspec.structs.replace(
        answer,
        status=status,
        reason=_storable(reason),
        text=_storable(answer.text),
        finish_reason=_storable(answer.finish_reason),
    )


def _storable(text: str) -> str:
    """Return text that UTF-8 can hold; half a letter is shown by its escape."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def first_ok(attempts: Iterable[Answer]) -> Answer | None:
    """Return a key's answer, its lowest attempt with status ok; None where there is none."""
    good = [answer for answer in attempts if answer.status == "ok"]
    return min(good, key=lambda answer: answer.attempt, default=None)


def responses_frame(answers: Sequence[Answer]) -> pl.DataFrame:
    """Return answers as rows of the schema `response`, in the order given."""
    rows = [
        msgspec.structs.asdict(answer) | msgspec.structs.asdict(answer.model) for answer in answers
    ]
    schema = pl.Schema(arrow_schema("response"))
    return pl.DataFrame({name: [row[name] for row in rows] for name in schema}, schema=schema)


def answers_of(frame: pl.DataFrame) -> list[Answer]:
    """Return the answers that `responses_frame` made rows of."""
    return [
        msgspec.convert(
            {key: value for key, value in row.items() if key not in {"engine", "revision"}}
            | {"model": ModelId(row["engine"], row["model"], row["revision"])},
            Answer,
        )
        for row in frame.iter_rows(named=True)
    ]
