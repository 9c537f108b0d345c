"""Sessions to inspect: generated, compacted on the way, kept in an archive."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cli.sample import conversation

from foldline import Session
from foldline.core.config import Config
from foldline.inspector.loading import read_entry
from foldline.inspector.trace import SessionEntry, SessionTrace

NAME = "nightly"


def quiet(_: float, __: str) -> None:
    """Ignore the progress."""


def make_archive(
    folder: Path, *, steps: int = 40, window: int = 16_000, policy: str | None = None
) -> Path:
    """Run a session that compacts itself several times, as an agent would."""
    path = folder / "agent.db"
    with Session.open(
        path, NAME, model="claude-sonnet-4-5", window=window, policy=policy
    ) as session:
        for message in conversation(steps):
            if message["role"] == "assistant":
                session.view()
            session.append(message)
    return path


def from_our_archive(folder: Path, **settings: Any) -> SessionTrace:
    return read_archive(make_archive(folder, **settings))


def read_archive(path: Path) -> SessionTrace:
    return read_entry(SessionEntry(NAME, "foldline", "archive", path, NAME), Config(), quiet)


def claude_code(path: Path, *segments: list[tuple[str, Any]]) -> Path:
    """Write a session of Claude Code; between segments it has compacted itself."""
    lines: list[dict[str, Any]] = []
    parent: str | None = None
    for number, segment in enumerate(segments):
        if number:
            lines.append(
                {
                    "type": "system",
                    "subtype": "compact_boundary",
                    "uuid": f"b{number}",
                    "parentUuid": None,
                    "logicalParentUuid": parent,
                    "content": "Compacted",
                }
            )
            parent = f"b{number}"
        for index, (role, content) in enumerate(segment):
            name = f"u{number}-{index}"
            message: dict[str, Any] = {"role": role, "content": content}
            if role == "assistant":
                message |= {"model": "claude-sonnet-4-5", "id": f"m{name}", "type": "message"}
            lines.append(
                {
                    "type": role,
                    "uuid": name,
                    "parentUuid": parent,
                    "sessionId": "s",
                    "cwd": "/srv/shop",
                    "message": message,
                }
            )
            parent = name
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def from_our_file(path: Path) -> SessionTrace:
    return read_entry(SessionEntry(path.name, "transcript", "file", path), Config(), quiet)


def in_files(folder: Path) -> list[SessionEntry]:
    """List the files of a folder as sessions."""
    return [
        SessionEntry(path.name, "transcript", "file", path, size=path.stat().st_size, changed=1.0)
        for path in sorted(folder.glob("*.json*"))
    ]
