"""Replay recorded sessions through the real proxy, and record the requests to its provider."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import cuts
from foldline.evaluation.pricing import Bill, Show, Wire, replay
from payers import counter

LEAST_STEPS = 20
"""Minimum answers of a session, as in the measurement of cost."""


def histories(shared: Path, every: int = 1) -> list[tuple[str, Wire]]:
    """Read the recorded sessions as OpenAI messages without their system prompts."""
    found = []
    for name, steps in cuts.sessions(shared):
        if sum(step["role"] == "assistant" for step in steps) >= LEAST_STEPS:
            conversation = [step for step in steps if step["role"] != "system"]
            found.append((name, cuts.tool(shared, "retention").openai(conversation)))
    return found[::every]


@dataclass
class Replayed:
    """
    The result of one way of sending.

    ``kept`` of ``between`` requests, those without a compaction before, began with all the bytes
    of the messages of the previous one.
    """

    bill: Bill
    between: int = 0
    kept: int = 0
    compactions: int = 0

    @property
    def cached(self) -> float:
        """The share of the input that was read from the cache."""
        usage = self.bill.usage
        return usage.cache_read / max(1, usage.cache_read + usage.cache_write)


class Recorder(ThreadingHTTPServer):
    """A provider that records the last request body, and returns a minimal answer."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.body = b""
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_port}"


class _Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Recorder

    def do_POST(self) -> None:
        self.server.body = self.rfile.read(int(self.headers["content-length"]))
        answer = b'{"choices":[]}'
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: Any) -> None:
        pass


@dataclass
class Through:
    """Sends a history through a proxy, and returns what the provider received."""

    proxy: str
    recorder: Recorder
    actions: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    _line: http.client.HTTPConnection | None = None

    def __call__(self, history: Wire) -> Wire:
        """Send a history."""
        if self._line is None:
            self._line = http.client.HTTPConnection(urlsplit(self.proxy).netloc)
        body = json.dumps({"model": "m", "messages": history}, ensure_ascii=False)
        data = body.encode("utf-8", "backslashreplace")
        self._line.request("POST", "/v1/chat/completions", data)
        answer = self._line.getresponse()
        answer.read()
        assert answer.status == 200, answer.status
        self.actions.append(answer.getheader("x-foldline-action") or "")
        sent = self.recorder.body
        self.bodies.append(sent[: sent.rindex(b"]")])
        found: Wire = json.loads(sent)["messages"]
        return found

    def close(self) -> None:
        """Close the connection."""
        if self._line is not None:
            self._line.close()


def through_proxy(
    cases: Sequence[tuple[str, Wire]], proxy: str, recorder: Recorder, window: int
) -> Replayed:
    """Replay sessions through a proxy, one after the other."""
    total, counts = Replayed(Bill(_none(), 0, 0)), counter()
    for _, history in cases:
        with _sent(proxy, recorder) as show:
            total.bill += replay(history, show, window, counts)
        failed = {"failed", "unread"}.intersection(show.actions)
        assert not failed, f"{failed} while nothing was wrong"
        total.compactions += show.actions.count("compacted")
        for now, action, before in zip(
            show.bodies[1:], show.actions[1:], show.bodies, strict=False
        ):
            if action != "compacted":
                total.between += 1
                total.kept += now.startswith(before)
    return total


@contextmanager
def _sent(proxy: str, recorder: Recorder) -> Iterator[Through]:
    show = Through(proxy, recorder)
    try:
        yield show
    finally:
        show.close()


def inside(cases: Sequence[tuple[str, Wire]], shows: Iterator[Show], window: int) -> Replayed:
    """Replay sessions within this process."""
    total, counts = Replayed(Bill(_none(), 0, 0)), counter()
    for (_, history), show in zip(cases, shows, strict=False):
        total.bill += replay(history, show, window, counts)
    return total


def _none() -> Any:
    from foldline.values.messages import Usage

    return Usage()
