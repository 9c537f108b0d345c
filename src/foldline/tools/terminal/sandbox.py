"""
Choose a confinement: the strongest one from which a self-test cannot escape.

The self-test tries to escape in a temporary workspace, with the real launcher. A mode is
unavailable if any attempt succeeds. Nothing else decides: no version, no name of a system, no
presence of a program.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, TypeAlias, get_args

from foldline.core.validation import check_name
from foldline.errors import FoldlineError
from foldline.frozen import frozen
from foldline.tools.terminal.bubblewrap import Bubblewrap
from foldline.tools.terminal.landlock import Landlock
from foldline.tools.terminal.order import (
    PipelineOutcome,
    PipelineStage,
    Profile,
    TerminalLimits,
    draft_order,
    run_order,
)
from foldline.tools.terminal.paths import WorkingDirectory, find_binary
from foldline.tools.terminal.refusal import Refused

Mode: TypeAlias = Literal["auto", "bubblewrap", "landlock", "none"]

MODES: Final[tuple[Mode, ...]] = get_args(Mode)

INSTALL: Final = (
    "Install bubblewrap: apt-get install bubblewrap (dnf, apk and pacman have it, too)."
)

MISSING: Final = {
    "bubblewrap": "it is not installed",
    "landlock": "it needs version 3 or newer in the kernel, and a filter for this processor",
}
"""The reason in a trial of a mode that is not available."""


@frozen
class Unconfined:
    """No confinement but the parser: commands that only the kernel could confine are refused."""

    name: ClassVar[str] = "UNCONFINED"
    loses: ClassVar[str] = "The kernel confines nothing: only the rules for commands do."

    def order(
        self, stages: Sequence[PipelineStage], place: WorkingDirectory, limits: TerminalLimits
    ) -> dict[str, Any]:
        """Return the order for the launcher."""
        if any(stage.profile.writes or stage.profile.outside for stage in stages):
            raise Refused("Nothing can be approved without a sandbox.")
        return draft_order([(stage, stage.arguments, b"") for stage in stages], place, limits)


Confinement: TypeAlias = Bubblewrap | Landlock | Unconfined
"""
A kind of confinement of a pipeline by the kernel.

