"""Backups of earlier versions of files, stored under the hash of their path."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Callable, Sequence
from typing import Final

from foldline.errors import InputError
from foldline.rooted_files import Content, Root, open_folder

FOLDER: Final = (".foldline", "backups")

NAME: Final = re.compile(r"\d{16,20}-[0-9a-f]{12}")
"""Backup names: nanoseconds since 1970 and a prefix of the SHA-256 of the content."""


class Backups:
    """
    The backups of the files in a folder.

    Args:
        root: The folder; backups are in ``.foldline/backups`` inside it.
        most: The maximum number of backups per file; 0 for none.
        clock: Returns the time, in seconds since 1970.
    """

    def __init__(self, root: Root, most: int, clock: Callable[[], float]) -> None:
        self._root = root
        self._most = most
        self._clock = clock

    def keep(self, parts: Sequence[str], old: Content) -> None:
        """
        Store a version of a file, and delete the oldest ones beyond the limit.

        Raises:
            OSError: It cannot be stored.
        """
        if not self._most:
            return
        before = self.names(parts)
        digest = hashlib.sha256(old.data).hexdigest()[:12]
        now = max(int(self._clock() * 1e9), int(before[0].partition("-")[0]) + 1 if before else 0)
        self._root.replace((*_folder(parts), f"{now:019d}-{digest}"), old.data, 0o600)
        with open_folder(self._root.path, _folder(parts)) as folder:
            for name in before[self._most - 1 :]:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=folder)

    def names(self, parts: Sequence[str]) -> list[str]:
        """Return the names of the backups of a file, the newest first."""
        try:
            with open_folder(self._root.path, _folder(parts)) as folder:
                found = os.listdir(folder)  # noqa: PTH208
        except OSError:
            return []
        return sorted(filter(NAME.fullmatch, found), reverse=True)

    def read(self, parts: Sequence[str], name: str | None, most: int) -> bytes:
        """
        Return a backup of a file.

        Args:
            parts: The path of the file.
            name: One of `names`; None for the newest.
            most: The maximum size in bytes.

        Raises:
            InputError: There is no such backup.
        """
        known = self.names(parts)
        backup = name or (known[0] if known else "")
        if backup not in known:
            raise InputError(f"there is no backup {backup[:60]!r}", hint="List their names.")
        return self._root.read((*_folder(parts), backup), most).data


def _folder(parts: Sequence[str]) -> tuple[str, ...]:
    return (*FOLDER, hashlib.sha256("/".join(parts).encode()).hexdigest()[:16])
