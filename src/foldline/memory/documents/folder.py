"""The files below a folder that may be documents."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

from foldline.core.retention_settings import SECRETS
from foldline.errors import InputError

DEEPEST: Final = 32
LEFT_OUT: Final = frozenset(
    {"node_modules", "__pycache__", "venv", "target", "dist", "build", "site-packages"}
)
"""Folders of what others wrote or programs made; so are those whose name begins with a dot."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """What was not read, and why."""

    path: Path
    why: str


def is_folder(path: Path) -> bool:
    """
    Return True if there is a folder, False if there is something else or nothing.

    Raises:
        InputError: It is no path at all.
    """
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{str(path)[:100]!r} cannot be read: {reason}", field="path") from error


def files_below(folder: Path, most: int) -> Iterator[Path | Skipped]:
    """
    Walk through a folder, in the order of names.

    Links are never followed, and files that hold secrets by their name are left out.

    Args:
        folder: Where to begin.
        most: Entries that are looked at.

    Yields:
        Regular files that are not empty, and what was left out for a reason worth telling.
    """
    waiting, looked = [(folder, 0)], 0
    while waiting:
        here, depth = waiting.pop()
        try:
            with os.scandir(here) as entries:
                children = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            yield Skipped(here, error.strerror or str(error))
            continue
        looked += len(children)
        if looked > most or depth > DEEPEST:
            yield Skipped(here, "too many or too deep folders; name a smaller one")
            return
        folders = [child for child in children if _is_folder(child)]
        waiting += [(Path(child.path), depth + 1) for child in reversed(folders)]
        for child in children:
            yield from _file(child)


def is_secret(name: str) -> bool:
    """Return True if a file with this name holds secrets."""
    return any(fnmatch(name.lower(), pattern) for pattern in SECRETS)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    hidden = entry.name.startswith(".") or entry.name in LEFT_OUT
    return not hidden and entry.is_dir(follow_symlinks=False)


def _file(entry: os.DirEntry[str]) -> Iterator[Path | Skipped]:
    path = Path(entry.path)
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError as error:
        yield Skipped(path, error.strerror or str(error))
        return
    if stat.S_ISLNK(status.st_mode):
        yield Skipped(path, "a link")
    elif stat.S_ISREG(status.st_mode) and status.st_size:
        if is_secret(entry.name):
            yield Skipped(path, "its name says that it holds secrets")
        elif not entry.name.startswith("."):
            yield path
