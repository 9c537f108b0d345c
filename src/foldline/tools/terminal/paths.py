"""Where a path leads, told to a person in time; the kernel is what keeps it there."""

from __future__ import annotations

import os
import posixpath
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self

from foldline.tools.files.sensitive import is_sensitive
from foldline.tools.terminal.refusal import Beyond, Refused, visible

DEVICE: Final = "/dev/null"
"""The one thing outside the workspace that every command may read."""


@dataclass(frozen=True, slots=True)
class Place:
    """
    The workspace and the directory in it; both are resolved.

    ``identity`` is the device and inode of the directory: a directory that was swapped for another
    one is noticed. ``also`` are paths outside that a person has allowed to be read, ``sensitive``
    the names of files and folders about which one is asked before they are.
    """

    workspace: str
    directory: str
    identity: tuple[int, int]
    also: frozenset[str] = frozenset()
    sensitive: tuple[str, ...] = ()

    @classmethod
    def at(cls, workspace: str, directory: str | None = None) -> Self:
        """
        Return a place that exists.

        Args:
            workspace: A resolved directory.
            directory: A resolved directory in it; default the workspace.

        Raises:
            OSError: It is no directory.
        """
        where = workspace if directory is None else directory
        seen = Path(where).stat()
        if not stat.S_ISDIR(seen.st_mode):
            raise NotADirectoryError(where)
        return cls(workspace, where, (seen.st_dev, seen.st_ino))

    @property
    def shown(self) -> str:
        """The directory as seen from the workspace, "." for the workspace itself."""
        return os.path.relpath(self.directory, self.workspace)

    def allowing(self, *paths: str) -> Self:
        """Return a place from which these paths may be read, too."""
        return replace(self, also=self.also | {*paths})

    def is_there(self) -> bool:
        """Whether the directory is still the one that it was."""
        try:
            seen = os.lstat(self.directory)
        except OSError:
            return False
        return stat.S_ISDIR(seen.st_mode) and (seen.st_dev, seen.st_ino) == self.identity

    def moved(self, path: str) -> Self:
        """
        Return the place after ``cd path``; a link outside is not followed.

        Raises:
            Refused: It leads outside, or is no directory.
        """
        target = self.resolved(path)
        try:
            moved = type(self).at(self.workspace, target)
            return replace(moved, also=self.also, sensitive=self.sensitive)
        except OSError as error:
            raise Refused(f"cd: {visible(path)}: {error.strerror}.") from error

    def resolved(self, path: str) -> str:
        """
        Return where a path leads, links followed.

        Raises:
            Beyond: It leads outside the workspace.
        """
        target = self._real(path)
        if target is None or not self._holds(target):
            raise Beyond(
                f"{visible(path)} leads outside the workspace.",
                "outside",
                posixpath.normpath(posixpath.join(self.directory, path))
                if target is None
                else target,
            )
        return target

    def leaves(self, path: str) -> bool:
        """Whether a path leads outside the workspace."""
        target = self._real(path)
        return target is None or not self._holds(target)

    def has_entry(self, name: str) -> bool:
        """Whether the directory has something of this name, be it a link to nowhere."""
        return os.path.lexists(posixpath.join(self.directory, name))

    def check(self, path: str) -> None:
        """
        Check a path that a command reads.

        Raises:
            Beyond: It leads outside the workspace, or to what may hold secrets.
            Refused: It is a pipe, a socket or a device: reading it may never end.
        """
        if path == DEVICE:
            return
        if path == "":
            raise Refused("An empty word is no path.")
        target = self.resolved(path)
        self.check_shown(os.path.relpath(target, self.workspace), path)
        try:
            mode = os.lstat(target).st_mode
        except OSError:
            return
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)):
            raise Refused(f"{visible(path)} is a pipe, a socket or a device.")

    def check_name(self, path: str) -> None:
        """Check a path whose last link is not followed; see `check`."""
        parent, name = posixpath.split(path)
        if name in {"", ".", ".."}:
            self.check(path)
        else:
            self.resolved(parent or ".")

    def check_shown(self, path: str, written: str = "") -> None:
        """
        Check the names in a path, whether there is such a file now or not.

        Args:
            path: The path.
            written: As the model wrote it, if otherwise.

        Raises:
            Beyond: It is of a file that may hold secrets.
        """
        if is_sensitive(path.split("/"), self.sensitive):
            raise Beyond(f"{visible(written or path)} may hold secrets.", "secrets")

    def _real(self, path: str) -> str | None:
        try:
            return os.path.realpath(posixpath.join(self.directory, path))
        except (OSError, ValueError):
            return None

    def _holds(self, target: str) -> bool:
        return _within(target, self.workspace) or any(_within(target, one) for one in self.also)


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
