"""The order for the launcher: stages, limits and how the kernel confines them; and running it.

Nothing that the launcher or its children do can block this side: all is read as it comes, with a
limit, until a moment that is fixed before.
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
    The bounds of one call.

    Args:
        seconds: What the whole line may take.
        memory: Address space of each program, in bytes.
        output: The most that is read of what a line says, in bytes; then it is stopped.
        processes: How many there may be at once, where the system lets us count them.
        visible_output: The most that a model is shown of it, in characters; the rest is kept.

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
        """Return the limits of each program, as the launcher names them."""
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
    What one command may do.

    ``forks`` lets it start other programs; ``writes`` lets it change the workspace but its
    ``.git``, ``git`` that one, too, but what git would run from there; ``outside`` are paths that
    it may read. The last three are only ever granted by a person.
    """

    forks: bool = False
    writes: bool = False
    git: bool = False
    outside: tuple[str, ...] = ()


CONFINED: Final = read_tables("foldline.tools.terminal", "sandbox.toml")
VARIABLES: Final[Mapping[str, str]] = CONFINED["environment"]
"""All that a program sees of an environment."""

LIBRARIES: Final = ("/bin", "/lib", "/lib32", "/lib64")
LINKS: Final = ("/etc/alternatives", "/etc/ld.so.cache")
"""What programs need of the system besides ``/usr``: every confinement lets them read it."""


@frozen
class PipelineStage:
    """One program of a pipeline, with where its streams go and what it may do."""

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
    Return an order without any confinement but its filters.

    Args:
        stages: Each with the words that are really run, and its filter.
        place: Where they run.
        limits: What they may take.
        environment: What they see.
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
"""What the launcher gets to kill everything and report, in seconds; then it is killed itself."""

TICK: Final = 0.2
"""How often it is looked whether somebody called the work off, in seconds."""

PIECE: Final = 1 << 16


@frozen
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


def run_order(order: Mapping[str, Any], most: int, stop: Event | None = None) -> PipelineOutcome:
    """
    Run an order until all its stages have ended, or for as long as it says.

    Args:
        order: What `Confinement.order` drafted.
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
        assert process.stdin is not None  # noqa: S101  # asked for above
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
        if key.data != "report":
            room = max(0, self.most - self.size)
            self.size += len(piece)
            piece = piece[:room]
        if piece:
            self.pieces[key.data].append(piece)

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
