"""Files on this machine and elsewhere, through fsspec: look, read within bounds, write whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from foldline.errors import FoldlineError, InputError, MissingExtra, StoreError
from foldline.formats.files import read_bytes
from foldline.tools.atomic import replace_file

_SKIP: Final = 1024 * 1024
"""Bytes of an overlong line that are passed over at a time."""


def is_remote(path: str) -> bool:
    """Return True if a path is an address such as ``s3://bucket/folder``."""
    return "://" in path


def connect(path: str) -> tuple[Any, str]:
    """
    Return the file system that holds a path, and the path as that names it.

    Raises:
        InputError: No file system has this protocol, or its package is missing.
        MissingExtra: fsspec is not installed.
    """
    try:
        from fsspec.core import url_to_fs  # type: ignore[import-untyped]
    except ImportError as error:
        raise MissingExtra("fsspec", "cluster") from error
    try:
        system, inner = url_to_fs(path)
    except (ImportError, ValueError) as error:
        raise InputError(f"{path} cannot be reached: {error}") from error
    return system, str(inner)


@contextmanager
def _readable(path: str) -> Iterator[None]:
    """Turn whatever a storage raises into an `InputError` that names the path."""
    try:
        yield
    except FoldlineError:
        raise
    except Exception as error:  # every storage has exceptions of its own
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise InputError(f"{path} cannot be read: {reason[:300]}") from error


def read_whole(path: str, most: int) -> bytes:
    """
    Read a file.

    Args:
        path: A path or an address.
        most: The largest file that is read, in bytes; of a larger one ``most + 1`` are.

    Raises:
        InputError: It cannot be read.
    """
    return read_bytes(Path(path), most) if not is_remote(path) else read_start(path, most + 1)


def read_start(path: str, size: int) -> bytes:
    """
    Read the beginning of a file, at most ``size`` bytes.

    Raises:
        InputError: It cannot be read.
    """
    with _readable(path):
        system, inner = connect(path)
        with system.open(inner, "rb") as file:
            data: bytes = file.read(size)
        return data


def read_lines(
    path: str, start: int, end: int, longest: int
) -> Iterator[tuple[int, bytes | None]]:
    """
    Read the lines that begin in a range of a file.

    Args:
        path: A path or an address.
        start: The first byte of the range.
        end: The first byte after it.
        longest: The longest line that is read, in bytes.

    Yields:
        Where a line begins, and the line; None for one that is longer.

    Raises:
        InputError: It cannot be read.
    """
    with _readable(path):
        system, inner = connect(path)
        with system.open(inner, "rb") as file:
            if start:
                file.seek(start - 1)
                _pass_line(file)
            position = file.tell()
            while position < end:
                line = file.readline(longest + 1)
                if not line:
                    return
                if len(line) > longest and not line.endswith(b"\n"):
                    _pass_line(file)
                    line = None
                yield position, line
                position = file.tell()


def _pass_line(file: Any) -> None:
    """Go to the beginning of the next line."""
    piece = file.readline(_SKIP)
    while piece and not piece.endswith(b"\n"):
        piece = file.readline(_SKIP)


def write_whole(path: str, data: bytes) -> None:
    """
    Write a file, all of it or nothing; objects of a store are whole by themselves.

    Raises:
        StoreError: It cannot be written.
    """
    try:
        if is_remote(path):
            system, inner = connect(path)
            system.pipe_file(inner, data)
        else:
            replace_file(Path(path), data)
    except FoldlineError:
        raise
    except Exception as error:
        raise StoreError(f"{path} cannot be written: {error}.") from error
