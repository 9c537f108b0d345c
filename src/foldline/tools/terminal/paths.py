"""Resolve paths: the working directory, programs, and files that may hold secrets."""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Final, Self

from foldline.frozen import frozen, replace
from foldline.tools.sensitive import is_sensitive
from foldline.tools.terminal.refusal import NeedsApproval, Refused, visible

DEVICE: Final = "/dev/null"
"""The only path outside the workspace that every command may read."""


@frozen
class WorkingDirectory:
    """
    The workspace and the current directory in it; both are resolved.

    ``identity`` is the device and inode of the directory, to detect that it was replaced. ``also``
    are outside paths that a person has approved for reading, ``sensitive`` the patterns of files
    and folders that require an approval.
    """

    workspace: str
    directory: str
    identity: tuple[int, int]
    also: frozenset[str] = frozenset()
    sensitive: tuple[str, ...] = ()

    @classmethod
    def at(cls, workspace: str, directory: str | None = None) -> Self:
        """
        Return an existing working directory.

        Args:
            workspace: A resolved directory.
            directory: A resolved directory in it; default the workspace.

        Raises:
            OSError: It is not a directory.
        """
        where = workspace if directory is None else directory
        seen = Path(where).stat()
        if not stat.S_ISDIR(seen.st_mode):
            raise NotADirectoryError(where)
        return cls(workspace, where, (seen.st_dev, seen.st_ino))

    @property
    def relative_path(self) -> str:
        """The directory relative to the workspace, "." for the workspace itself."""
        return os.path.relpath(self.directory, self.workspace)

    def allowing(self, *paths: str) -> Self:
        """Return a copy in which these paths may be read, too."""
        return replace(self, also=self.also | {*paths})

    def is_there(self) -> bool:
        """Return True if the directory exists and was not replaced."""
        try:
            seen = os.lstat(self.directory)
        except OSError:
            return False
        return stat.S_ISDIR(seen.st_mode) and (seen.st_dev, seen.st_ino) == self.identity

    def move_to(self, path: str) -> Self:
        """
        Return the working directory after ``cd path``; links to the outside are not followed.

        Raises:
            Refused: It leads outside, or is not a directory.
        """
        target = self.resolve(path)
        try:
            moved = type(self).at(self.workspace, target)
            return replace(moved, also=self.also, sensitive=self.sensitive)
        except OSError as error:
            raise Refused(f"cd: {visible(path)}: {error.strerror}.") from error

    def resolve(self, path: str) -> str:
        """
        Resolve a path, following links.

        Raises:
            NeedsApproval: It leads outside the workspace.
        """
        whole = posixpath.join(self.directory, path)
        try:
            target = os.path.realpath(whole)
            inside = any(_within(target, folder) for folder in (self.workspace, *self.also))
        except (OSError, ValueError):
            target, inside = posixpath.normpath(whole), False
        if not inside:
            raise NeedsApproval(f"{visible(path)} leads outside the workspace.", "outside", target)
        return target

    def leaves(self, path: str) -> bool:
        """Return True if a path leads outside the workspace."""
        try:
            self.resolve(path)
        except NeedsApproval:
            return True
        return False

    def has_entry(self, name: str) -> bool:
        """Return True if the directory has an entry of this name, even a dangling link."""
        return os.path.lexists(posixpath.join(self.directory, name))

    def check(self, path: str) -> None:
        """
        Check a path that a command reads.

        Raises:
            NeedsApproval: It leads outside the workspace, or to a file that may hold secrets.
            Refused: It is a pipe, a socket or a device: reading it may never end.
        """
        if path == DEVICE:
            return
        if path == "":
            raise Refused("An empty word is not a path.")
        target = self.resolve(path)
        self.check_names(os.path.relpath(target, self.workspace), path)
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
            self.resolve(parent or ".")

    def check_names(self, path: str, written: str = "") -> None:
        """
        Check the names in a path, even if it does not exist.

        Args:
            path: The path.
            written: The path as the model wrote it, if different.

        Raises:
            NeedsApproval: It names a file that may hold secrets.
        """
        if is_sensitive(path.split("/"), self.sensitive):
            raise NeedsApproval(f"{visible(written or path)} may hold secrets.", "secrets")


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


FOLDERS: Final = ("/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin")
"""The directories of programs, in search order."""

PACKAGES: Final = {"rg": "ripgrep", "awk": "mawk"}


@cache
def find_binary(name: str) -> str | None:
    """Return the absolute path of a program, None if it is not installed."""
    for folder in FOLDERS:
        path = f"{folder}/{name}"
        if Path(path).is_file() and os.access(path, os.X_OK):
            return path
    return None


def locate_binary(name: str) -> str:
    """
    Return the absolute path of a program.

    Raises:
        Refused: It is not installed.
    """
    path = find_binary(name)
    if path is None:
        package = PACKAGES.get(name, name)
        raise Refused(f"{name} is not installed here.", f"Install the package {package}.")
    return path


MOST_NAMES: Final = 50_000
"""The maximum number of names that are checked; reading more requires an approval."""

FOREIGN_FOLDERS: Final = frozenset(
    (
        ".git",
        ".hg",
        ".mypy_cache",
        ".nox",
        ".tox",
        ".venv",
        "node_modules",
        "site-packages",
        "venv",
    )
)
"""Folders of third-party code and of git, whose names are not checked."""


def check_below(
    place: WorkingDirectory, path: str, is_read: Callable[[str], bool] = lambda _: True
) -> None:
    """
    Check a folder that a command reads recursively.

    Args:
        place: The working directory.
        path: The folder, or a file.
        is_read: Returns True if the command reads a file, by its path relative to the folder.

    Raises:
        NeedsApproval: A file that is read may hold secrets, or there are too many files.
        Refused: The path is invalid; see `WorkingDirectory.check`.
    """
    place.check(path)
    if not place.sensitive:
        return
    top = place.resolve(path)
    for number, below in enumerate(_files_below(top)):
        if number >= MOST_NAMES:
            why = f"{visible(path)} has too many files to tell whether one may hold secrets."
            raise NeedsApproval(why, "secrets")
        if _may_hold_secrets(place, top, below) and is_read(below):
            file_path = visible(posixpath.normpath(posixpath.join(path, below)))
            raise NeedsApproval(f"It reads {file_path}, which may hold secrets.", "secrets")


def _may_hold_secrets(place: WorkingDirectory, top: str, below: str) -> bool:
    """Return True if the name of a file below a folder, or of its link target, is sensitive."""
    if is_sensitive(below.split("/"), place.sensitive):
        return True
    whole = Path(top, below)
    if not whole.is_symlink():
        return False
    target = os.path.relpath(os.path.realpath(whole), place.workspace)
    return is_sensitive(target.split("/"), place.sensitive)


def check_workspace(
    place: WorkingDirectory, is_read: Callable[[str], bool] = lambda _: True
) -> None:
    """Check the entire workspace, for a command whose files are not known; see `check_below`."""
    check_below(place, os.path.relpath(place.workspace, place.directory), is_read)


def _files_below(top: str) -> Iterator[str]:
    """Yield the relative paths of files below a folder, and of folders as they are entered."""
    for folder, folders, files in os.walk(top):
        folders[:] = [name for name in folders if name not in FOREIGN_FOLDERS]
        inner = os.path.relpath(folder, top)
        for name in files:
            yield name if inner == "." else f"{inner}/{name}"
        if not files:
            yield inner
