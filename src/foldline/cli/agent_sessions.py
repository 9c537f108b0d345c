"""Where agents keep their sessions, and which files of a folder may be one."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from foldline.formats.files import may_be_transcript

MAX_ENTRIES: Final = 500_000
"""Folder entries that are looked at in one scan."""

MAX_DEPTH: Final = 24
SKIPPED: Final = frozenset({".git", ".hg", "node_modules", "__pycache__", ".venv", "venv", ".tox"})


@dataclass(frozen=True, slots=True)
class AgentHome:
    """A folder in which an agent keeps its sessions, and how their files are named."""

    agent: str
    folder: Path
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class SessionFile:
    """A file that may be a session; ``size`` in bytes, ``changed`` in seconds since 1970."""

    path: Path
    size: int
    changed: float
    agent: str = ""


@dataclass(frozen=True, slots=True)
class UnreadableFile:
    """A place that could not be looked at, and why."""

    path: Path
    why: str


def homes() -> tuple[AgentHome, ...]:
    """List where the agents that are known keep their sessions on this machine."""
    user = Path.home()
    claude = _folders("CLAUDE_CONFIG_DIR", user / ".claude", user / ".config" / "claude")
    codex = _folders("CODEX_HOME", user / ".codex")
    pi = _folders("PI_CODING_AGENT_DIR", user / ".pi" / "agent")
    gemini = _folders("GEMINI_CLI_HOME", user)
    lines, rollout = re.compile(r".*\.jsonl"), re.compile(r"rollout-.*\.jsonl")
    chat = re.compile(r"session-.*\.jsonl?")
    found = [AgentHome("claude-code", folder / "projects", lines) for folder in claude]
    for name in ("sessions", "archived_sessions"):
        found += [AgentHome("codex", folder / name, rollout) for folder in codex]
    found += [AgentHome("pi", folder / "sessions", lines) for folder in pi]
    found += [AgentHome("gemini-cli", folder / ".gemini" / "tmp", chat) for folder in gemini]
    return tuple(found)


def _folders(variable: str, *defaults: Path) -> list[Path]:
    """Return the folders that a variable names, separated by commas; else the usual ones."""
    named = [part.strip() for part in os.environ.get(variable, "").split(",")]
    return [Path(part).expanduser() for part in named if part] or list(defaults)


def in_home(home: AgentHome) -> Iterator[SessionFile | UnreadableFile]:
    """Find the sessions of one agent."""
    for found in walk(home.folder):
        if isinstance(found, UnreadableFile):
            yield found
        elif home.pattern.fullmatch(found.path.name):
            yield SessionFile(found.path, found.size, found.changed, home.agent)


def in_folder(folder: Path) -> Iterator[SessionFile | UnreadableFile]:
    """Find the files below a folder that may be sessions of any agent, by their names."""
    for found in walk(folder):
        name = found.path.name
        if isinstance(found, UnreadableFile) or may_be_transcript(name):
            yield found


def walk(folder: Path) -> Iterator[SessionFile | UnreadableFile]:
    """
    Walk through a folder: every folder once, however links lead there.

    Yields:
        Regular files that are not empty, and what could not be looked at.
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
            yield UnreadableFile(here, "too many or too deep folders; name a smaller one")
            continue
        yield from _files(children, waiting, depth)


def _files(
    children: list[Path], waiting: list[tuple[Path, int]], depth: int
) -> Iterator[SessionFile | UnreadableFile]:
    """Yield the files among entries, and put the folders among them on the list."""
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
