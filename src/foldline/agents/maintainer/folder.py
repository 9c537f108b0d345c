"""Where a maintainer keeps what it knows: outside of the codebase, one folder for each."""

from __future__ import annotations

import os
import re
from hashlib import sha256
from pathlib import Path
from typing import Final, Self

from foldline.atomic_files import replace_file
from foldline.errors import InputError
from foldline.frozen import frozen
from foldline.settings.sources import data_folder, make_folder

_ODD: Final = re.compile(r"[^\w-]+")


@frozen
class MaintainerFolder:
    """
    The folder of a maintainer, and what lies where in it.

    It never lies in the codebase: who writes the code must not write what is known about it.
    """

    folder: Path
    notes: Path

    @classmethod
    def of(
        cls,
        project: str,
        codebase: Path,
        home: str | os.PathLike[str] | None = None,
        notes: str | os.PathLike[str] | None = None,
    ) -> Self:
        """
        Return the place for a project, and make its folder.

        Args:
            project: Its name.
            codebase: Its folder.
            home: Where to keep things; default a folder for this codebase in the data folder of
                the user, or in FOLDLINE_HOME.
            notes: Where the notes are; default in that folder.

        Raises:
            InputError: The place lies in the codebase.
            StoreError: The folder cannot be made.
        """
        if home is None:  # two codebases of one name, or one under two names, have two folders
            named = f"{project}\0{codebase}".encode("utf-8", "replace")
            name = _ODD.sub("-", project).strip("-")[:40] or "project"
            home = data_folder() / "maintainer" / f"{name}-{sha256(named).hexdigest()[:10]}"
        folder = Path(home).absolute()
        inside = folder.resolve()
        if inside == codebase or codebase in inside.parents:
            hint = "Keep it elsewhere: what is known about the code is not part of it."
            raise InputError(f"{folder} lies in the codebase", field="home", hint=hint)
        make_folder(folder)
        return cls(folder, folder / "notes" if notes is None else Path(notes))

    @property
    def sessions(self) -> Path:
        """The archive with the conversation."""
        return self.folder / "sessions.db"

    @property
    def memory(self) -> Path:
        """The file of the memory."""
        return self.folder / "memory.db"

    @property
    def approvals(self) -> Path:
        """The log of what was asked and allowed."""
        return self.folder / "approvals.jsonl"

    @property
    def refactoring(self) -> Path:
        """The log of refactorings."""
        return self.folder / "refactoring.jsonl"

    @property
    def history(self) -> Path:
        """What was typed on the command line."""
        return self.folder / "history"

    def keep_undone(self, step: str, patch: bytes) -> Path:
        """Keep what a step had made of files before it was undone."""
        folder = self.folder / "undone"
        folder.mkdir(exist_ok=True)
        number = sum(1 for _ in folder.glob(f"{step}-*.patch")) + 1
        path = folder / f"{step}-{number}.patch"
        replace_file(path, patch)
        return path

    def report(self, session: str, ending: str) -> Path:
        """Return where a report of a session is written."""
        folder = self.folder / "reports"
        folder.mkdir(exist_ok=True)
        return folder / f"maintainer_report_{session}.{ending}"
