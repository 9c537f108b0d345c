"""Files that may hold secrets below what a command reads as a whole: a person is asked first."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterator
from typing import Final

from foldline.tools.files.sensitive import is_sensitive
from foldline.tools.terminal.paths import Place
from foldline.tools.terminal.refusal import Beyond, visible

MOST: Final = 50_000
"""Names that are looked at; whoever reads more files at once is asked about."""

PACKAGES: Final = frozenset(
    (
        ".git",
        ".hg",
        ".mypy_cache",
        ".nox",
        ".tox",
        ".venv",
        "node_modules",
        "site-packages",
        "venv",
    )
)
"""Folders of what others have published, and of what git keeps: their names are not looked at."""


def check_below(place: Place, path: str, is_read: Callable[[str], bool] = lambda _: True) -> None:
    """
    Check a folder that a command reads with all that is in it.

    Args:
        place: Where the path is looked up.
        path: The folder; a file is as good.
        is_read: Tells whether a file is read, by its path below the folder.

    Raises:
        Beyond: A file that is read may hold secrets, or there are too many to know.
        Refused: The path makes no sense; see `Place.check`.
    """
    place.check(path)
    if not place.sensitive:
        return
    top = place.resolved(path)
    for number, below in enumerate(_files(top)):
        if number >= MOST:
            why = f"{visible(path)} has too many files to tell whether one may hold secrets."
            raise Beyond(why, "secrets")
        if is_sensitive(below.split("/"), place.sensitive) and is_read(below):
            shown = visible(posixpath.normpath(posixpath.join(path, below)))
            raise Beyond(f"It reads {shown}, which may hold secrets.", "secrets")


def _files(top: str) -> Iterator[str]:
    """Yield the files of a folder by their paths below it, and folders as they are entered."""
    for folder, folders, files in os.walk(top):
        folders[:] = [name for name in folders if name not in PACKAGES]
        inner = os.path.relpath(folder, top)
        for name in files:
            yield name if inner == "." else f"{inner}/{name}"
        if not files:
            yield inner
