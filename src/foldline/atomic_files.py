"""Writing a file whole: until the new content is on the disk, the file is what it was."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO


def replace_file(path: Path, data: bytes) -> None:
    """
    Write a file, all of it or nothing; it is durable when this returns.

    Args:
        path: The file; its folder exists.
        data: What it holds from now on.

    Raises:
        OSError: It cannot be written, and is what it was.
    """
    with open_replacement(path) as file:
        file.write(data)


@contextlib.contextmanager
def open_replacement(path: Path) -> Iterator[IO[bytes]]:
    """
    Open what takes the place of a file when the block ends; an error leaves the file as it was.

    Args:
        path: The file; its folder exists.

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
    Make a new name in a folder durable, where the folder may be opened.

    Raises:
        OSError: It cannot be brought to the disk.
    """
    try:
        number = os.open(folder, os.O_RDONLY)
    except PermissionError:
        # Windows opens no folder, and one that may be written need not be readable. The file is in
        # its place already, so this is no failure; when its name is durable is up to the system.
        return
    try:
        os.fsync(number)
    finally:
        os.close(number)
