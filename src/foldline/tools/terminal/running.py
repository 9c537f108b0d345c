"""
Running an order: the launcher is started, listened to, and stopped when it takes or says too much.

Nothing that the launcher or its children do can block this side: all is read as it comes, with a
limit, until a moment that is fixed before.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any, Final

from foldline.tools.terminal.confine.order import encode_order

LAUNCHER: Final = str(Path(__file__).with_name("confine") / "launcher.py")

GRACE: Final = 12.0
"""What the launcher gets to kill everything and report, in seconds; then it is killed itself."""

TICK: Final = 0.2
"""How often it is looked whether somebody called the work off, in seconds."""

PIECE: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class PipelineOutcome:
    """
    What came of an order.

    ``codes`` has the exit code of each stage, None where it was killed; ``error`` is "" when all
    of them ended by themselves, "timeout", "output", "cancelled", or what was wrong.
    """

    stdout: bytes
    stderr: bytes
    codes: tuple[int | None, ...]
    error: str
    seconds: float


def run_order(order: Mapping[str, Any], most: int, stop: Event | None = None) -> PipelineOutcome:
    """
    Run an order until all its stages have ended, or for as long as it says.

    Args:
        order: What `confine.order` drafted.
        most: How many bytes of its output are read, both streams together.
        stop: Calls it off when it is set.
    """
    begun = time.monotonic()
    read, write = os.pipe()
    try:
        process = subprocess.Popen(  # noqa: S603  # this interpreter and a file of our own
            [sys.executable, "-I", "-S", "-B", LAUNCHER, str(write)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(write,),
            env={},
            cwd="/",
            start_new_session=True,
        )
    except OSError as error:
        os.close(read)
        return PipelineOutcome(
            b"", b"", (), f"The launcher cannot be started: {error.strerror}.", 0.0
        )
    finally:
        os.close(write)
    listening = _Listening(process, read, most, stop)
    try:
        listening.send(encode_order(order))
        listening.listen(begun + float(order["seconds"]))
    finally:
        listening.end()
        os.close(read)
    return listening.outcome(time.monotonic() - begun)


class _Listening:
    def __init__(
        self, process: subprocess.Popen[bytes], report: int, most: int, stop: Event | None
    ) -> None:
        assert process.stdin is not None  # noqa: S101  # asked for above
        self.process, self.most, self.stop = process, most, stop
        self.input = process.stdin
        self.pieces: dict[str, list[bytes]] = {"stdout": [], "stderr": [], "report": []}
        self.size = 0
        self.error = ""
        self.selector = selectors.DefaultSelector()
        for name, number in (
            ("stdout", process.stdout),
            ("stderr", process.stderr),
            ("report", report),
        ):
            self.selector.register(number, selectors.EVENT_READ, name)  # type: ignore[arg-type]

    def send(self, line: bytes) -> None:
        with contextlib.suppress(BrokenPipeError):
            self.input.write(line)
            self.input.flush()

    def listen(self, until: float) -> None:
        """Read until all has been said; close the input when it has to stop."""
        while self.selector.get_map():
            now = time.monotonic()
            if not self.error and (why := self._why_stop(now >= until)):
                self.error = why
                with contextlib.suppress(OSError):
                    self.input.close()
            if now >= until + GRACE:
                return
            for key, _ in self.selector.select(TICK):
                self._take(key)

    def _why_stop(self, late: bool) -> str:
        if late:
            return "timeout"
        if self.size > self.most:
            return "output"
        return "cancelled" if self.stop is not None and self.stop.is_set() else ""

    def _take(self, key: selectors.SelectorKey) -> None:
        piece = os.read(key.fd, PIECE)
        if not piece:
            self.selector.unregister(key.fileobj)
            return
        if key.data == "report":
            self.pieces["report"].append(piece)
            return
        room = self.most - self.size
        self.size += len(piece)
        if room > 0:
            self.pieces[key.data].append(piece[:room])

    def end(self) -> None:
        """See that the launcher is gone, whatever it does."""
        self.selector.close()
        with contextlib.suppress(OSError):
            self.input.close()
        try:
            self.process.wait(timeout=GRACE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()

    def outcome(self, seconds: float) -> PipelineOutcome:
        codes: tuple[int | None, ...] = ()
        error = self.error
        try:
            report = json.loads(b"".join(self.pieces["report"]))
            codes = tuple(report["codes"])
            message = str(report["error"])
            if message == "stopped":
                error = error or "timeout"
            elif message:
                error = f"The command {message}."
        except (ValueError, KeyError, TypeError):
            error = error or "The launcher ended without a report."
        out, err = (b"".join(self.pieces[name]) for name in ("stdout", "stderr"))
        return PipelineOutcome(out, err, codes, error, seconds)
