"""Small JSON files: a single value, or append-only lines."""

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
    Parse the JSON value in a file; None if there is no file.

    Args:
        path: The file.
        what: The name of the file in errors, such as "checkpoint".
        schema: The expected value of the key "schema".
        parse: Converts the value; an exception means that the file is damaged.
        most: The maximum size in bytes.

    Raises:
        StoreError: The file cannot be read, or is invalid.
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
        why = f"The file {path} is not a {what}: {error}."
        raise StoreError(why, hint="Move it away, or name another.") from error


def read_lines(path: Path, what: str, most: int = 64 << 20, *, hint: str) -> list[bytes]:
    """
    Return the lines of a file, none if there is no file.

    Args:
        path: The file.
        what: The name of the file in errors, such as "journal".
        most: The maximum size in bytes.
        hint: The hint of the error if it is larger.

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
    Append a JSON line to a file, atomically and durably, after ending a line cut off by a crash.

    Ending such a line requires read permission, appending does not. A link at the path is never
    followed: its creator must not choose the file.

    Args:
        path: The file, which is created if it is missing.
        line: What to add.
        what: The name of the file in errors, such as "journal".
        hint: The hint of errors.

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
    """Open a file for appending, and for reading if permitted."""
    flags = os.O_CREAT | os.O_APPEND
    for name in ("O_CLOEXEC", "O_NOFOLLOW"):  # not every system has them
        flags |= getattr(os, name, 0)
    try:
        return os.fdopen(os.open(path, flags | os.O_RDWR, 0o600), "ab+", buffering=0)
    except PermissionError:  # a log may be unreadable to its writer
        return os.fdopen(os.open(path, flags | os.O_WRONLY, 0o600), "ab", buffering=0)
