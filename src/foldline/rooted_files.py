"""
File access confined to a folder: paths are opened step by step, and no link is followed.

The system resolves a path while opening it, instead of a check beforehand, so that no link can be
swapped in between.
"""

from __future__ import annotations

import contextlib
import os
import posixpath
import secrets
import stat
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from foldline.errors import InputError, StoreError
from foldline.frozen import frozen

LONGEST_PATH: Final = 1_000
MOST_FOLDERS: Final = 32

PATIENCE: Final = 5.0
PAUSE: Final = 0.01
"""Lock timeout and polling interval, in seconds."""

_QUIET = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
_FILE = _QUIET | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


@frozen
class Content:
    """The bytes of a file, its mode, and its modification time, in nanoseconds since 1970."""

    data: bytes
    mode: int
    changed: int


class TooLarge(InputError):
    """A file is larger than the limit."""


@contextlib.contextmanager
def open_file(root: Path, parts: Sequence[str]) -> Iterator[int]:
    """
    Open a file for reading, without following links.

    Args:
        root: The folder; links in its own path are followed.
        parts: The folders inside it, and the name.

    Raises:
        OSError: It does not exist, or the path contains a link.
    """
    *folders, name = parts
    with contextlib.ExitStack() as stack:
        if os.open in os.supports_dir_fd:
            folder = stack.enter_context(open_folder(root, folders))
            number = os.open(name, os.O_RDONLY | _FILE, dir_fd=folder)
        else:
            number = os.open(root.joinpath(*parts), os.O_RDONLY | _FILE)
        stack.callback(os.close, number)
        yield number


@contextlib.contextmanager
def open_folder(root: Path, folders: Sequence[str], *, make: bool = False) -> Iterator[int]:
    """Open a folder inside another one, optionally creating it; see `open_file`."""
    with contextlib.ExitStack() as stack:

        def enter(part: str | Path, flags: int, inside: int | None) -> int:
            number = os.open(part, os.O_RDONLY | os.O_DIRECTORY | flags, dir_fd=inside)
            stack.callback(os.close, number)
            return number

        folder = enter(root, getattr(os, "O_CLOEXEC", 0), None)
        for part in folders:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=folder)
            folder = enter(part, _QUIET, folder)
        yield folder


def read_content(number: int, most: int) -> Content:
    """
    Read an open file.

    Args:
        number: Its descriptor.
        most: Maximum size, in bytes.

    Raises:
        TooLarge: It is larger.
        OSError: It is not a regular file, or cannot be read.
    """
    status = os.fstat(number)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(0, "it is not a regular file")
    pieces, left = [], most + 1
    while left > 0 and (piece := os.read(number, min(left, 1 << 16))):
        pieces.append(piece)
        left -= len(piece)
    if not left or status.st_size > most:
        raise TooLarge(f"it has more than {most:,} bytes")
    return Content(b"".join(pieces), stat.S_IMODE(status.st_mode), status.st_mtime_ns)


class Root:
    """
    A folder inside which files are read and replaced.

    Args:
        path: The folder.

    Raises:
        StoreError: It is not a folder, or this system does not support confinement.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).resolve()
        self._given = os.path.abspath(path)  # noqa: PTH100  # the path as given, links kept
        if not self.path.is_dir():
            raise StoreError(f"{self.path} is not a folder.", hint="Name one that exists.")

    def parts(self, path: str) -> tuple[str, ...]:
        """
        Return a path as folders inside the root and a name.

        Args:
            path: Relative to the root, or absolute and inside it.

        Raises:
            InputError: It leads outside, or is not the path of a file.
        """
        plain = path.strip()
        odd = any(ord(sign) < 32 or 0xD800 <= ord(sign) < 0xE000 for sign in plain)
        if not plain or odd or len(plain) > LONGEST_PATH:
            raise InputError(f"{path[:60]!r} is not the path of a file")
        tops = [f"{top.rstrip('/')}/" for top in (str(self.path), self._given)]
        plain = plain.removeprefix(next(filter(plain.startswith, tops), ""))
        plain = posixpath.normpath(plain)
        parts = tuple(plain.split("/"))
        if plain.startswith("/") or parts[0] in ("..", ".") or len(parts) > MOST_FOLDERS:
            raise InputError(
                f"{path[:200]!r} is not inside {self.path}", hint="Give a path relative to that."
            )
        return parts

    def read(self, parts: Sequence[str], most: int) -> Content:
        """Read a file up to a size limit; for errors see `read_content` and `open_file`."""
        with open_file(self.path, parts) as number:
            return read_content(number, most)

    def replace(self, parts: Sequence[str], data: bytes, mode: int = 0o644) -> None:
        """
        Write a file atomically and durably; missing folders are created.

        Raises:
            OSError: It cannot be written, and is unchanged.
        """
        *folders, name = parts
        with open_folder(self.path, folders, make=True) as folder:
            draft = f".foldline-{secrets.token_hex(8)}"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _QUIET
            number = os.open(draft, flags, mode, dir_fd=folder)
            try:
                with os.fdopen(number, "wb") as file:
                    os.fchmod(number, mode)
                    file.write(data)
                    file.flush()
                    os.fsync(number)
                os.replace(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(draft, dir_fd=folder)
                raise
            os.fsync(folder)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """
        Lock the files against changes by other threads and processes.

        Raises:
            StoreError: The lock is not free in time, or this system has no such lock.
        """
        try:
            import fcntl
        except ImportError:
            raise StoreError("Files can be changed on POSIX systems only.") from None
        with open_folder(self.path, ()) as number:
            end = time.monotonic() + PATIENCE
            while True:
                try:
                    fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() >= end:
                        raise StoreError(
                            f"Another writer keeps changing files in {self.path}.",
                            hint="Try again.",
                        ) from None
                    time.sleep(PAUSE)
            yield
