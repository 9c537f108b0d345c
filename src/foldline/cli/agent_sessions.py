"""Find the session files of agents on this machine, and measure many of them."""

from __future__ import annotations

import json
import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from foldline.cli.output import Output
from foldline.errors import FoldlineError, InputError, UnknownFormat
from foldline.evaluation.figures import plural
from foldline.formats.files import may_be_transcript
from foldline.frozen import frozen

MAX_ENTRIES: Final = 500_000
"""Maximum number of folder entries visited in one scan."""

Measurement = TypeVar("Measurement")

MOST_READ: Final = 5_000
"""Maximum number of files read in one run, sessions or not."""

MAX_SIZE: Final = 128_000_000
"""Largest file that is measured, in bytes."""

HEAD: Final = 64 * 1024
"""Bytes at the start of a file that are searched for its project folder."""

_FOLDER: Final = re.compile(r'"cwd"\s*:\s*("(?:[^"\\]|\\.){1,400}")')

_LINES: Final = r".*\.jsonl"
_ROLLOUT: Final = r"rollout-.*\.jsonl"
_HOMES: Final = (
    ("claude-code", "CLAUDE_CONFIG_DIR", (".claude", ".config/claude"), "projects", _LINES),
    ("codex", "CODEX_HOME", (".codex",), "sessions", _ROLLOUT),
    ("codex", "CODEX_HOME", (".codex",), "archived_sessions", _ROLLOUT),
    ("pi", "PI_CODING_AGENT_DIR", (".pi/agent",), "sessions", _LINES),
    ("gemini-cli", "GEMINI_CLI_HOME", ("",), ".gemini/tmp", r"session-.*\.jsonl?"),
)
"""
For each agent: the variable that names its folders, the default ones in the user's home, where
its sessions are in one of them, and how their files are named.
"""

MAX_DEPTH: Final = 24
SKIPPED: Final = frozenset({".git", ".hg", "node_modules", "__pycache__", ".venv", "venv", ".tox"})


@frozen
class AgentHome:
    """A folder in which an agent keeps its sessions, and how their files are named."""

    agent: str
    folder: Path
    pattern: re.Pattern[str]


@frozen
class SessionFile:
    """A file that may be a session; ``size`` in bytes, ``changed`` in seconds since 1970."""

    path: Path
    size: int
    changed: float
    agent: str = ""


@frozen
class UnreadableFile:
    """A path that could not be read, and why."""

    path: Path
    why: str


def homes() -> tuple[AgentHome, ...]:
    """List where the known agents keep their sessions on this machine."""
    return tuple(
        AgentHome(agent, folder / inner, re.compile(pattern))
        for agent, variable, usual, inner, pattern in _HOMES
        for folder in _folders(variable, usual)
    )


def _folders(variable: str, usual: Sequence[str]) -> list[Path]:
    """Return the comma-separated folders that a variable names, or the default ones."""
    named = [part.strip() for part in os.environ.get(variable, "").split(",")]
    return [Path(part).expanduser() for part in named if part] or [
        Path.home() / folder for folder in usual
    ]


def find_sessions(places: Sequence[Path] = ()) -> Iterator[SessionFile | UnreadableFile]:
    """
    Find session files in the given files and folders, or where agents keep theirs.

    Raises:
        InputError: One of the places cannot be read.
    """
    for home in () if places else homes():
        if home.folder.is_dir():
            yield from in_home(home)
    for place in places:
        yield from in_folder(place) if place.is_dir() else (named_file(place),)


def named_file(path: Path) -> SessionFile:
    """
    Return a file named on the command line.

    Raises:
        InputError: It cannot be read.
    """
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path} cannot be read: {reason}") from error
    return SessionFile(path, status.st_size, status.st_mtime, "named")


def in_home(home: AgentHome) -> Iterator[SessionFile | UnreadableFile]:
    """Find the sessions of one agent."""
    for found in walk(home.folder):
        if isinstance(found, UnreadableFile):
            yield found
        elif home.pattern.fullmatch(found.path.name):
            yield SessionFile(found.path, found.size, found.changed, home.agent)


def in_folder(folder: Path) -> Iterator[SessionFile | UnreadableFile]:
    """Find the files below a folder whose names may be those of agent sessions."""
    for found in walk(folder):
        if isinstance(found, UnreadableFile) or may_be_transcript(found.path.name):
            yield found


