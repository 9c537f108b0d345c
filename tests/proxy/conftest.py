"""A provider that records the exact bytes of requests, and a proxy in a real process."""

import http.client
import json
import socketserver
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.children import PATIENCE, Child, launch

KEY = "sk-ant-secret-0123456789abcdef"


@dataclass
class Sent:
    """A request as received by the provider."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def messages(self) -> list[Any]:
        value = json.loads(self.body)
        return value.get("messages", value.get("input"))

    def header(self, name: str) -> str | None:
        return next((v for n, v in self.headers if n.lower() == name), None)


CLOSED = {"connection": "close"}
"""Said because it is done: a connection must not be used for another request meanwhile."""


def plain(value: Any, status: int = 200, **headers: str) -> bytes:
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    head = {
        "content-type": "application/json",
        "content-length": str(len(body)),
        **CLOSED,
        **headers,
    }
    lines = "".join(f"{name}: {text}\r\n" for name, text in head.items())
    return f"HTTP/1.1 {status} X\r\n{lines}\r\n".encode() + body


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


STREAM = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
    b"transfer-encoding: chunked\r\nconnection: close\r\n\r\n"
)


def answer(text: str = "ok", **usage: int) -> dict[str, Any]:
    counts = {"input_tokens": 0, "output_tokens": 0} | usage
    return {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": text}],
        **({"usage": counts} if usage else {}),
    }


class Upstream(socketserver.ThreadingTCPServer):
    """Sends the pieces that ``reply`` yields, and then closes the connection."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.sent: list[Sent] = []
        self.reply: Callable[[Sent], Any] = lambda _: plain(answer())
        self.gone = threading.Event()
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, *_: Any) -> None:
        self.gone.set()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Upstream

    def log_message(self, *_: Any) -> None:
        pass

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        pieces = []
        while size := int(self.rfile.readline(), 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)

    def handle_one_request(self) -> None:
        self.raw_requestline = self.rfile.readline(65_537)
        if not self.raw_requestline or not self.parse_request():
            self.close_connection = True
            return
        sent = Sent(self.command, self.path, list(self.headers.items()), self._body())
        self.server.sent.append(sent)
        reply = self.server.reply(sent)
        for piece in (reply,) if isinstance(reply, bytes) else reply:
            self.wfile.write(piece)
            self.wfile.flush()
        self.close_connection = True


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    def report(self, name: str) -> str | None:
        return self.headers.get(f"x-foldline-{name}")


@dataclass
class Proxy:
    """A proxy, and a client of it."""

    child: Child
    url: str
    log: Any
    path: str = "/v1/messages"
    headers: dict[str, str] = field(default_factory=lambda: {"x-api-key": KEY})

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=PATIENCE)

    def send(
        self,
        body: Any,
        path: str = "",
        method: str = "POST",
        headers: dict[str, str] | None = None,
    ) -> Answer:
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        connection = self.connect()
        try:
            everything = {"content-type": "application/json"} | self.headers | (headers or {})
            connection.request(method, path or self.path, data, everything)
            response = connection.getresponse()
            heads = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, heads, response.read())
        finally:
            connection.close()

    def totals(self) -> dict[str, Any]:
        return json.loads(self.send(None, "/healthz", "GET").body)

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def stop(self) -> int:
        self.child.terminate()
        return self.child.wait(PATIENCE)


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream() as server:
        yield server
        server.shutdown()


def started(upstream: str, folder: Path, *words: str, starting: Any = launch) -> Proxy:
    """Start a proxy for an upstream, with its archive and log in the folder."""
    log = folder / f"{len(list(folder.glob('*.log')))}.log"
    archive = () if "--db" in words else ("--db", folder / "a.db")
    command = [sys.executable, "-m", "foldline", "serve", "--upstream", upstream]
    with log.open("w") as into:
        child = starting(
            [*command, *archive, *words], stdout=subprocess.PIPE, stderr=into, text=True
        )
    address = child.stdout.readline().strip()
    assert address, log.read_text()
    return Proxy(child, address, log)


@pytest.fixture
def serve(upstream, tmp_path) -> Callable[..., Proxy]:
    """Start a proxy for the upstream, with further command line arguments."""
    return lambda *words, at="": started(at or upstream.url, tmp_path, *words)


@pytest.fixture(scope="module")
def running(tmp_path_factory) -> Iterator[tuple[Upstream, Proxy]]:
    """A proxy with default arguments and its upstream, shared by many tests."""
    with Upstream() as server:
        proxy = started(server.url, tmp_path_factory.mktemp("proxy"), starting=Child)
        with proxy.child:
            yield server, proxy
            proxy.child.kill()
        server.shutdown()


@pytest.fixture
def shared(running) -> tuple[Upstream, Proxy]:
    """The same, reset except for the archive and the totals."""
    server, proxy = running
    server.sent, server.reply = [], lambda _: plain(answer())
    return server, proxy


def talk(turns: int, words: int = 300) -> list[dict[str, Any]]:
    """Create a conversation that ends with a user message."""
    messages: list[dict[str, Any]] = []
    for turn in range(turns):
        said = f"question {turn} " + f"word{turn} " * words
        messages.append({"role": "user", "content": said})
        messages.append(
            {"role": "assistant", "content": [{"type": "text", "text": f"reply {turn}"}]}
        )
    return messages[:-1]


def request(messages: list[Any], **more: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 500, "messages": messages, **more}
