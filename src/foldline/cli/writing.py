"""Writing a result to a file: atomically, and never over its input."""

from __future__ import annotations

import contextlib
import gzip
import os
import re
import stat
import sys
from pathlib import Path

from foldline.atomic_files import open_replacement
from foldline.cli.errors import OutputError
from foldline.errors import FoldlineError

PRIVATE = 0o600
"""Who may read a new file where there is nothing to go by: its owner, for it may hold secrets."""


_DESCRIPTOR = re.compile(r"(?:/dev/(stdin|stdout|stderr)|/(?:dev|proc/self)/fd/([0-9]{1,6}))")


def check_output(out: Path, source: str, what: str = "output") -> None:
    """
    Refuse a file that cannot be written, before any work is done.

    Args:
        out: Where a result is to go.
        source: The file that is read, or "-".
        what: What to call the result.

    Raises:
        OutputError: It is the input itself, by whatever name, or a folder, or in no folder.
    """
    if _same(out, source):
        raise OutputError(
            f"The {what} {out} is the input itself.",
            hint="Name another file; the input is never changed.",
        )
    if _is_direct(out):
        return
    if out.is_dir():
        raise OutputError(f"The {what} {out} is a folder.", hint="Name a file in it.")
    folder = Path(os.path.realpath(out)).parent
    if not folder.is_dir():
        raise OutputError(f"There is no folder {folder}.", hint=f"Run: mkdir -p {folder}")
    if not os.access(folder, os.W_OK):
        raise OutputError(
            f"The folder {folder} cannot be written.", hint="Name a file in another one."
        )


def check_apart(out: Path, other: Path, what: str, that: str) -> None:
    """
    Refuse two results in one file, of which the later would destroy the earlier.

    Raises:
        OutputError: They are the same file, by whatever name, or will be.
    """
    if _same(out, str(other)):
        raise OutputError(f"{what} {out} is {that} as well.", hint="Name another file.")


def write_whole(out: Path, data: bytes, source: str) -> None:
    """
    Write a file so that at any moment either the old or the new one is there.

    A name that ends in ``.gz`` gets compressed data. Devices and pipes are written directly.

    Args:
        out: Where to write; a symbolic link keeps pointing where it does.
        data: The content.
        source: The file that it was made from, whose permissions a new file takes; or "-".

    Raises:
        FoldlineError: It cannot be written; then nothing has changed.
    """
    target = Path(os.path.realpath(out))
    content = gzip.compress(data, mtime=0) if target.suffix == ".gz" else data
    try:
        if _is_direct(out):
            number = _descriptor(out)
            with out.open("wb") if number is None else os.fdopen(os.dup(number), "wb") as file:
                file.write(content)
        else:
            with open_replacement(target) as file:
                file.write(content)
                Path(file.name).chmod(_mode(target, source))
    except OSError as error:
        raise FoldlineError(
            f"{out} cannot be written: {error.strerror or error}.",
            hint="Nothing was changed there.",
        ) from error


def _is_direct(out: Path) -> bool:
    """Return True for what is written into rather than replaced: descriptors, pipes, devices."""
    return _descriptor(out) is not None or (
        out.exists() and not out.is_file() and not out.is_dir()
    )


def _descriptor(out: Path) -> int | None:
    """Return the open descriptor that a path names, such as /dev/stdout or /dev/fd/63."""
    found = _DESCRIPTOR.fullmatch(str(out))
    if found is None:
        return None
    return int(found[2]) if found[2] else ("stdin", "stdout", "stderr").index(found[1])


def _mode(target: Path, source: str) -> int:
    for path in (target, Path(source)):
        with contextlib.suppress(OSError, ValueError):
            return path.stat().st_mode & 0o777 | stat.S_IWUSR
    return PRIVATE


def _same(out: Path, source: str) -> bool:
    """Return True if two names, or a name and stdin, are one file."""
    try:
        there = out.stat()
        here = os.fstat(sys.stdin.fileno()) if source == "-" else Path(source).stat()
    except (OSError, ValueError):
        return source != "-" and os.path.realpath(out) == os.path.realpath(source)
    return stat.S_ISREG(there.st_mode) and os.path.samestat(there, here)
