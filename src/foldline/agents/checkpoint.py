"""The checkpoint of an agent: what a resumed run needs besides its session, written every step."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from foldline.agents.account import Tally
from foldline.agents.surroundings import Surroundings
from foldline.errors import FoldlineError, InputError, StoreError
from foldline.tools.atomic import replace_file

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
    tally: Tally = field(default_factory=Tally)
    surroundings: Surroundings = field(default_factory=Surroundings)


def saved(path: Path, checkpoint: Checkpoint) -> None:
    """
    Write a checkpoint, all of it or nothing, durably.

    Raises:
        StoreError: It cannot be written; the one before it is still there.
    """
    value = {
        "schema": SCHEMA,
        "session": checkpoint.session,
        "status": checkpoint.status,
        "tally": checkpoint.tally.to_dict(),
        "surroundings": checkpoint.surroundings.to_dict(),
    }
    try:
        replace_file(path, f"{json.dumps(value, indent=1)}\n".encode("ascii"))
    except OSError as error:
        raise StoreError(
            f"The checkpoint {path} cannot be written: {error.strerror}.",
            hint="Name a file in a folder that exists and can be written.",
        ) from error


def loaded(path: Path, session: str) -> Checkpoint | None:
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
            Tally.from_dict(value["tally"]),
            Surroundings.from_dict(value["surroundings"]),
        )
    except (ValueError, KeyError, TypeError, RecursionError, FoldlineError) as error:
        raise StoreError(
            f"The file {path} is no checkpoint of {session!r}: {error}.",
            hint="Move it away, or name another.",
        ) from error
