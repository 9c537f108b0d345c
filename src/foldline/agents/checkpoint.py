"""The checkpoint of an agent: what a resumed run needs besides its session, written every step."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from foldline.agents.limits import AgentSpending
from foldline.agents.workspace_state import WorkspaceState
from foldline.atomic_files import replace_file
from foldline.errors import FoldlineError, InputError, StoreError

SCHEMA: Final = "foldline.checkpoint/1"
LARGEST: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """
    How far an agent is.

    The messages are in its session, which is recorded before this; ``status`` is "running", or
    how the last run ended.
    """

    session: str
    status: str = "running"
    spending: AgentSpending = field(default_factory=AgentSpending)
    workspace: WorkspaceState = field(default_factory=WorkspaceState)


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """
    Write a checkpoint, all of it or nothing, durably.

    Raises:
        StoreError: It cannot be written; the one before it is still there.
    """
    value = {
        "schema": SCHEMA,
        "session": checkpoint.session,
        "status": checkpoint.status,
        "spending": checkpoint.spending.to_dict(),
        "workspace": checkpoint.workspace.to_dict(),
    }
    try:
        replace_file(path, f"{json.dumps(value, indent=1)}\n".encode("ascii"))
    except OSError as error:
        raise StoreError(
            f"The checkpoint {path} cannot be written: {error.strerror}.",
            hint="Name a file in a folder that exists and can be written.",
        ) from error


def load_checkpoint(path: Path, session: str) -> Checkpoint | None:
    """
    Read the checkpoint of a session; None when there is none yet.

    Raises:
        StoreError: The file is none, or of another session; it is left as it is.
    """
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"The checkpoint {path} cannot be read: {error.strerror}.") from error
    try:
        value = json.loads(data)
        if len(data) > LARGEST or value["schema"] != SCHEMA:
            raise InputError(f"its schema is not {SCHEMA}")
        if value["session"] != session:
            raise InputError(f"it is of the session {value['session']!r:.60}")
        return Checkpoint(
            session,
            str(value["status"]),
            AgentSpending.from_dict(value["spending"]),
            WorkspaceState.from_dict(value["workspace"]),
        )
    except (ValueError, KeyError, TypeError, RecursionError, FoldlineError) as error:
        raise StoreError(
            f"The file {path} is no checkpoint of {session!r}: {error}.",
            hint="Move it away, or name another.",
        ) from error
