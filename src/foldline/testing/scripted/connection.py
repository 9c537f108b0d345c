"""
A client connection: read requests and send responses.

Built on the standard library's server: responses can be cut, stalled and malformed at any byte,
which test servers do not support.
"""

from __future__ import annotations

import contextlib
import json
import select
import socket
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Final, TypeAlias

from foldline.testing.scripted.response import Response, frame

LARGEST: Final = 64 * 1024 * 1024
"""Maximum size of a request, in bytes."""

IDLE: Final = 60.0
"""Seconds without a byte after which a connection is closed."""


Responder: TypeAlias = Callable[[str, str, dict[str, str], Any], Response]
"""Returns the response to method, path, headers and body (None if not JSON) of a request."""


class Listener(ThreadingHTTPServer):
    """Accepts connections, each in its own thread, and can close them all."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, respond: Responder) -> None:
        self.respond = respond
        self.open: set[socket.socket] = set()
        self.ended = threading.Event()
        self.failures: list[BaseException] = []
        super().__init__(("127.0.0.1", 0), ScriptedConnection)

    def server_bind(self) -> None:
        """Bind without a host name lookup, which may take seconds."""
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        """Add a connection to the list of open ones."""
        self.open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Close a finished connection."""
        super().shutdown_request(request)
        self.open.discard(request)
        self.ended.set()

    def hang_up(self) -> None:
        """Close every connection, in any state."""
        self.ended.clear()
        for connection in tuple(self.open):
            with contextlib.suppress(OSError):  # It is closed already.
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, _request: Any, _client_address: Any) -> None:
        """Record an error; a disconnected client is not an error."""
        error = sys.exception()
        if error is not None and not isinstance(error, OSError):
            self.failures.append(error)


class ScriptedConnection(BaseHTTPRequestHandler):
    """A connection; the standard library defines the names of its methods."""

    server: Listener
    protocol_version = "HTTP/1.1"
    timeout: ClassVar[float] = IDLE
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # named by the base class
        """Log nothing: requests are recorded."""

    def do_POST(self) -> None:
        """Answer a request with a body."""
        size = self.headers.get("content-length", "")
        if not size.isdecimal() or int(size) > LARGEST:
            self.close_connection = True
            self.send_error(413 if size.isdecimal() else 411)
            return
        data = self.rfile.read(int(size))
        if len(data) < int(size):
            self.close_connection = True  # The client disconnected before it had sent everything.
            return
        try:
            body = json.loads(data)
        except (ValueError, RecursionError):
            body = None
        self._answer(body)

    def do_GET(self) -> None:
        """Answer a request without a body."""
        self._answer(None)

    def do_HEAD(self) -> None:
        """Answer a HEAD request, which some clients send first."""
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def _answer(self, body: Any) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        path = self.path.partition("?")[0]
        response = self.server.respond(self.command, path, headers, body)
        try:
            self._send(response)
        except OSError:
            self.close_connection = True  # The client disconnected, or the server is closing.

    def _send(self, response: Response) -> None:
        if response.after == 0:
            self._end(response)
            return
        self.send_response(response.status)
        self.send_header("content-type", response.type)
        self.send_header("request-id", "req_scripted")
        self.send_header("x-request-id", "req_scripted")
        for name, value in response.headers.items():
            self.send_header(name, value)
        if response.is_stream:
            self.send_header("transfer-encoding", "chunked")
        else:
            self.send_header("content-length", str(sum(map(len, response.chunks))))
        self.end_headers()
        left = response.after
        for data in frame(response):
            self.wfile.write(data if left is None else data[:left])
            if left is not None:
                left = max(0, left - len(data))
        if response.ending != "done":
            self._end(response)

    def _end(self, response: Response) -> None:
        """Leave a response unfinished: at once, or when the client or the server closes."""
        self.close_connection = True
        if response.ending == "stalled":
            self._hold(response.seconds)

    def _hold(self, seconds: float | None) -> None:
        """Wait until the other side closes, the server hangs up, or the time is up."""
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                return
            ready, _, _ = select.select([self.connection], [], [], left)
            # Further input is read and discarded, to detect the end after it.
            if ready and not self.connection.recv(65_536):
                return
