"""A small real server on the loopback that is spoken to as OpenAI's are, and answers well.

with AnsweringServer(lambda body: '{"verdicts": []}') as server: server.url
"""

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.loopback_server import LoopbackServer


class AnsweringServer(LoopbackServer):
    """Answers each request."""

    def __init__(self, answering: Callable[[dict[str, Any]], str]) -> None:
        """Open the port.

        Args:
            answering: Gives the text of an answer from the body of a request.
        """
        super().__init__(_handler(answering))


def _handler(answering: Callable[[dict[str, Any]], str]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            message = {"role": "assistant", "content": answering(body), "refusal": None}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            usage = {"prompt_tokens": 11, "completion_tokens": 9}
            data = json.dumps({"choices": [choice], "usage": usage}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler
