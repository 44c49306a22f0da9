"""A small real server on the loopback that speaks the OpenAI protocol and misbehaves on demand."""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.language.engine_requests import GOOD
from tests.loopback_server import LoopbackServer

TurnsAway = Callable[[int, dict[str, Any]], tuple[int, dict[str, Any]] | None]
# No answer is that long; a stream that is read to its end anyway shows as sent pieces.
ENDLESS = 5000


def event(content: str = "", finish_reason: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "choices": [{"index": 0, "delta": {"content": content} | more,
                     "finish_reason": finish_reason}]
    }  # fmt: skip


def good_events() -> Iterator[dict[str, Any]]:
    """A well-behaved stream: an empty start, the text in pieces, an end, the usage."""
    yield event(role="assistant")
    for start in range(0, len(GOOD), 5):
        yield event(GOOD[start : start + 5])
    yield event(finish_reason="stop")
    yield {"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 9}}


class OddServer(LoopbackServer):
    """Does what the last word of the user's message says; other messages are answered well.

    Attributes:
        asked: How often each prompt was received.
        bodies: Bodies of all requests.
        arrived_s: When each request came, monotonic seconds.
        keys: What stood in the Authorization headers.
        most_at_once: Most requests that were being answered at the same time.
        sent: Pieces of endless answers that were sent before the client went away.
        left: Set when a client goes away before its answer has ended.
    """

    def __init__(
        self, turns_away: TurnsAway = lambda _count, _body: None, *, port: int = 0
    ) -> None:
        """Open the port.

        Args:
            turns_away: Gives status and error for a request that is not answered, from how many
                came before and its body; None where it is answered.
            port: Number of the port; 0 for a free one.
        """
        self._turns_away = turns_away
        self.asked: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.arrived_s: list[float] = []
        self.keys: set[str] = set()
        self.most_at_once = self.sent = 0
        self.left = threading.Event()
        self._at_once = 0
        self._lock = threading.Lock()
        super().__init__(self._handler(), port=port)

    def note(self, body: dict[str, Any], key: str) -> int:
        """Count a request in; returns how often its prompt has been received."""
        with self._lock:
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            self.arrived_s.append(time.monotonic())
            self.bodies.append(body)
            self.keys.add(key)
            prompt = body["messages"][-1]["content"]
            self.asked[prompt] += 1
            return self.asked[prompt]

    def turns_away(self, handler: "_Handler", body: dict[str, Any]) -> bool:
        """Send an error instead of an answer, where the test wants one."""
        with self._lock:
            count = len(self.bodies)
        found = self._turns_away(count, body)
        if found is not None:
            handler._send(found[0], {"error": found[1]})
        return found is not None

    def note_end(self) -> None:
        with self._lock:
            self._at_once -= 1

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(_Handler):
            odd = server

        return Handler


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    odd: OddServer
    times: int  # how often this prompt has been received

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.times = self.odd.note(body, self.headers["Authorization"])
        wish = body["messages"][-1]["content"].split()[-1].rstrip(".")
        try:
            if not self.odd.turns_away(self, body):
                getattr(self, f"do_{wish}", self.do_good)()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
            self.odd.left.set()
        finally:
            self.odd.note_end()

    # ---- answers --------------------------------------------------------------------------------

    def do_good(self) -> None:
        self._stream(good_events())

    def do_pause(self) -> None:
        time.sleep(0.05)
        self._stream(good_events())

    def do_whole(self) -> None:
        message = {"role": "assistant", "content": GOOD, "refusal": None}
        usage = {"prompt_tokens": 11, "completion_tokens": 9}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        self._send(200, {"choices": [choice], "usage": usage})

    def do_chat(self) -> None:
        self._stream([event("Sure! Here is your JSON."), event(finish_reason="stop")])

    def do_filter(self) -> None:
        self._stream([event(GOOD[:9]), event(finish_reason="content_filter")])

    def do_refuse(self) -> None:
        self._stream([event(refusal="I would rather not."), event(finish_reason="stop")])

    def do_fence(self) -> None:
        self._stream([event(f"```json\n{GOOD}\n```"), event(finish_reason="stop")])

    def do_think(self) -> None:
        self._stream([event("<think>So.</think>"), event(GOOD), event(finish_reason="stop")])

    def do_call(self) -> None:
        def piece(arguments: str, **more: str) -> dict[str, Any]:
            call = {"index": 0, "function": {"arguments": arguments} | more}
            return event("", tool_calls=[call])

        self._stream([piece(GOOD[:9], name="annotate"), piece(GOOD[9:]),
                      event(finish_reason="tool_calls")])  # fmt: skip

    def do_wholecall(self) -> None:
        calls = [{"type": "function", "function": {"name": "annotate", "arguments": GOOD}}]
        message = {"role": "assistant", "content": None, "tool_calls": calls}
        self._send(200, {"choices": [{"message": message, "finish_reason": "tool_calls"}]})

    def do_cut(self) -> None:
        self._stream([event(GOOD[:9]), event(finish_reason="length")])

    def do_spaces(self) -> None:
        def spaces() -> Iterator[dict[str, Any]]:
            yield event('{"text": ')
            for _ in range(ENDLESS):
                self.odd.sent += 1
                yield event("\n  ")
                time.sleep(0.001)

        self._stream(spaces())

    def do_trickle(self) -> None:
        def words() -> Iterator[dict[str, Any]]:
            for _ in range(ENDLESS):
                yield event("x")
                time.sleep(0.02)

        self._stream(words())

    # ---- faults ---------------------------------------------------------------------------------

    def do_busy(self) -> None:
        if self.times == 1:
            self._send(429, {"error": {"message": "slow down"}}, retry_after="0.3")
        else:
            self.do_good()

    def do_stumble(self) -> None:
        if self.times < 3:
            self._send(500, {"error": {"message": "oops"}}, retry_after="0.01")
        else:
            self.do_good()

    def do_fail(self) -> None:
        self._send(500, {"error": {"message": "oops"}}, retry_after="0.01")

    def do_vanish(self) -> None:
        if self.times == 1:
            self.close_connection = True  # without a word
        else:
            self.do_good()

    def do_drop(self) -> None:
        self._stream([event(GOOD[:9])], ends=False)

    def do_stop(self) -> None:
        self._stream([event(GOOD[:9])], done=False)

    def do_crash(self) -> None:
        self._stream([event(GOOD[:9]), {"error": {"message": "out of memory", "code": 500}}])

    def do_sleep(self) -> None:
        time.sleep(3)
        self.do_good()

    def do_page(self) -> None:
        self._send(200, "<html>hello</html>", kind="text/html")

    def do_unknown(self) -> None:
        self._send(404, {"error": {"message": "The model `tiny` does not exist.", "code": 404}})

    def do_denied(self) -> None:
        self._send(401, {"error": {"message": f"wrong key: {self.headers['Authorization']}"}})

    def do_overlong(self) -> None:
        words = "This model's maximum context length is 8192 tokens."
        self._send(400, {"error": {"message": words, "code": "context_length_exceeded"}})

    def do_quota(self) -> None:
        error = {"message": "You exceeded your quota.", "code": "insufficient_quota"}
        self._send(429, {"error": error})

    def do_tomorrow(self) -> None:
        self._send(429, {"error": {"message": "come back"}}, retry_after="86400")

    def do_wrong(self) -> None:
        self._send(400, {"error": {"message": "maxLength is not permitted", "code": "bad"}})

    # ---- inside ---------------------------------------------------------------------------------

    def _send(
        self, status: int, body: Any, *, kind: str = "application/json", retry_after: str = ""
    ) -> None:
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        if retry_after:
            self.send_header("Retry-After", retry_after)
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, events: Any, *, done: bool = True, ends: bool = True) -> None:
        """Send server-sent events; without `ends` the connection breaks off within the body."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for one in events:
            self._chunk(f"data: {json.dumps(one)}\n\n")
        if not ends:
            self.close_connection = True
            return
        if done:
            self._chunk("data: [DONE]\n\n")
        self._chunk("")

    def _chunk(self, text: str) -> None:
        data = text.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        """Say nothing."""
