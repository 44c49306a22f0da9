"""A small real server on the loopback that is spoken to as OpenAI's are, and answers well.

Its first requests find it busy, as servers are: whoever asks it has to wait and ask again.

with AnsweringServer(lambda body: '{"verdicts": []}') as server: server.url
"""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.loopback_server import LoopbackServer


class AnsweringServer(LoopbackServer):
    """Answers each request but the first few.

    Attributes:
        turns_away: How many come too early.
        turned_away: How many have come too early.
    """

    def __init__(self, answering: Callable[[dict[str, Any]], str]) -> None:
        """Open the port.

        Args:
            answering: Gives the text of an answer from the body of a request.
        """
        self.turns_away, self.turned_away, self._lock = 2, 0, threading.Lock()
        super().__init__(_handler(answering, self))

    def is_busy(self) -> bool:
        """Tell whether a request comes too early, and count it."""
        with self._lock:
            early = self.turned_away < self.turns_away
            self.turned_away += early
            return early


def _handler(
    answering: Callable[[dict[str, Any]], str], server: AnsweringServer
) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if server.is_busy():
                self._send(503, {"error": {"message": "busy"}})
                return
            message = {"role": "assistant", "content": answering(body), "refusal": None}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            usage = {"prompt_tokens": 11, "completion_tokens": 9}
            self._send(200, {"choices": [choice], "usage": usage})

        def _send(self, status: int, content: dict[str, Any]) -> None:
            data = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler
