"""A real server on a free port of the loopback, in a thread of its own for as long as it is used.

class Answering(LoopbackServer): ...
with Answering(handler) as server: server.url   ->  "http://127.0.0.1:40123/v1"
"""

import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self


class PatientServer(ThreadingHTTPServer):
    """Keeps many connections waiting; of those that come at once the default, 5, resets some."""

    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is no fault of a server; whatever else fails is printed."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class LoopbackServer:
    """Serves between entering and leaving.

    Attributes:
        url: Its address.
    """

    def __init__(self, handler: type[BaseHTTPRequestHandler], *, port: int = 0) -> None:
        """Open the port.

        Args:
            handler: Answers one request.
            port: Its number; 0 for a free one.
        """
        self._server = PatientServer(("127.0.0.1", port), handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
