"""Write a result to a file: atomically, and never over its input."""

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
"""Default mode of a new file: readable by its owner only, since it may hold secrets."""


_DESCRIPTOR = re.compile(r"(?:/dev/(stdin|stdout|stderr)|/(?:dev|proc/self)/fd/([0-9]{1,6}))")


def check_output(out: Path, source: str, what: str = "output") -> None:
    """
    Reject an output file that cannot be written, before any work is done.

    Args:
        out: Destination of the result.
        source: The file that is read, or "-".
        what: Name of the result in errors.

    Raises:
        OutputError: It is the input itself under any name, a folder, or in a missing folder.
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
            f"The folder {folder} cannot be written.", hint="Name a file in another folder."
        )


def check_apart(out: Path, other: Path, what: str, that: str) -> None:
    """
    Reject two results in one file, where the later would overwrite the earlier.

    Raises:
        OutputError: They are, or would become, the same file.
    """
    if _same(out, str(other)):
        raise OutputError(f"{what} {out} is also {that}.", hint="Name another file.")


def write_whole(out: Path, data: bytes, source: str) -> None:
    """
    Write a file atomically: at any moment it is either the old or the new one.

    A name that ends in ``.gz`` gets compressed data. Devices and pipes are written directly.

    Args:
        out: Destination; a symbolic link is kept.
        data: The content.
        source: The input file, whose permissions a new file takes; or "-".

    Raises:
        FoldlineError: It cannot be written; nothing has changed.
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
    """Return True if a path is written in place, not replaced: descriptors, pipes, devices."""
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
        target = out.stat()
        here = os.fstat(sys.stdin.fileno()) if source == "-" else Path(source).stat()
    except (OSError, ValueError):
        return source != "-" and os.path.realpath(out) == os.path.realpath(source)
    return stat.S_ISREG(target.st_mode) and os.path.samestat(target, here)
