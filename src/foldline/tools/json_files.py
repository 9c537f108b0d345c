"""Small files of JSON: one value that is read whole, or lines that are only ever added to."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from io import FileIO
from pathlib import Path
from typing import Any, Final, TypeVar

from foldline.errors import UNREADABLE, FoldlineError, InputError, StoreError

Value = TypeVar("Value")

WRITABLE: Final = "Name a file in a folder that exists and can be written."


def read_value(
    path: Path, what: str, schema: str, parse: Callable[[Any], Value], most: int = 1 << 20
) -> Value | None:
    """
    Return what a function makes of the value in a file, None where there is no file.

    Args:
        path: The file.
        what: What errors call it, such as "checkpoint".
        schema: What the value has as its "schema".
        parse: Takes the value; what it raises says that the file is damaged.
        most: Bytes that it may have.

    Raises:
        StoreError: The file cannot be read, or holds something else.
    """
    data = _read(path, what, most)
    if data is None:
        return None
    try:
        if len(data) > most:
            raise InputError(f"it has more than {most:,} bytes")
        value = json.loads(data)
        if value["schema"] != schema:
            raise InputError(f"its schema is not {schema}")
        return parse(value)
    except (*UNREADABLE, FoldlineError) as error:
        why = f"The file {path} is no {what}: {error}."
        raise StoreError(why, hint="Move it away, or name another.") from error


def read_lines(path: Path, what: str, most: int = 64 << 20, *, hint: str) -> list[bytes]:
    """
    Return the lines of a file, none where there is no file.

    Args:
        path: The file.
        what: What errors call it, such as "journal".
        most: Bytes that it may have.
        hint: What errors advise when it has more.

    Raises:
        StoreError: The file cannot be read, or has more than ``most`` bytes.
    """
    data = _read(path, what, most) or b""
    if len(data) > most:
        why = f"The {what} {path} has more than {most >> 20} MB."
        raise StoreError(why, hint=hint)
    return [line for line in data.split(b"\n") if line]


def _read(path: Path, what: str, most: int) -> bytes | None:
    try:
        with path.open("rb") as file:
            return file.read(most + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"The {what} {path} cannot be read: {error.strerror}.") from error


def append_line(path: Path, line: Mapping[str, Any], what: str, *, hint: str = WRITABLE) -> None:
    """
    Add a line of JSON to a file, in one piece and durably; a line that a crash cut off is ended.

    Ending it takes the right to read, adding does not. A link at the path is never followed:
    whoever can make one there must not choose the file.

    Args:
        path: The file, which may be made.
        line: What to add.
        what: What errors call the file, such as "journal".
        hint: What errors advise.

    Raises:
        StoreError: It cannot be written.
    """
    try:
        with _open_to_append(path) as file:
            number = file.fileno()
            size = os.fstat(number).st_size
            torn = file.readable() and size > 0 and os.pread(number, 1, size - 1) != b"\n"
            whole = (b"\n" if torn else b"") + json.dumps(line).encode("ascii") + b"\n"
            if os.write(number, whole) != len(whole):
                raise OSError(0, "only a part of the line was written")
            os.fsync(number)
    except OSError as error:
        why = f"The {what} {path} cannot be written: {error.strerror}."
        raise StoreError(why, hint=hint) from error


def _open_to_append(path: Path) -> FileIO:
    """Open a file to append to, also for reading where that is allowed."""
    flags = os.O_CREAT | os.O_APPEND
    for name in ("O_CLOEXEC", "O_NOFOLLOW"):  # not every system has them
        flags |= getattr(os, name, 0)
    try:
        return os.fdopen(os.open(path, flags | os.O_RDWR, 0o600), "ab+", buffering=0)
    except PermissionError:  # a log may be one that its writer cannot read
        return os.fdopen(os.open(path, flags | os.O_WRONLY, 0o600), "ab", buffering=0)