``name`` is its name in results, ``loses`` the guarantee that it lacks, in one sentence. ``order``
raises `Refused` for a profile that it cannot enforce.
"""


class NotConfined(FoldlineError):
    """No confinement is available, so no terminal is opened."""


@frozen
class ConfinementTrial:
    """The confinement of a mode, None if unavailable, and the result of its self-test."""

    confinement: Confinement | None
    words: str


def choose_confinement(mode: Mode = "auto", *, allow_unconfined: bool = False) -> Confinement:
    """
    Return a confinement that passed its self-test.

    Args:
        mode: The mode; "auto" uses bubblewrap, else Landlock.
        allow_unconfined: Required with "none", where the kernel confines nothing.

    Raises:
        NotConfined: It is not available, or its self-test escaped.
        BudgetError: The mode is unknown.
    """
    check_name("sandbox", mode, MODES)
    if mode == "none":
        if not allow_unconfined:
            why = "A terminal without a sandbox is not opened by accident."
            hint = "Pass allow_unconfined=True, too, if that is intended."
            raise NotConfined(why, hint=hint)
        _check_system()
        return Unconfined()
    candidates: tuple[Mode, ...] = ("bubblewrap", "landlock") if mode == "auto" else (mode,)
    wrong = []
    for one in candidates:
        result = try_confinement(one)
        if result.confinement is not None:
            return result.confinement
        wrong.append(f"{one}: {result.words}")
    raise NotConfined(f"No sandbox is available here ({'; '.join(wrong)}).", hint=INSTALL)


_HELD: dict[Mode, ConfinementTrial] = {}
"""Modes that passed the self-test in this process, which is not repeated."""


def try_confinement(mode: Mode) -> ConfinementTrial:
    """
    Detect a mode and run its self-test; once per process if it passes.

    Args:
        mode: "bubblewrap" or "landlock".
    """
    try:
        _check_system()
    except NotConfined as error:
        return ConfinementTrial(None, error.message)
    if mode in _HELD:
        return _HELD[mode]
    found = Bubblewrap.detect() if mode == "bubblewrap" else Landlock.detect()
    if found is None:
        return ConfinementTrial(None, MISSING[mode])
    wrong = escapes(found)
    if wrong:
        return ConfinementTrial(None, "; ".join(wrong))
    return _HELD.setdefault(mode, ConfinementTrial(found, found.loses))


def _check_system() -> None:
    if not sys.platform.startswith("linux"):
        raise NotConfined(f"It requires Linux; this is {sys.platform}.")


# --- the self-test -------------------------------------------------------------------------

LIMITS: Final = TerminalLimits(seconds=10.0, output=100_000)

FORKING: Final = Profile(forks=True)
"""The profile of git, the widest without an approval."""


def escapes(confinement: Confinement) -> list[str]:
    """
    Try to escape; return successful attempts or why nothing can be run, empty if it passed.

    Args:
        confinement: The confinement.
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
            before, marker = self._state(), f"1{int(self.token[:7], 16)}"
            answer = self._run(shell, "-c", self._script(marker, listener.getsockname()[1]))
            found = [*self._read(answer), *self._check_changes(before)]
            return [*found, *_find_leftovers(marker), *_find_connections(listener)]

    def _run(self, name: str, *words: str) -> PipelineOutcome | None:
        program = find_binary(name)
        if program is None:
            return None
        place = WorkingDirectory.at(str(self.inside))
        stage = PipelineStage((program, *words), profile=FORKING)
        return run_order(self.confinement.order([stage], place, LIMITS), LIMITS.output)

    def _script(self, marker: str, port: int) -> str:
        """Return the script of all attempts; fixed text, without model output."""
        inside, outside, me = self.inside, self.outside, os.getpid()
        processes = [f"/proc/{one}" for one in ("self", me, "1")]
        about = [f"{one}/{what}" for one in processes for what in ("environ", "cmdline")]
        reads = [self.secret, "link", "../outside/secret", *about]
        sleeps = f"sleep {marker} </dev/null >/dev/null 2>&1 &"
        orphans = [f"({start} {sleeps})" for start in ("setsid", "nohup", "")]
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
        tries = (*looks, *changes, *orphans, *connects)
        return "; ".join(f"{{ {one}; }} 2>/dev/null" for one in tries)

    def _read(self, outcome: PipelineOutcome | None) -> list[str]:
        if outcome is None or outcome.error:
            return [f"the self-test failed to run: {_output_of(outcome)}"]
        out = []
        if f"secret {self.token}".encode() in outcome.stdout:
            out.append("it reads a file outside")
        if outcome.stdout and not out:
            out.append("it reads /proc")
        return out

    def _check_changes(self, before: list[object]) -> list[str]:
        made = [path.name for path in (self.inside, self.outside) if (path / "made").exists()]
        out = [f"it writes into {name}" for name in made]
        return out + (["it changes what is there"] if before != self._state() else [])

    def _state(self) -> list[object]:
        paths = (self.inside / "file", self.secret)
        found = [path.lstat() if os.path.lexists(path) else None for path in paths]
        return [one and (one.st_mode, one.st_size, one.st_mtime_ns) for one in found]


def _find_leftovers(marker: str) -> list[str]:
    """Search for leftover processes by their unique argument."""
    until = time.monotonic() + 1
    while _is_running(marker):
        if time.monotonic() > until:
            return ["it leaves a process behind"]
        time.sleep(0.01)
    return []


def _find_connections(listener: socket.socket) -> list[str]:
    try:
        listener.accept()[0].close()
    except BlockingIOError:
        return []
    return ["it reaches the network"]


def _is_running(argument: str) -> bool:
    """Return True if another process of this machine has an argument."""
    for path in Path("/proc").iterdir():
        if path.name.isdigit() and path.name != str(os.getpid()):
            with contextlib.suppress(OSError):
                if argument.encode() in (path / "cmdline").read_bytes().split(b"\0"):
                    return True
    return False


def _output_of(outcome: PipelineOutcome | None) -> str:
    if outcome is None:
        return "cat is not installed"
    message = outcome.stderr.decode("utf-8", "replace").strip().splitlines()
    return (message[-1] if message else outcome.error or "it printed nothing")[:300]
