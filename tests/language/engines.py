"""Engines for tests: one that answers by a rule in this process, one that asks an HTTP server."""

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler
from itertools import islice

from pipeline.errors import ModelError
from pipeline.language.outcome import judge_text
from pipeline.language.requests import (
    Answer,
    Message,
    ModelId,
    Request,
    Sampling,
    Status,
    request_key,
)
from tests.loopback_server import PatientServer

MODEL = ModelId("openai", "toy", "1")
SCHEMA = {
    "type": "object",
    "properties": {"say": {"type": "string", "maxLength": 4000}},
    "required": ["say"],
    "additionalProperties": False,
}


def request_about(item: str, prompt: str | None = None) -> Request:
    """Return a request about one item; two items with one prompt share a key."""
    messages = (Message("user", prompt or f"Say something of {item}."),)
    sampling = Sampling(temperature=0.0, top_p=1.0, max_tokens=100)
    key = request_key(
        task="annotate", messages=messages, schema=SCHEMA, model=MODEL, sampling=sampling
    )
    return Request(
        item_id=item, task="annotate", messages=messages, schema=SCHEMA, model=MODEL,
        sampling=sampling, facts=None, key=key,
    )  # fmt: skip


def requests_about(count: int) -> list[Request]:
    return [request_about(f"item-{number:06d}") for number in range(count)]


def answer_to(
    request: Request, text: str, *, finish_reason: str = "stop", status: Status | None = None
) -> Answer:
    """Return the answer an engine gives: judged by its text, unless a status says it was none."""
    judged, reason = judge_text(text, finish_reason, request.schema)
    if status is not None:
        judged, reason = status, "" if status == "ok" else f"the engine says {status}"
    return Answer(
        key=request.key, attempt=request.attempt, item_id=request.item_id, task=request.task,
        status=judged, reason=reason, text=text, finish_reason=finish_reason,
        model=request.model, prompt_tokens=10, output_tokens=len(text.split()),
    )  # fmt: skip


def sound(request: Request) -> Answer:
    """Answer as every request deserves: the same text for the same key and attempt."""
    return answer_to(request, json.dumps({"say": f"{request.item_id} {request.seed}"}))


class RuleEngine:
    """Answers by a rule, a few at a time, the last one first."""

    def __init__(self, rule: Callable[[Request], Answer] = sound, *, window: int = 8) -> None:
        self.rule, self.window = rule, window
        self.started = self.ended = 0
        self.sent: list[tuple[str, int]] = []

    def __enter__(self):
        self.started += 1
        return self

    def __exit__(self, *_):
        self.ended += 1

    def answers(self, requests: Iterable[Request]) -> Iterator[list[Answer]]:
        stream = iter(requests)
        while some := list(islice(stream, self.window)):
            self.sent += [(request.item_id, request.attempt) for request in some]
            yield [self.rule(request) for request in reversed(some)]


class HttpEngine:
    """Asks a `ToyServer`, some requests at a time, and pulls them from a thread of its own."""

    def __init__(self, place: tuple[str, int], *, run: str, window: int) -> None:
        self.place, self.run, self.window = place, run, window

    def __enter__(self):
        self.pool = ThreadPoolExecutor(self.window + 1)
        return self

    def __exit__(self, *_):
        self.pool.shutdown()

    def answers(self, requests: Iterable[Request]) -> Iterator[list[Answer]]:
        stream, waiting = iter(requests), set[Future[Answer]]()
        while True:
            pulled = self.pool.submit(list, islice(stream, self.window - len(waiting)))
            waiting |= {self.pool.submit(self._asked, request) for request in pulled.result()}
            if not waiting:
                return
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield [future.result() for future in done]

    def _asked(self, request: Request) -> Answer:
        body = json.dumps({"run": self.run, "item": request.item_id, "attempt": request.attempt})
        line = HTTPConnection(*self.place, timeout=60)
        try:
            line.request("POST", "/", body)
            told = json.loads(line.getresponse().read())
        except OSError as fault:
            raise ModelError(f"{self.place}: expected a server, found {fault}") from fault
        finally:
            line.close()
        return answer_to(request, told["text"], finish_reason=told["finish_reason"])


class ToyServer:
    """A server on the loopback that counts what it is asked; every seventh first answer is cut.

    Attributes:
        asked: Requests received, by run.
        gate: Called with the number of requests received so far, in the thread that answers.
    """

    def __init__(self, gate: Callable[[int], None] = lambda _: None) -> None:
        self.asked: Counter[str] = Counter()
        self.gate = gate
        self._lock = threading.Lock()
        self._server = PatientServer(("127.0.0.1", 0), self._handler())
        self.place = ("127.0.0.1", self._server.server_port)

    def __enter__(self):
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(self):
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with server._lock:
                    server.asked[asked["run"]] += 1
                    count = server.asked.total()
                server.gate(count)
                reply = json.dumps(reply_to(asked["item"], asked["attempt"])).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

            def log_message(self, *_):
                pass

        return Handler


def reply_to(item: str, attempt: int) -> dict[str, str]:
    """Return what the toy server says: the same for the same item and attempt."""
    text = json.dumps(
        {"say": f"{item} is a fine place, said {attempt} times. " + "And so on. " * 20}
    )
    if attempt == 1 and int(item.rpartition("-")[2]) % 7 == 0:
        return {"text": text[: len(text) // 2], "finish_reason": "length"}
    return {"text": text, "finish_reason": "stop"}