def walk(folder: Path) -> Iterator[SessionFile | UnreadableFile]:
    """
    Walk a folder tree, visiting every folder once even if links form a cycle.

    Yields:
        Regular files that are not empty, and paths that could not be read.
    """
    seen: set[tuple[int, int]] = set()
    waiting, entries = [(folder, 0)], 0
    while waiting:
        here, depth = waiting.pop()
        try:
            status = here.stat()
            if (status.st_dev, status.st_ino) in seen:
                continue
            seen.add((status.st_dev, status.st_ino))
            children = sorted(here.iterdir())
        except OSError as error:
            yield UnreadableFile(here, error.strerror or str(error))
            continue
        entries += len(children)
        if entries > MAX_ENTRIES or depth > MAX_DEPTH:
            yield UnreadableFile(here, "too many or too deeply nested folders; name a smaller one")
            continue
        yield from _files(children, waiting, depth)


def _files(
    children: list[Path], waiting: list[tuple[Path, int]], depth: int
) -> Iterator[SessionFile | UnreadableFile]:
    """Yield the files among the entries, and add the folders to ``waiting``."""
    for child in children:
        try:
            status = child.stat()
        except OSError as error:
            yield UnreadableFile(child, error.strerror or str(error))
            continue
        if stat.S_ISDIR(status.st_mode):
            if child.name not in SKIPPED:
                waiting.append((child, depth + 1))
        elif stat.S_ISREG(status.st_mode) and status.st_size:
            yield SessionFile(child, status.st_size, status.st_mtime)


def project_folder(found: SessionFile) -> str:
    """Return the project folder recorded in a session, or the folder that holds the file."""
    try:
        with found.path.open("rb") as file:
            head = file.read(HEAD).decode("utf-8", "replace")
    except OSError:
        head = ""
    folder = str(found.path.parent)
    match = _FOLDER.search(head)
    if match:
        with suppress(ValueError):
            folder = str(json.loads(match[1]))
    return folder


@dataclass(slots=True)
class MeasuringRun(Generic[Measurement]):
    """
    Session files measured so far, and those that were not.

    ``others`` hold no conversation, ``left`` were not read within the limits.
    """

    measured: list[Measurement] = field(default_factory=list)
    unreadable: list[UnreadableFile] = field(default_factory=list)
    others: int = 0
    left: int = 0

    def find(self, places: Sequence[Path]) -> list[SessionFile]:
        """List the files that may be sessions, each once; see `find_sessions`."""
        found: dict[Path, SessionFile] = {}
        for one in find_sessions(places):
            if isinstance(one, UnreadableFile):
                self.unreadable.append(one)
            else:
                found.setdefault(one.path, one)
        return list(found.values())

    def measure(
        self,
        files: Sequence[SessionFile],
        measure: Callable[[SessionFile], Measurement],
        output: Output,
        *,
        limit: int,
        seconds: float,
    ) -> None:
        """
        Measure files; an unreadable file is recorded and never ends the run.

        Args:
            files: Files, the most important first; at most `MOST_READ` are read.
            measure: Measures one file.
            output: Shows the progress.
            limit: Maximum number of sessions; other files do not count.
            seconds: No further file is started after this time.
        """
        deadline, read = time.monotonic() + seconds, 0
        for found in output.track(files[:MOST_READ], "Measuring sessions"):
            if len(self.measured) >= limit or time.monotonic() > deadline:
                break
            self._measure_file(found, measure)
            read += 1
        self.left += len(files) - read

    def _measure_file(
        self, found: SessionFile, measure: Callable[[SessionFile], Measurement]
    ) -> None:
        if found.size > MAX_SIZE:
            self.unreadable.append(UnreadableFile(found.path, "too large to measure"))
            return
        try:
            self.measured.append(measure(found))
        except FoldlineError as error:
            if isinstance(error, UnknownFormat) and not found.agent:
                self.others += 1
            else:
                self.unreadable.append(UnreadableFile(found.path, error.message))

    def omissions(self) -> dict[str, Any]:
        """Return the files that were not measured, with reasons, as JSON values."""
        return {
            "not_measured": self.left,
            "others": self.others,
            "trouble": [{"path": str(one.path), "why": one.why} for one in self.unreadable],
        }

    def note(self, output: Output) -> None:
        """Write notes about the files that were not measured, and why."""
        if self.left:
            left = plural(self.left, "file")
            output.note(
                f"{left} not measured; --limit and --seconds allow more, "
                f"up to {MOST_READ:,} files in one run."
            )
        if self.others:
            output.note(f"{plural(self.others, 'other file')} held no conversation.")
        output.note_unreadable([(one.path, one.why) for one in self.unreadable])
