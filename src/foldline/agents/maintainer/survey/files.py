"""The files of a codebase, found and read within bounds; no link is followed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from foldline.agents.maintainer.survey.languages import language
from foldline.errors import FoldlineError
from foldline.tools.files.root import Root
from foldline.tools.files.sensitive import is_sensitive

_TOOLS: Final = """
.git .hg .svn .foldline .venv venv .tox .nox __pycache__ .mypy_cache .ruff_cache .pytest_cache
.hypothesis .cache node_modules bower_components dist build target .gradle .idea .vscode .eggs
"""

SKIPPED: Final = frozenset(_TOOLS.split())
"""Folders of tools, of what was built, and of what others wrote."""

LONGEST_LINE: Final = 5_000
"""A file with a longer line was written by a program, such as minified code."""


@dataclass(frozen=True, slots=True)
class Source:
    """A text file: its path in the codebase, its language ("" unknown), its text, its hash."""

    path: str
    language: str
    text: str
    hash: str

    @property
    def lines(self) -> int:
        """How many lines it has."""
        return self.text.count("\n") + (not self.text.endswith("\n") and bool(self.text))

    @property
    def generated(self) -> bool:
        """Whether a program must have written it, by the length of its lines."""
        return any(len(line) > LONGEST_LINE for line in self.text.split("\n"))


def paths(root: Path, most: int) -> Iterator[str]:
    """Yield the paths of at most so many files, in the order of their names."""
    count = 0
    for folder, folders, names in os.walk(root, followlinks=False):
        folders[:] = sorted(
            name for name in folders if name not in SKIPPED and not name.endswith(".egg-info")
        )
        for name in sorted(names):
            path = Path(folder, name)
            if path.is_symlink() or not path.is_file():
                continue
            count += 1
            if count > most:
                return
            yield path.relative_to(root).as_posix()


def sources(root: Root, most: int, largest: int) -> Iterator[Source]:
    """
    Yield the text files of a codebase, but for those that may hold secrets by their names.

    Args:
        root: Its folder.
        most: Files that are looked at.
        largest: Bytes of a file; larger ones are left out, as are binary ones.
    """
    for path in paths(root.path, most):
        if is_sensitive(path.split("/")):
            continue
        with suppress(FoldlineError, OSError, UnicodeDecodeError):
            data = root.read(root.parts(path), largest).data
            text = data.decode("utf-8")
            if "\0" not in text:
                yield Source(path, language(path), text, hashlib.sha256(data).hexdigest())
