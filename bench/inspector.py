"""
Measure ``foldline inspect`` on a large session: loading, each page, a question, memory.

    python bench/inspector.py                   a session of 100 MB, and the report of one of 5 MB
    python bench/inspector.py --megabytes 400
    python bench/inspector.py --keep FILE       keep the session there

Seconds are processor time of the server and of its child processes (Linux reports both),
and wall time next to it, which is meaningless on a busy machine.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

from foldline.evaluation.sections import ReportSection, ReportTable
from part import finish, options_of
from synthetic import TASK, turn_of

QUESTION = "Why+does+the+ledger+lose+the+payment+rows+of+two+currencies%3F"
PAGES = {
    "over time": "",
    "what it forgot": "/forgotten",
    "where the tokens are": "/tokens",
    "a request": "/requests/900",
    "a name that nobody said": "/knows?q=zebra_crossing_441",
    "a sentence": "/knows?q=drops+rows+when+a+ledger",
    "a question": f"/knows?q={QUESTION}",
    "cost": "/cost",
}
AVERAGE = 2_000
"""Bytes per message: a session of 100 MB has 50,000."""


def write_session(path: Path, size: int) -> int:
    """Write a generated session of Claude Code, and return its number of messages."""
    rng = random.Random(7)  # noqa: S311  # draws text, not secrets
    count = written = 0
    turn: list[dict[str, Any]] = [{"role": "user", "content": TASK}]
    with path.open("w", encoding="utf-8") as file:
        while written < size:
            for message in turn:
                written += file.write(line(message, count))
                count += 1
            turn = turn_of(rng, count)
            over = max(0, written - count * AVERAGE)
            turn[-1]["content"] = turn[-1]["content"][: max(400, 4_600 - over)]
    return count


def line(message: dict[str, Any], number: int) -> str:
    """Write a message as a line of Claude Code's file."""
    content: Any = message["content"]
    body: dict[str, Any] = {"role": "user" if message["role"] == "tool" else message["role"]}
    if message["role"] == "tool":
        result = {"type": "tool_result", "tool_use_id": message["tool_call_id"]}
        content = [{**result, "content": content}]
    elif message["role"] == "assistant":
        (call,) = message["tool_calls"]
        given = json.loads(call["function"]["arguments"])
        use = {"type": "tool_use", "id": call["id"], "name": call["function"]["name"]}
        content = [{"type": "text", "text": content}, {**use, "input": given}]
        usage = {"input_tokens": 3, "cache_read_input_tokens": 50_000, "output_tokens": 80}
        body |= {"model": "claude-sonnet-4-5", "id": f"msg_{number}", "usage": usage}
    envelope = {
        "type": body["role"],
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}" if number else None,
        "sessionId": "s",
        "cwd": "/srv/shop",
        "message": {**body, "content": content},
    }
    return json.dumps(envelope) + "\n"


