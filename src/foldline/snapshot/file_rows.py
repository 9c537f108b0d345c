"""Rows of files with what was done to them: written by folder, and read again from a snapshot."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from foldline.lazy_patterns import lazy_pattern

FOLDER, FILES_A_FOLDER = 3, 12
"""From how many files on their folder stands but once, and how many stand in a line then."""

ITEM: Final = "- "
"""How rows begin that have no handle: what follows, a command or a path, could pass for a row."""

_SEPARATOR = lazy_pattern("[,:] ")


def listed_files(earlier: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the files that an earlier snapshot lists, with what was done to each."""
    for line in (row.removeprefix(ITEM) for row in earlier):
        folder, _, listed = line.partition(": ") if ": " in line else ("", "", line)
        for item in listed.split(", "):
            name, _, what = item.rpartition(" (")
            path = posixpath.join("" if folder == "." else folder, name or item)
            yield path, what.removesuffix(")") if name else ""


def file_rows(done: Mapping[str, str]) -> Iterator[str]:
    """Write files with what was done to them, those of a folder together."""
    folders: dict[str, list[str]] = {}
    for path, what in done.items():
        folder, name = posixpath.split(path)
        folders.setdefault(folder or ".", []).append(f"{name} ({what})" if what else name)
    for folder, names in folders.items():
        single = len(names) < FOLDER and not any(_SEPARATOR.search(name) for name in names)
        if single and folder != "." and not _SEPARATOR.search(folder):
            yield from (ITEM + posixpath.join(folder, name) for name in names)
            continue
        for start in range(0, len(names), FILES_A_FOLDER):
            yield f"{ITEM}{folder}: {', '.join(names[start : start + FILES_A_FOLDER])}"
