"""The proxy under load: added latency of one request, and two hundred concurrent sessions."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from proxy_wire import Line

TOOLS_BYTES, BODY_BYTES = 74_000, 85_000
"""Size of a request of Claude Code: most of it is tools."""

TURNS = 40
"""Requests per session; then another session begins, whose first request is not counted."""


@dataclass
class Times:
    """Seconds of answered requests, and the number of failed ones."""

    first: list[float]
    last: list[float]
    errors: int = 0

    @staticmethod
    def at(values: list[float], part: float) -> float:
        """Return a quantile, in milliseconds."""
        ordered = sorted(values)
        return 1_000 * ordered[min(len(ordered) - 1, int(part * len(ordered)))]

    def ms(self, part: float) -> tuple[float, float]:
        """Return a quantile of the first and of the last byte, in milliseconds."""
        return self.at(self.first, part), self.at(self.last, part)


@dataclass
class Running:
    """A program that is measured."""

    process: subprocess.Popen[str]
    url: str

    def cpu(self) -> float:
        """Return its CPU seconds so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident(self) -> float:
        """Return its current memory, in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1_000


@contextmanager
def started(*words: str) -> Iterator[Running]:
    """Start a program that prints its address, and end it afterwards."""
    process = subprocess.Popen(
        [sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    try:
        yield Running(process, process.stdout.readline().strip())
    finally:
        process.terminate()
        process.wait(20)


def proxy(upstream: str, *words: str) -> tuple[str, ...]:
    """Return the command that starts a proxy."""
    return ("-m", "foldline", "serve", "--upstream", upstream, "--quiet", *words)


class Talk:
    """
    A session of a client that sends 85 KB each time, tools included.

    Args:
        name: Part of the first message, so that every session is distinct.
    """

    def __init__(self, name: str) -> None:
        tools = [
            {"name": f"tool_{n}", "description": "It does it. " * 60, "input_schema": _schema(n)}
            for n in range(25)
        ]
        self._head = {"model": "claude-sonnet-4-5", "max_tokens": 8_000, "stream": True}
        self._head |= {"system": "Be brief.", "tools": tools}
        size = len(json.dumps(self._head))
        assert size < BODY_BYTES
        first = f"{name}: " + "The build fails on one machine only. " * 10_000
        self._messages = [{"role": "user", "content": first[: BODY_BYTES - size - 4_000]}]

    def next(self) -> bytes:
        """Return the next request."""
        body = json.dumps(self._head | {"messages": self._messages}).encode()
        turn = len(self._messages)
        answer = [{"type": "text", "text": f"Looked at it, {turn}."}]
        self._messages.append({"role": "assistant", "content": answer})
        self._messages.append({"role": "user", "content": f"Go on, {turn}."})
        return body


def _schema(number: int) -> dict[str, object]:
    text = {"type": "string", "description": "What is meant by this one. " * 8}
    return {"type": "object", "properties": {f"field_{number}_{n}": text for n in range(9)}}


async def latency(urls: dict[str, str], requests: int) -> dict[str, Times]:
    """Send the same requests in turn to several addresses, one at a time."""
    lines = {name: Line(url) for name, url in urls.items()}
    times = {name: Times([], []) for name in urls}
    for number in range(requests):
        if number % TURNS == 0:
            talk = Talk(f"session {number // TURNS}")
        body = talk.next()
        for name, line in lines.items():
            status, first, last = await line.ask(body)
            assert status == 200, status
            if number % TURNS:
                times[name].first.append(first)
                times[name].last.append(last)
    for line in lines.values():
        line.close()
    return times


async def load(url: str, sessions: int, rate: float, seconds: float) -> Times:
    """Send requests at a rate, from many sessions in turn, without waiting for answers."""
    talks = [(Talk(f"agent {n}"), Line(url), asyncio.Lock()) for n in range(sessions)]
    times, loop = Times([], []), asyncio.get_running_loop()
    began, waiting = loop.time(), set()

    async def one(talk: Talk, line: Line, lock: asyncio.Lock) -> None:
        async with lock:
            try:
                status, first, last = await line.ask(talk.next())
            except (OSError, asyncio.IncompleteReadError, ValueError):
                status = 0
            if status != 200:
                times.errors += 1
                return
            times.first.append(first)
            times.last.append(last)

    for number in range(int(rate * seconds)):
        await asyncio.sleep(max(0.0, began + number / rate - loop.time()))
        task = asyncio.ensure_future(one(*talks[number % sessions]))
        waiting.add(task)
        task.add_done_callback(waiting.discard)
    await asyncio.gather(*waiting)
    for _, line, _ in talks:
        line.close()
    return times


def difference(through: Times, direct: Times, part: float) -> tuple[float, float]:
    """Return the delay of a quantile of first and last byte, in milliseconds."""
    (first, last), (own_first, own_last) = through.ms(part), direct.ms(part)
    return first - own_first, last - own_last


def mean(values: list[float]) -> float:
    """Return the mean, in milliseconds."""
    return 1_000 * statistics.fmean(values)
