"""Running an agent in the foreground with proxies beside it, which end with it."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from foldline.errors import FoldlineError, InputError

STARTING: Final = 60.0
"""Seconds that a proxy has for telling its address."""

ENDING: Final = 15.0
"""Seconds that it has for ending, after which it is killed."""

ASKING: Final = 5.0
"""Seconds in which it has to tell its totals."""

LARGEST_LOG: Final = 10_000_000
"""Bytes from which on the log of the proxies begins anew."""

FORWARDED: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy that runs: its address and its process."""

    address: str
    process: subprocess.Popen[bytes]

    def totals(self) -> dict[str, Any]:
        """Ask for the totals; empty when the proxy does not answer."""
        place = urlsplit(self.address)
        connection = HTTPConnection(place.hostname or "", place.port, timeout=ASKING)
        try:
            connection.request("GET", "/healthz")
            told = json.loads(connection.getresponse().read(1 << 20))
        except (OSError, HTTPException, ValueError):
            return {}
        finally:
            connection.close()
        return told if isinstance(told, dict) else {}


@contextmanager
def proxy(options: Sequence[str], log: Path) -> Iterator[Proxy]:
    """
    Run ``foldline serve`` on a free port, as long as the block runs.

    Args:
        options: Of the command.
        log: A file for its lines.

    Raises:
        FoldlineError: It does not start; the error says what it said.
    """
    with _log(log) as lines:
        start = lines.tell()
        process = subprocess.Popen(  # noqa: S603  # this program itself
            [sys.executable, "-m", "foldline", "serve", "--port", "0", *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=lines,
            # What is typed at the terminal is for the client.
            start_new_session=True,
        )
    try:
        yield Proxy(_address(process, log, start), process)
    finally:
        _end(process)


def _log(path: Path) -> Any:
    fresh = path.exists() and path.stat().st_size > LARGEST_LOG
    flags = os.O_CREAT | os.O_WRONLY | os.O_APPEND | (os.O_TRUNC if fresh else 0)
    file = os.fdopen(os.open(path, flags, 0o600), "ab")
    file.seek(0, os.SEEK_END)
    return file


def _address(process: subprocess.Popen[bytes], log: Path, start: int) -> str:
    assert process.stdout is not None  # noqa: S101  # it was asked for
    ready, _, _ = select.select([process.stdout], [], [], STARTING)
    address = process.stdout.readline().decode("utf-8", "replace").strip() if ready else ""
    if address.startswith("http://"):
        return address
    with log.open("rb") as file:
        file.seek(start)
        said = file.read(4_000).decode("utf-8", "replace").strip()
    reason = said.splitlines()[-1] if said else f"no word in {STARTING:.0f} seconds"
    raise FoldlineError(f"The proxy did not start: {reason.removeprefix('foldline: ')}")


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(ENDING)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if process.stdout is not None:
        process.stdout.close()


@contextmanager
def proxies(options: Mapping[str, Sequence[str]], log: Path) -> Iterator[Mapping[str, Proxy]]:
    """Run a proxy for each provider, as long as the block runs; see `proxy`."""
    with ExitStack() as stack:
        yield {name: stack.enter_context(proxy(one, log)) for name, one in options.items()}


# --- the client ----------------------------------------------------------------------------


def run_client(command: Sequence[str], env: Mapping[str, str]) -> int:
    """
    Run a program in the foreground, pass signals on to it, and return its exit code.

    One that a signal ended has the code that a shell gives it: 128 and the number of the signal.

    Raises:
        InputError: It cannot be run.
    """
    with _forwarding() as forward:
        try:
            client = subprocess.Popen(list(command), env=dict(env))  # noqa: S603  # the user's own
        except OSError as error:
            raise InputError(f"{command[0]} cannot be run: {error.strerror or error}") from error
        forward(client)
        code = client.wait()
    return 128 - code if code < 0 else code


@contextmanager
def _forwarding() -> Iterator[Callable[[subprocess.Popen[bytes]], None]]:
    """Pass signals on to a client, as soon as there is one."""
    clients, early = list[subprocess.Popen[bytes]](), list[int]()

    def passed(number: int, _: object) -> None:
        if not clients:
            early.append(number)
        elif not (number in (signal.SIGINT, signal.SIGQUIT) and _at_terminal()):
            clients[0].send_signal(number)

    def forward(client: subprocess.Popen[bytes]) -> None:
        clients.append(client)
        for number in early:
            client.send_signal(number)

    before = {number: signal.signal(number, passed) for number in FORWARDED}
    try:
        yield forward
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _at_terminal() -> bool:
    """Return True if the terminal itself sends the client what is typed, such as Ctrl-C."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


# --- what was saved ------------------------------------------------------------------------


def saved(totals: Sequence[Mapping[str, Any]]) -> str:
    """Return a sentence about what passed, for people; "" when nothing did."""
    requests = _sum(totals, "requests")
    if not requests:
        return ""
    before, less = _sum(totals, "tokens_before"), _sum(totals, "tokens_saved")
    usage = [one.get("usage", {}) for one in totals]
    cached = _sum(usage, "cache_read")
    given = cached + _sum(usage, "input") + _sum(usage, "cache_write")
    words = [f"{requests:,} requests, {_sum(totals, 'compactions'):,} compactions"]
    if before:
        words.append(f"{less:,} of {before:,} tokens of input were not sent ({less / before:.0%})")
    if given:
        words.append(f"the provider read {cached / given:.0%} of its input from its cache")
    failed = _sum(totals, "failed_open")
    if failed:
        words.append(f"{failed:,} requests went out as they came, because something failed here")
    return f"Foldline: {'; '.join(words)}."


def _sum(rows: Sequence[Mapping[str, Any]], key: str) -> int:
    return sum(int(row.get(key) or 0) for row in rows)
