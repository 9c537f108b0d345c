"""The state a resumed run needs besides its session: spending, and the files it relies on."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from foldline.agents.limits import AgentSpending
from foldline.atomic_files import replace_file
from foldline.core.retention_settings import FileSettings
from foldline.errors import FoldlineError, InputError, StoreError
from foldline.frozen import field, frozen
from foldline.reinjection.file_access import find_operations
from foldline.rooted_files import Root
from foldline.snapshot.invocations import Invocation
from foldline.tools.json_files import read_value
from foldline.values.messages import ToolCall

MOST_FILES: Final = 200
LARGEST: Final = 10 << 20
"""The number of files that are remembered, the last touched; files of more bytes are not
hashed."""

MISSING: Final = ""
"""The hash of a missing file."""

_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LARGEST_REFS: Final = 4 << 20


@frozen
class WorkspaceChanges:
    """
    Changes in the workspace while an agent was stopped.

    ``files`` are pairs of a path and "changed", "deleted" or "created"; ``git_head`` is the commit
    before and after, None when it is the same.
    """

    files: tuple[tuple[str, str], ...] = ()
    git_head: tuple[str, str] | None = None

    def __bool__(self) -> bool:
        return bool(self.files) or self.git_head is not None

    def __str__(self) -> str:
        parts = [f"{path} ({what})" for path, what in self.files]
        if self.git_head is not None:
            before, after = (commit[:12] or "none" for commit in self.git_head)
            parts.append(f"the git head ({before} → {after})")
        return ", ".join(parts) or "nothing"


@frozen
class WorkspaceState:
    """The hashes of files by path, the last touched at the end, and the git head."""

    files: Mapping[str, str] = field(default_factory=dict)
    git_head: str = ""

    def changes(self, now: WorkspaceState) -> WorkspaceChanges:
        """Return the differences to a newer state, for the remembered files."""
        files = []
        for path, before in self.files.items():
            after = now.files.get(path, MISSING)
            if before != after:
                what = "deleted" if after == MISSING else "changed"
                files.append((path, "created" if before == MISSING else what))
        heads = (self.git_head, now.git_head)
        return WorkspaceChanges(tuple(files), None if heads[0] == heads[1] else heads)

    def to_dict(self) -> dict[str, Any]:
        """Return them as JSON values."""
        return {"files": dict(self.files), "head": self.git_head}

    @classmethod
    def from_dict(cls, value: Any) -> WorkspaceState:
        """
        Read what `to_dict` returned.

        Raises:
            InputError: It is not such a value.
        """
        match value:
            case {"files": dict(files), "head": str(head)}:
                if not all(isinstance(one, str) for pair in files.items() for one in pair):
                    raise InputError("each file needs a path and a hash", field="files")
                return cls(files, head)
        raise InputError("this is not a workspace state")


def read_workspace(root: Root | None, paths: Iterable[str]) -> WorkspaceState:
    """Hash files by their paths and read the git head; an empty state without a root."""
    if root is None:
        return WorkspaceState()
    newest = list(dict.fromkeys(reversed(list(paths))))[:MOST_FILES]
    hashes = {path: _hash(root, path) for path in reversed(newest)}
    return WorkspaceState(hashes, git_head(root.path))


def touched_paths(
    root: Root | None, calls: Iterable[ToolCall], settings: FileSettings
) -> list[str]:
    """List the files inside the root that calls touch, by their path inside it."""
    if root is None:
        return []
    found = []
    for call in calls:
        for path, _, _ in find_operations(Invocation(call), settings):
            with suppress(InputError):
                found.append("/".join(root.parts(path)))
    return found


def _hash(root: Root, path: str) -> str:
    try:
        return hashlib.sha256(root.read(root.parts(path), LARGEST).data).hexdigest()
    except (OSError, FoldlineError):
        return MISSING


def git_head(folder: Path) -> str:
    """Return the commit that is checked out in a folder, "" if there is none."""
    try:
        git = folder / ".git"
        if git.is_file():  # in a second worktree a file holds the path
            git = folder / _line(git).removeprefix("gitdir: ")
        line = _line(git / "HEAD")
        name = line.removeprefix("ref: ")
        if name == line:
            return line if _COMMIT.fullmatch(line) else ""
        if ".." in name or name.startswith("/"):
            return ""
        shared = _line(git / "commondir")
        places = [git, (git / shared).resolve()] if shared else [git]
        return next(filter(None, (_ref(place, name) for place in places)), "")
    except (OSError, ValueError):
        return ""


def _ref(place: Path, name: str) -> str:
    loose, packed = place / name, place / "packed-refs"
    if loose.is_file():  # it wins even if a crash truncated it: the packed ref is older
        commit = _line(loose)
        return commit if _COMMIT.fullmatch(commit) else ""
    if not packed.is_file() or packed.stat().st_size > _LARGEST_REFS:
        return ""
    lines = packed.read_text(encoding="utf-8", errors="replace").splitlines()
    commits = (commit for commit, _, ref in (line.partition(" ") for line in lines) if ref == name)
    return next(filter(_COMMIT.fullmatch, commits), "")


def _line(path: Path) -> str:
    if not path.is_file():  # opening a pipe would block until something writes to it
        return ""
    with path.open("rb") as file:
        return file.read(4_096).decode("utf-8", "replace").strip()


# --- the checkpoint ------------------------------------------------------------------------

SCHEMA: Final = "foldline.checkpoint/1"


@frozen
class Checkpoint:
    """
    The progress of an agent.

    The messages are in its session, which is recorded before this; ``status`` is "running", or
    how the last run ended.
    """

    session: str
    status: str = "running"
    spending: AgentSpending = field(default_factory=AgentSpending)
    workspace: WorkspaceState = field(default_factory=WorkspaceState)


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """
    Write a checkpoint atomically and durably.

    Raises:
        StoreError: It cannot be written; the previous one is kept.
    """
    value = {"schema": SCHEMA, "session": checkpoint.session, "status": checkpoint.status}
    value |= {name: getattr(checkpoint, name).to_dict() for name in ("spending", "workspace")}
    try:
        replace_file(path, f"{json.dumps(value, indent=1)}\n".encode("ascii"))
    except OSError as error:
        why = f"The checkpoint {path} cannot be written: {error.strerror}."
        hint = "Name a file in a folder that exists and can be written."
        raise StoreError(why, hint=hint) from error


def load_checkpoint(path: Path, session: str) -> Checkpoint | None:
    """
    Read the checkpoint of a session; None if there is none yet.

    Raises:
        StoreError: The file is not a checkpoint, or belongs to another session; it is unchanged.
    """

    def parse(value: Any) -> Checkpoint:
        if value["session"] != session:
            raise InputError(f"it belongs to the session {value['session']!r:.60}")
        spending = AgentSpending.from_dict(value["spending"])
        workspace = WorkspaceState.from_dict(value["workspace"])
        return Checkpoint(session, str(value["status"]), spending, workspace)

    return read_value(path, f"checkpoint of {session!r}", SCHEMA, parse)
