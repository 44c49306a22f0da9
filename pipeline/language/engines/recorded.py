r"""Answers from a file of earlier responses, found by the request's key: no model, no network.

    {"key": "5f0c...", "text": "{\"caption\": \"A calm street.\"}"}   (one line of responses.jsonl)
      -> Answer(key="5f0c...", status="ok", ...) to the request with that key

For replaying a run whose responses were published, with today's checks, and for tests.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec
import polars as pl

from pipeline.errors import ModelError, SourceError
from pipeline.language.engines.replies import judged, unanswered
from pipeline.language.engines.settings import WINDOW, RecordedSettings, one_line
from pipeline.language.requests import NO_ANSWER, Answer, Request, Status
from pipeline.seals import check_seal, shards_in

# What the text alone does not show; every other status is judged anew.
_REMEDY = "mend engine.file, or name another"
_AS_RECORDED = frozenset({"refusal", "prompt_too_long", "whitespace"})


class _Response(msgspec.Struct, frozen=True):
    """What is used of a row; a file written by hand needs only key and text."""

    key: str
    text: str
    attempt: int = 1
    status: Status = "ok"
    reason: str = ""
    finish_reason: str = ""
    prompt_tokens: int | None = None
    output_tokens: int | None = None


class RecordedEngine:
    """An `Engine` that knows the answers; all of them are held in memory."""

    def __init__(self, settings: RecordedSettings) -> None:
        self._settings = settings

    def __enter__(self) -> Self:
        self._responses: dict[str, list[_Response]] = {}
        for response in _read(Path(self._settings.file)):
            attempts = self._responses.setdefault(response.key, [])
            if response.status not in NO_ANSWER:
                attempts.append(response)
        for attempts in self._responses.values():
            attempts.sort(key=lambda response: response.attempt)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._responses = {}

    def answers(self, requests: Iterable[Request]) -> Iterator[list[Answer]]:
        """Answer requests as `Engine.answers` says.

        An attempt that is not there gets the next later one: a file of final answers holds only the
        attempt that succeeded. After the last one, and where a server answered nothing, it is
        `empty`.

        Raises:
            ModelError: The file has no answer to a request at all.
        """
        source = iter(requests)
        while some := list(islice(source, WINDOW)):
            yield [self._answer(request) for request in some]

    def _answer(self, request: Request) -> Answer:
        attempts = self._responses.get(request.key)
        if attempts is None:
            prompt = request.messages[-1].content if request.messages else ""
            raise ModelError(
                f"engine recorded, {self._settings.file}: {request.task} of {request.item_id}:"
                f" expected a response with the key {request.key}, found none (its prompt begins"
                f" {prompt[:80].partition(chr(10))[0]!r}); prompts, schema, model, revision and"
                " sampling must be those of the recorded run"
            )
        response = next((r for r in attempts if r.attempt >= request.attempt), None)
        if response is None:
            reason = f"attempt {request.attempt} is not in {self._settings.file}"
            return unanswered(request, "empty", reason)
        if response.status in _AS_RECORDED:
            return unanswered(request, response.status, response.reason, text=response.text)
        return judged(
            request,
            response.text,
            response.finish_reason,
            prompt_tokens=response.prompt_tokens,
            output_tokens=response.output_tokens,
        )


def _read(file: Path) -> Iterator[_Response]:
    """Yield the responses of a JSONL file, a Parquet file, or a folder of Parquet shards."""
    try:
        if file.is_dir():
            for shard in shards_in(file, remedy=_REMEDY):
                yield from _read(shard)
        elif file.suffix == ".parquet":
            check_seal(file, remedy=_REMEDY)
            for row in pl.read_parquet(file).iter_rows(named=True):
                yield _response(row)
        else:
            with file.open(encoding="utf-8") as lines:
                for number, line in enumerate(lines, start=1):
                    yield _response_of_line(line, number)
    except (OSError, UnicodeDecodeError, pl.exceptions.PolarsError, msgspec.DecodeError) as fault:
        raise SourceError(
            f"engine.file: {file}: expected responses with `key` and `text` as .jsonl or .parquet,"
            f" found {one_line(fault)}; mend the file or name another"
        ) from fault


def _response_of_line(line: str, number: int) -> _Response:
    try:
        return _response(msgspec.json.decode(line))
    except msgspec.DecodeError as fault:
        raise msgspec.DecodeError(f"line {number}: {fault}") from fault


def _response(row: Any) -> _Response:
    return msgspec.convert(row, _Response)
