"""Atomic file writes: until the new content is on disk, the file keeps its old content."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO


def replace_file(path: Path, data: bytes) -> None:
    """
    Write a file atomically; it is durable on return.

    Args:
        path: The file; its folder must exist.
        data: The new content.

    Raises:
        OSError: It cannot be written, and is unchanged.
    """
    with open_replacement(path) as file:
        file.write(data)


@contextlib.contextmanager
def open_replacement(path: Path) -> Iterator[IO[bytes]]:
    """
    Open a replacement of a file, renamed when the block ends; an error leaves the file unchanged.

    Args:
        path: The file; its folder must exist.

    Raises:
        OSError: It cannot be written.
    """
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(file.name).unlink()
            raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """
    Make a new name in a folder durable, if the folder can be opened.

    Raises:
        OSError: It cannot be synchronized to disk.
    """
    try:
        number = os.open(folder, os.O_RDONLY)
    except PermissionError:
        # Windows opens no folders, and a writable folder need not be readable. The file is already
        # in place, so this is not a failure; the system decides when its name is durable.
        return
    try:
        os.fsync(number)
    finally:
        os.close(number)
