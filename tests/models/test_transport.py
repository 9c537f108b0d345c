"""Misbehaving HTTP servers: redirects, oversized and slow responses, compression."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import monotonic

import pytest
from tests.models.conftest import KEY

from foldline.core.asks import Ask
from foldline.errors import ModelError
from foldline.models import model
from foldline.models.transport import redirect_within

PLACE = "https://a.example/x"

ANSWER = b'{"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]}'


class Server(ThreadingHTTPServer):
    """Answers every POST with ``play(handler)`` and records the requests."""

    daemon_threads = True

    def __init__(self, play) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.play = play
        self.seen: list[tuple[str, dict[str, str]]] = []
        self.gone = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.seen.append((self.path, {k.lower(): v for k, v in self.headers.items()}))
        try:
            self.server.play(self)
        except OSError:
            self.server.gone.set()

    def reply(self, status: int, body: bytes = ANSWER, **headers: str) -> None:
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key.replace("_", "-"), value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args) -> None:
        pass


@contextmanager
def serving(play) -> Iterator[Server]:
    server = Server(play)
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
    )
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def ask(server: Server, **limits):
    with model("openai:m", base_url=f"{server.url}/v1", api_key=KEY) as client:
        return client.answer(Ask("x", 10, **{"seconds": 10.0, **limits}))


def test_a_redirect_to_another_host_receives_neither_key_nor_prompt():
    with serving(lambda h: h.reply(200)) as other:
        for status in (301, 302, 303, 307, 308):
            with serving(lambda h, s=status: h.reply(s, b"", location=other.url)) as server:
                reply = ask(server, attempts=3)
                assert len(server.seen) == 1
            assert "redirects" in reply.error
            assert not reply.retry
        assert other.seen == []


@pytest.mark.parametrize("header", ["anthropic", "openai"])
def test_a_redirect_within_the_host_keeps_the_key(header):
    def play(handler) -> None:
        moved = handler.path.startswith("/new")
        handler.reply(200) if moved else handler.reply(308, b"", location="/new/place")

    with serving(play) as server:
        assert ask(server).text == "ok"
        assert [path for path, _ in server.seen] == ["/v1/chat/completions", "/new/place"]
        assert all(KEY in headers["authorization"] for _, headers in server.seen)


def test_a_redirect_loop_ends():
    with serving(lambda h: h.reply(307, b"", location=h.path)) as server:
        reply = ask(server)
        assert len(server.seen) <= 5
    assert "loop" in reply.error


@pytest.mark.parametrize("location", ["", "//evil.example/", "http://[", "javascript:alert(1)"])
def test_a_redirect_to_nowhere_is_an_error(location):
    def play(handler) -> None:
        # "" is the same URL again, which is a loop.
        handler.reply(307, b"", location=location)

    with serving(play) as server:
        url = f"{server.url}/v1"
        with model("openai:m", base_url=url, api_key=KEY) as client, pytest.raises(ModelError):
            client.complete([{"role": "user", "content": "x"}])


def test_a_response_that_is_too_large_is_cut_off():
    def play(handler) -> None:
        handler.send_response(200)
        handler.end_headers()
        for _ in range(4_000):
            handler.wfile.write(b" " * 65_536)

    with serving(play) as server:
        reply = ask(server)
        assert server.gone.wait(10)
    assert "larger than" in reply.error
    assert not reply.retry


def test_a_slow_response_ends_at_the_deadline():
    def play(handler) -> None:
        handler.send_response(200)
        handler.end_headers()
        for _ in range(400):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            if server.gone.wait(0.05):
                return

    with serving(play) as server:
        began = monotonic()
        reply = ask(server, seconds=0.4)
        assert monotonic() - began < 1.5
        server.gone.wait(5)
    assert "in time" in reply.error


def test_uncompressed_responses_are_requested_and_compressed_ones_rejected():
    def play(handler) -> None:
        handler.reply(200, gzip.compress(ANSWER), content_encoding="gzip")

    with serving(play) as server:
        reply = ask(server)
        assert server.seen[0][1]["accept-encoding"] == "identity"
    assert "compressed" in reply.error


def test_a_body_shorter_than_its_content_length_is_an_error():
    def play(handler) -> None:
        handler.send_response(200)
        handler.send_header("content-length", str(len(ANSWER) + 5))
        handler.end_headers()
        handler.wfile.write(ANSWER)
        handler.close_connection = True

    with serving(play) as server:
        reply = ask(server)
    assert (reply.text, reply.retry) == ("", True)


def test_a_host_that_does_not_exist_is_an_error_without_the_key():
    with model("openai:m", base_url="http://nowhere.invalid/v1", api_key=KEY) as client:
        reply = client.answer(Ask("x", 10, seconds=5.0))
    assert reply.error
    assert KEY not in repr(reply)


@pytest.mark.parametrize("location", ["https://a.example:443/y", "/y", "y", "//a.example/y"])
def test_a_redirect_within_the_same_origin_is_followed(location):
    assert redirect_within(PLACE, location) in ("https://a.example/y", "https://a.example:443/y")


@pytest.mark.parametrize(
    "location",
    [
        "http://a.example/x",
        "https://a.example:444/x",
        "https://a.example.evil/x",
        "https://u@a.example/x",
        "https://[a.example/x",
        "https://a.example:port/x",
        "mailto:a@a.example",
    ],
)
def test_a_redirect_to_another_port_scheme_host_or_user_is_not_followed(location):
    assert redirect_within(PLACE, location) == ""