class Server:
    """A running ``foldline inspect``, measured from outside."""

    def __init__(self, child: subprocess.Popen[bytes], link: str) -> None:
        self._folder = Path("/proc") / str(child.pid)
        jar = urllib.request.HTTPCookieProcessor(CookieJar())
        self._opener = urllib.request.build_opener(jar)
        with self._opener.open(link) as answer:
            answer.read()
        self._base = link.partition("?")[0]

    def get(self, path: str) -> int:
        """Open a page of the session and return its status."""
        with self._opener.open(self._base + path) as answer:
            answer.read()
            return int(answer.status)

    def read(self, path: str) -> bytes:
        """Return the response of an address of the session."""
        with self._opener.open(self._base + path) as answer:
            return bytes(answer.read())

    def measure(self, work: Callable[[], Any]) -> tuple[float, float]:
        """Return the processor time and the wall time of some work, in seconds."""
        before, start = self._seconds(), time.monotonic()
        work()
        return self._seconds() - before, time.monotonic() - start

    def memory(self, name: str) -> int:
        """Return the memory of the server: ``VmRSS`` now, ``VmHWM`` at most, in bytes."""
        lines = (self._folder / "status").read_text().splitlines()
        return next(1_024 * int(one.split()[1]) for one in lines if one.startswith(name))

    def _seconds(self) -> float:
        fields = (self._folder / "stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def served(file: Path, home: Path) -> Iterator[Server]:
    command = [sys.executable, "-m", "foldline", "inspect", str(file), "--json", "-q"]
    environment = {**os.environ, "HOME": str(home), "FOLDLINE_HOME": str(home)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as child:
        assert child.stdout
        text = b""
        while not text.rstrip().endswith(b"}"):
            text += child.stdout.readline()
        try:
            yield Server(child, json.loads(text)["link"])
        finally:
            child.terminate()


def until(status: int, server: Server, path: str) -> None:
    while server.get(path) != status:
        time.sleep(0.05)


def pages_of(file: Path, home: Path, count: int) -> Iterator[list[Any]]:
    """Open every page of a session and yield rows: processor time, time, memory."""
    size = file.stat().st_size

    def row(name: str, seconds: tuple[float, float]) -> list[Any]:
        memory = (server.memory(one) / size for one in ("VmRSS", "VmHWM"))
        return [name, *(f"{one:.2f}" for one in (*seconds, *memory))]

    with served(file, home) as server:
        yield row("first paint", server.measure(lambda: server.get("")))
        yield row("complete", server.measure(lambda: until(200, server, "")))
        # Slow results for the other pages are computed in the background of the first one.
        yield row("prepared", server.measure(lambda: server.get("/tokens")))
        for name, path in PAGES.items():
            once = server.measure(lambda path=path: server.get(path))
            again = server.measure(lambda path=path: server.get(path))
            yield row(name, min(once, again) if "knows" in path else once)
        yield row("one more message", server.measure(lambda: grow(server, file, count)))


def grow(server: Server, file: Path, number: int) -> None:
    """Append a message and wait until the page shows it."""
    before = version(server)
    with file.open("a", encoding="utf-8") as out:
        out.write(line({"role": "user", "content": "Go on."}, number))
    while version(server) == before:
        time.sleep(0.2)


def version(server: Server) -> str:
    """Return the version of the session that the pages show."""
    return str(json.loads(server.read("/version"))["version"])


def report(folder: Path) -> list[Any]:
    """Write the report of a session of 5 MB and return a row."""
    file, out = folder / "small.jsonl", folder / "report.html"
    write_session(file, 5_000_000)
    command = [sys.executable, "-m", "foldline", "inspect", str(file), "-o", str(out), "-q"]
    before, start = os.times(), time.monotonic()
    subprocess.run(command, check=True, env={**os.environ, "FOLDLINE_HOME": str(folder)})
    after = os.times()
    seconds = sum(after[2:4]) - sum(before[2:4])
    return [round(seconds, 2), round(time.monotonic() - start, 2), out.stat().st_size / 1e6]


def main() -> None:
    """Make the session, open every page of it, print."""
    parser = options_of(__doc__)
    parser.add_argument("--megabytes", type=int, default=100, help="size of the session")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="keep the session in this file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = options.keep or folder / "large.jsonl"
        count = write_session(file, (10 if options.quick else options.megabytes) * 1_000_000)
        title = f"{file.stat().st_size / 1e6:,.0f} MB, {count:,} messages"
        pages = ReportTable(
            title,
            ("what", "CPU s", "wall s", "memory", "most memory"),
            tuple(tuple(row) for row in pages_of(file, folder, count)),
            "Memory of the server, as a multiple of the file.",
        )
        written = ReportTable(
            "The report of a session of 5 MB",
            ("CPU s", "wall s", "MB"),
            (tuple(report(folder)),),
        )
    finish(ReportSection("inspector", "The inspector", "", (pages, written)), options)


if __name__ == "__main__":
    main()
