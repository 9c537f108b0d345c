"""The data folder of a maintainer: outside of the codebase, one for each codebase."""

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
    The folder of a maintainer and the files in it.

    It is never inside the codebase: writers of the code must not edit the knowledge about it.
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
        Return the folder for a project, and create it.

        Args:
            project: The name of the project.
            codebase: The folder of the codebase.
            home: The data folder; default a folder for this codebase in the data folder of the
                user, or in FOLDLINE_HOME.
            notes: The folder of the notes; default inside the data folder.

        Raises:
            InputError: The folder is inside the codebase.
            StoreError: The folder cannot be created.
        """
        if home is None:  # two codebases of one name, or one under two names, have two folders
            named = f"{project}\0{codebase}".encode("utf-8", "replace")
            name = _ODD.sub("-", project).strip("-")[:40] or "project"
            home = data_folder() / "maintainer" / f"{name}-{sha256(named).hexdigest()[:10]}"
        folder = Path(home).absolute()
        inside = folder.resolve()
        if inside == codebase or codebase in inside.parents:
            hint = "Choose a folder outside of the codebase."
            raise InputError(f"{folder} is inside the codebase", field="home", hint=hint)
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
        """The log of approval requests and answers."""
        return self.folder / "approvals.jsonl"

    @property
    def refactoring(self) -> Path:
        """The log of refactorings."""
        return self.folder / "refactoring.jsonl"

    @property
    def history(self) -> Path:
        """The command history."""
        return self.folder / "history"

    def keep_undone(self, step: str, patch: bytes) -> Path:
        """Save the changes of a step as a patch before it is undone."""
        folder = self.folder / "undone"
        folder.mkdir(exist_ok=True)
        number = sum(1 for _ in folder.glob(f"{step}-*.patch")) + 1
        path = folder / f"{step}-{number}.patch"
        replace_file(path, patch)
        return path

    def report(self, session: str, ending: str) -> Path:
        """Return the path of a report of a session."""
        folder = self.folder / "reports"
        folder.mkdir(exist_ok=True)
        return folder / f"maintainer_report_{session}.{ending}"
