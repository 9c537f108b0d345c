"""
The self-test: it tries to escape, in a workspace made for it, with the real launcher.

A mode whose test succeeds in anything does not exist. Nothing else decides: no version, no name of
a system, no presence of a program.
"""

from __future__ import annotations

import os
import secrets
import socket
import tempfile
import time
from pathlib import Path
from typing import Final

from foldline.tools.terminal.confine.order import (
    Confinement,
    PipelineStage,
    Profile,
    TerminalLimits,
)
from foldline.tools.terminal.paths import WorkingDirectory, find_binary
from foldline.tools.terminal.running import PipelineOutcome, run_order

LIMITS: Final = TerminalLimits(seconds=10.0, output=100_000)

FORKING: Final = Profile(forks=True)
"""What git gets: the widest that a model has without asking."""


def escapes(confinement: Confinement) -> list[str]:
    """
    Try to escape, and return what succeeded or why nothing can be run; empty when it holds.

    Args:
        confinement: How it is confined.
    """
    with tempfile.TemporaryDirectory(prefix="foldline-self-test-") as name:
        return _Test(confinement, Path(name).resolve()).all()


class _Test:
    def __init__(self, confinement: Confinement, folder: Path) -> None:
        self.confinement = confinement
        self.token = secrets.token_hex(12)
        self.inside, self.outside = folder / "workspace", folder / "outside"
        for path in (self.inside, self.outside):
            path.mkdir()
        (self.inside / "file").write_text(f"inside {self.token}\n", encoding="utf-8")
        self.secret = self.outside / "secret"
        self.secret.write_text(f"secret {self.token}\n", encoding="utf-8")
        (self.inside / "link").symlink_to(self.secret)

    def all(self) -> list[str]:
        works = self._run("cat", "file")
        if works is None or f"inside {self.token}" not in works.stdout.decode(errors="replace"):
            return [f"nothing can be run: {_output_of(works)}"]
        shell = "bash" if find_binary("bash") else "sh"
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(0)
            before, lasting = self._state(), f"1{int(self.token[:7], 16)}"
            answer = self._run(shell, "-c", self._script(lasting, listener.getsockname()[1]))
            return [
                *self._read(answer),
                *self._check_changes(before),
                *_lingers(lasting),
                *_connections(listener),
            ]

    def _run(self, name: str, *words: str) -> PipelineOutcome | None:
        program = find_binary(name)
        if program is None:
            return None
        place = WorkingDirectory.at(str(self.inside))
        stage = PipelineStage((program, *words), profile=FORKING)
        return run_order(self.confinement.order([stage], place, LIMITS), LIMITS.output)

    def _script(self, lasting: str, port: int) -> str:
        """Return all that is tried: text of this file only, no model writes for a shell."""
        inside, outside, me = self.inside, self.outside, os.getpid()
        reads = [
            self.secret,
            "link",
            "../outside/secret",
            *(
                f"/proc/{one}/{what}"
                for one in ("self", me, "1")
                for what in ("environ", "cmdline")
            ),
        ]
        lingers = [
            f"({start} sleep {lasting} </dev/null >/dev/null 2>&1 &)"
            for start in ("setsid", "nohup", "")
        ]
        changes = [
            ": > made",
            f": > '{outside}/made'",
            f": > '{self.secret}'",
            "rm -f file",
            "chmod 777 file",
            f"chmod 777 '{self.secret}'",
            f"touch file '{self.secret}'",
            f"mount -o remount,rw '{inside}' && : > made",
            "echo x >> file",
        ]
        looks = [f"cat '{path}'" for path in reads]
        connects = [f"(exec 3<>/dev/tcp/127.0.0.1/{port})"]
        return "; ".join(
            f"{{ {one}; }} 2>/dev/null" for one in (*looks, *changes, *lingers, *connects)
        )

    def _read(self, said: PipelineOutcome | None) -> list[str]:
        if said is None or said.error:
            return [f"it cannot be tried: {_output_of(said)}"]
        out = []
        if f"secret {self.token}".encode() in said.stdout:
            out.append("it reads a file outside")
        if said.stdout and not out:
            out.append("it reads /proc")
        return out

    def _check_changes(self, before: list[object]) -> list[str]:
        made = [path.name for path in (self.inside, self.outside) if (path / "made").exists()]
        out = [f"it writes into {name}" for name in made]
        return out + (["it changes what is there"] if before != self._state() else [])

    def _state(self) -> list[object]:
        out: list[object] = []
        for path in (self.inside / "file", self.secret):
            try:
                seen = path.lstat()
                out.append((seen.st_mode, seen.st_size, seen.st_mtime_ns))
            except OSError:
                out.append(None)
        return out


def _lingers(lasting: str) -> list[str]:
    """Look for processes that were left behind; nobody else has their argument."""
    until = time.monotonic() + 1
    while _running(lasting):
        if time.monotonic() > until:
            return ["it leaves a process behind"]
        time.sleep(0.01)
    return []


def _connections(listener: socket.socket) -> list[str]:
    try:
        listener.accept()[0].close()
    except BlockingIOError:
        return []
    return ["it reaches the network"]


def _running(argument: str) -> bool:
    """Say whether a process of this machine has an argument."""
    for entry in Path("/proc").iterdir():
        name = entry.name
        if name.isdigit():
            try:
                words = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if argument.encode() in words and name != str(os.getpid()):
                return True
    return False


def _output_of(outcome: PipelineOutcome | None) -> str:
    if outcome is None:
        return "cat is not installed"
    message = outcome.stderr.decode("utf-8", "replace").strip().splitlines()
    return (message[-1] if message else outcome.error or "it said nothing")[:300]
