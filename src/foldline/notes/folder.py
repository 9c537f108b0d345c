"""
Safe access to the files of one folder: no path traversal, and atomic writes.

A name is a single component; links are not followed, and only regular files are read. A file is
written under a temporary name, flushed to disk, and then renamed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, Self

from foldline.atomic_files import sync_folder
from foldline.errors import InputError, StoreError
from foldline.frozen import frozen
from foldline.notes.note import BrokenNote

LONGEST_NAME: Final = 255
PART: Final = ".writing-"
"""The prefix of temporary files; a crash may leave one behind."""

LISTING: Final = "INDEX.md"
"""The page that lists the notes of a folder; it is not a note."""

ABANDONED: Final = 3_600.0
"""The age in seconds at which a temporary file counts as abandoned."""

_NO_LINKS: Final = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
_NOFOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)
_READ: Final = os.O_RDONLY | _NOFOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


class Stamp(NamedTuple):
    """Values that change when a file changes; times are in nanoseconds since 1970."""

    inode: int
    size: int
    modified: int
    changed: int

    @classmethod
    def of(cls, status: os.stat_result) -> Self:
        """Return the stamp of a file."""
        return cls(status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


@frozen
class Folder:
    """
    An existing folder that is not a link.

    Raises:
        StoreError: It is not a folder, or cannot be created.
    """

    path: Path

    def __post_init__(self) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            status = self.path.lstat()
        except (OSError, ValueError) as error:
            raise _store_error(f"The folder {self.path} cannot be created", error) from error
        if not stat.S_ISDIR(status.st_mode):
            raise StoreError(
                f"{self.path} is a link, not a folder.", hint="Name the folder itself."
            )

    def subfolder(self, name: str) -> Folder:
        """Return a subfolder; it is created if it is missing."""
        return Folder(self._at(name))

    def has(self, name: str) -> bool:
        """Return True if the name exists."""
        return os.path.lexists(self._at(name))

    def names(self) -> list[str]:
        """Return the names in the folder, sorted."""
        return sorted(name for name in os.listdir(self.path) if not name.startswith(PART))  # noqa: PTH208  # names, not paths

    def stamps(self, ending: str) -> Iterator[tuple[str, Stamp]]:
        """Yield the regular files and links with this suffix, and their stamps."""
        for entry in self._listed(ending):
            with contextlib.suppress(FileNotFoundError):
                yield entry.name, Stamp.of(entry.stat(follow_symlinks=False))

    def inodes(self, ending: str) -> Iterator[tuple[str, int]]:
        """Yield the files of `stamps` with their inodes only, which is much cheaper."""
        return ((entry.name, entry.inode()) for entry in self._listed(ending))

    def _listed(self, ending: str) -> Iterator[os.DirEntry[str]]:
        with os.scandir(self.path) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith(ending) and not name.startswith(".") and name != LISTING:
                    yield entry

    def stamp(self, name: str) -> Stamp | None:
        """Return the stamp of a file; None if it does not exist."""
        try:
            return Stamp.of(os.lstat(f"{self.path}/{name}"))
        except OSError:
            return None

    def own_stamp(self) -> Stamp:
        """Return the stamp of the folder itself; it changes when files come and go."""
        return Stamp.of(self.path.stat())

    def read(self, name: str, most: int) -> tuple[bytes, Stamp]:
        """
        Read a file.

        Args:
            name: The name of the file.
            most: The maximum size in bytes.

        Raises:
            FileNotFoundError: It does not exist.
            BrokenNote: It is a link, not a regular file, too large, or not readable.
        """
        try:
            descriptor = os.open(self._at(name), _READ)
        except FileNotFoundError:
            raise
        except OSError as error:
            link = error.errno in (errno.ELOOP, errno.EMLINK)
            raise BrokenNote("it is a link" if link else f"{error.strerror}") from error
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            os.close(descriptor)
            raise BrokenNote("it is not a regular file")
        with open(descriptor, "rb") as file:  # noqa: PTH123  # a descriptor has no path
            if status.st_size > most:
                raise BrokenNote(f"it has {status.st_size:,} bytes; the limit is {most:,}")
            return file.read(most + 1), Stamp.of(status)

    def create(self, name: str, data: bytes) -> None:
        """
        Write a new file.

        Raises:
            FileExistsError: The name exists already; it is unchanged.
            StoreError: It cannot be written; nothing is left behind.
        """
        with self._write(name, data) as (part, place):
            try:
                os.link(part, place)
            except OSError as error:
                if error.errno not in _NO_LINKS:
                    raise
                if os.path.lexists(place):
                    raise FileExistsError(errno.EEXIST, "it exists", str(place)) from error
                part.replace(place)

    def replace(self, name: str, data: bytes, *, durable: bool = True) -> None:
        """
        Replace the content of a file.

        Args:
            name: The name of the file.
            data: The new content.
            durable: Wait until it is on disk.

        Raises:
            StoreError: It cannot be written; the old content stays.
        """
        with self._write(name, data, durable=durable) as (part, place):
            with contextlib.suppress(FileNotFoundError):
                part.chmod(stat.S_IMODE(place.lstat().st_mode))
            part.replace(place)

    def move(self, name: str, other: Folder, new_name: str) -> None:
        """
        Move a file to another folder on the same disk.

        Raises:
            FileNotFoundError: It does not exist.
            StoreError: The new name exists already, or the file cannot be moved.
        """
        if other.has(new_name):
            raise StoreError(f"{other.path / new_name} already exists.", hint="Move it elsewhere.")
        try:
            self._at(name).rename(other._at(new_name))
            sync_folder(other.path)
            sync_folder(self.path)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise _store_error(f"{self.path / name} cannot be moved", error) from error

    def sweep(self) -> None:
        """Remove temporary files that a crash left behind."""
        for entry in self.path.glob(f"{PART}*"):
            with contextlib.suppress(OSError):
                if time.time() - entry.lstat().st_mtime > ABANDONED:
                    entry.unlink()

    @contextlib.contextmanager
    def _write(
        self, name: str, data: bytes, *, durable: bool = True
    ) -> Iterator[tuple[Path, Path]]:
        place, part = self._at(name), self.path / f"{PART}{secrets.token_hex(8)}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | getattr(os, "O_CLOEXEC", 0)
        try:
            with open(os.open(part, flags, 0o666), "wb") as file:  # noqa: PTH123  # as above
                file.write(data)
                file.flush()
                if durable:
                    os.fsync(file.fileno())
            yield part, place
            if durable:
                sync_folder(self.path)
        except FileExistsError:
            raise
        except OSError as error:
            raise _store_error(f"{place} cannot be written", error) from error
        finally:
            with contextlib.suppress(OSError):
                part.unlink()

    def _at(self, name: str) -> Path:
        plain = name not in ("", ".", "..") and not set(name) & {"/", "\\", "\0"}
        if not plain or len(name.encode("utf-8", "replace")) > LONGEST_NAME:
            raise InputError(f"{name[:80]!r} is not the name of a file in a folder")
        return self.path / name


def _store_error(what: str, error: Exception) -> StoreError:
    reason = getattr(error, "strerror", None) or str(error)
    return StoreError(f"{what}: {reason}.", hint="Check its permissions and the free space.")


POLL: Final = 0.005
"""Seconds between two attempts to get a lock."""


class FolderLock:
    """
    A reentrant lock on a file.

    Args:
        path: The lock file; it is created, and stays empty.
        patience: The timeout in seconds.
        busy: The error message after a timeout.
    """

    def __init__(self, path: Path, patience: float, busy: str) -> None:
        from filelock import FileLock

        self._lock = FileLock(path, timeout=patience, poll_interval=POLL)
        self._busy = busy

    @contextmanager
    def held(self, patience: float | None = None) -> Iterator[None]:
        """
        Hold the lock.

        Args:
            patience: The timeout in seconds, if not the default.

        Raises:
            StoreError: The lock was not released in time.
        """
        from filelock import Timeout

        try:
            self._lock.acquire(timeout=patience)
        except Timeout as error:
            raise StoreError(self._busy, hint="Retry when it is done.") from error
        except OSError as error:
            raise StoreError(
                f"{self._lock.lock_file} cannot be locked: {error.strerror}.",
                hint="Check the permissions of the folder.",
            ) from error
        try:
            yield
        finally:
            self._lock.release()
