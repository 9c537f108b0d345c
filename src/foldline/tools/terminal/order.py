"""The order for the launcher: stages, limits and confinement; and a function to run it.

The launcher and its children cannot block this side: everything is read as it arrives, with a
limit, until a fixed deadline.
"""

from __future__ import annotations

import base64
import contextlib
import json
import math
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Event
from typing import Any, Final

from foldline.core.validation import positive, whole
from foldline.frozen import field, frozen
from foldline.tools.description import read_tables
from foldline.tools.terminal.language import Sink
from foldline.tools.terminal.paths import WorkingDirectory

FILE: Final = 64 << 20
"""The largest file that a command may write, in bytes."""

OPEN_FILES: Final = 256


@frozen
class TerminalLimits:
    """
    Limits of one call.

    Args:
        seconds: The timeout of a line.
        memory: The address space of each program, in bytes.
        output: The maximum output of a line in bytes; then it is stopped.
        processes: The maximum number of processes, if the system supports such a limit.
        visible_output: The maximum output returned to a model, in characters; the rest is stored.

    Raises:
        BudgetError: A number is out of range.
    """

    seconds: float = 30.0
    memory: int = 1 << 30
    output: int = 10 << 20
    visible_output: int = 30_000
    processes: int = 200

    def __post_init__(self) -> None:
        positive("terminal.seconds", self.seconds, 86_400)
        whole("terminal.memory", self.memory, 16 << 20)
        whole("terminal.output", self.output, 1_000)
        whole("terminal.visible_output", self.visible_output, 500)
        whole("terminal.processes", self.processes, 30)

    def resources(self) -> dict[str, int]:
        """Return the limits of each program by the names of the launcher."""
        return {
            "cpu": max(1, math.ceil(self.seconds)),
            "memory": self.memory,
            "file": FILE,
            "files": OPEN_FILES,
            "core": 0,
        }


@frozen
class Profile:
    """
    The permissions of one command.

    ``forks`` permits starting other programs; ``writes`` changing the workspace except ``.git``;
    ``git`` also ``.git``, except paths from which git runs programs; ``outside`` are paths that it
    may read. The last three are granted only by a person.
    """

    forks: bool = False
    writes: bool = False
    git: bool = False
    outside: tuple[str, ...] = ()


CONFINED: Final = read_tables("foldline.tools.terminal", "sandbox.toml")
VARIABLES: Final[Mapping[str, str]] = CONFINED["environment"]
"""The complete environment of a program."""

LIBRARIES: Final = ("/bin", "/lib", "/lib32", "/lib64")
LINKS: Final = ("/etc/alternatives", "/etc/ld.so.cache")
"""System paths besides ``/usr`` that programs may read in every confinement."""


@frozen
class PipelineStage:
    """One program of a pipeline, with the targets of its streams and its permissions."""

    arguments: tuple[str, ...]
    out: Sink = "out"
    err: Sink = "err"
    profile: Profile = field(default_factory=Profile)


def draft_order(
    stages: Sequence[tuple[PipelineStage, Sequence[str], bytes]],
    place: WorkingDirectory,
    limits: TerminalLimits,
    environment: Mapping[str, str] = VARIABLES,
) -> dict[str, Any]:
    """
    Return an order with no confinement but the filters.

    Args:
        stages: The stages, each with its actual arguments and its filter.
        place: The working directory.
        limits: The limits.
        environment: The environment.
    """
    return {
        "stages": [
            {
                "argv": list(words),
                "out": stage.out,
                "err": stage.err,
                "forks": stage.profile.forks,
                "filter": base64.b64encode(program).decode(),
            }
            for stage, words, program in stages
        ],
        "directory": place.directory,
        "identity": list(place.identity),
        "environment": dict(environment),
        "limits": limits.resources(),
        "seconds": limits.seconds,
        "processes": limits.processes,
        "landlock": None,
        "filter_by_descriptor": False,
    }


LAUNCHER: Final = str(Path(__file__).with_name("launcher.py"))

GRACE: Final = 12.0
"""The seconds in which the launcher must kill everything and report, before it is killed."""

TICK: Final = 0.2
"""The interval of checking for cancellation, in seconds."""

PIECE: Final = 1 << 16


@frozen
class PipelineOutcome:
    """
    The outcome of an order.

    ``codes`` has the exit code of each stage, None if it was killed; ``error`` is "" if all of
    them exited, "timeout", "output", "cancelled", or an error message.
    """

    stdout: bytes
    stderr: bytes
    codes: tuple[int | None, ...]
    error: str


def run_order(order: Mapping[str, Any], most: int, stop: Event | None = None) -> PipelineOutcome:
    """
    Run an order until all its stages have ended, or until its timeout.

    Args:
        order: The result of `Confinement.order`.
        most: The maximum output in bytes, both streams together.
        stop: Cancels the order when it is set.
    """
    begun = time.monotonic()
    read, write = os.pipe()
    try:
        process = subprocess.Popen(  # noqa: S603  # this interpreter and a file of this package
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
        why = f"The launcher cannot be started: {error.strerror}."
        return PipelineOutcome(b"", b"", (), why)
    finally:
        os.close(write)
    listening = _Listening(process, read, most, stop)
    try:
        listening.send(json.dumps(order).encode() + b"\n")
        listening.listen(begun + float(order["seconds"]))
    finally:
        listening.end()
        os.close(read)
    return listening.outcome()


class _Listening:
    def __init__(
        self, process: subprocess.Popen[bytes], report: int, most: int, stop: Event | None
    ) -> None:
        assert process.stdin is not None  # noqa: S101  # a pipe was requested
        self.process, self.most, self.stop = process, most, stop
        self.input = process.stdin
        self.pieces: dict[str, list[bytes]] = {"stdout": [], "stderr": [], "report": []}
        self.size = 0
        self.error = ""
        self.selector = selectors.DefaultSelector()
        streams = {"stdout": process.stdout, "stderr": process.stderr, "report": report}
        for name, source in streams.items():
            self.selector.register(source, selectors.EVENT_READ, name)  # type: ignore[arg-type]

    def send(self, line: bytes) -> None:
        with contextlib.suppress(BrokenPipeError):
            self.input.write(line)
            self.input.flush()

    def listen(self, until: float) -> None:
        """Read until all streams end; close the input to stop the launcher."""
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
        if key.data != "report":
            room = max(0, self.most - self.size)
            self.size += len(piece)
            piece = piece[:room]
        if piece:
            self.pieces[key.data].append(piece)

    def end(self) -> None:
        """Make sure that the launcher has ended."""
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

    def outcome(self) -> PipelineOutcome:
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
        return PipelineOutcome(out, err, codes, error)
