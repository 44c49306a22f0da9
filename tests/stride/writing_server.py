"""A small real server on the loopback that writes specifications, spoken to as OpenAI's are.

It knows the phrase bank's questions and answers by the words of the text; some texts it gets wrong.
"""

import json
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec

from pipeline.stride.patterns import patterns
from tests.answering_server import AnsweringServer

# Gives the text of an answer, from the record that is asked about and the seed of the attempt.
Answering = Callable[[dict[str, Any], int], str]


def questions_of(record: dict[str, Any]) -> dict[str, Any]:
    """Return what the phrase bank asks of a text; else what it asks of a stream."""
    pattern = patterns().read(record["text"]).pattern or "stream"
    return msgspec.to_builtins(patterns().specification(pattern))


def turned(record: dict[str, Any]) -> dict[str, Any]:
    """Return the same with the first range the wrong way round."""
    questions = questions_of(record)
    questions["questions"][0]["measurements"][0] |= {"min": 1.0, "max": 0.5}
    return questions


class WritingServer:
    """Answers requests one by one.

    Attributes:
        bodies: Bodies of all requests.
        asked: How often each text was asked about.
        url: Its address.
        closes_after: Requests after which no answer is given any more; null: never.
        closed: Set when that is so.
    """

    def __init__(self, answering: Answering) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.asked: Counter[str] = Counter()
        self.closes_after: int | None = None
        self.closed, self._over = threading.Event(), threading.Event()
        self._answering, self._lock = answering, threading.Lock()
        self._server = AnsweringServer(self._answer)
        self.url = self._server.url

    def __enter__(self) -> "WritingServer":
        self._server.__enter__()
        return self

    def __exit__(self, *fault: object) -> None:
        self._over.set()
        self._server.__exit__(*fault)

    def _answer(self, body: dict[str, Any]) -> str:
        record = json.loads(body["messages"][-1]["content"].partition("\n\n")[2])
        with self._lock:
            self.bodies.append(body)
            self.asked[record["text"]] += 1
            late = self.closes_after is not None and len(self.bodies) > self.closes_after
        if late:
            self.closed.set()
            self._over.wait()
        return self._answering(record, body["seed"])
