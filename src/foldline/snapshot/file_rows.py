"""Rows of files with what was done to them: written by folder, and read again from a snapshot."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from foldline.lazy import lazy_pattern

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


def file_rows(done: Mapping[str, str]) -> list[str]:
    """Write files with what was done to them: by folder, or below the one of all, if shorter."""
    by_folder = list(_by_folder(done))
    below = list(_below_one(done))
    return below if below and sum(map(len, below)) < sum(map(len, by_folder)) else by_folder


def _by_folder(done: Mapping[str, str]) -> Iterator[str]:
    folders: dict[str, list[str]] = {}
    for path, what in done.items():
        folder, name = posixpath.split(path)
        folders.setdefault(folder or ".", []).append(_item(name, what))
    for folder, names in folders.items():
        single = len(names) < FOLDER and not any(_SEPARATOR.search(name) for name in names)
        if single and folder != "." and not _SEPARATOR.search(folder):
            yield from (ITEM + posixpath.join(folder, name) for name in names)
            continue
        yield from _rows(folder, names)


def _below_one(done: Mapping[str, str]) -> Iterator[str]:
    folders = {posixpath.dirname(path) for path in done}
    apart = all(path.startswith("/") and not _SEPARATOR.search(path) for path in done)
    root = posixpath.commonpath(folders) if len(done) > 1 and apart else ""
    if len(root) > 1:
        items = [_item(posixpath.relpath(path, root), what) for path, what in done.items()]
        yield from _rows(root, items)


def _item(name: str, what: str) -> str:
    return f"{name} ({what})" if what else name


def _rows(folder: str, names: Sequence[str]) -> Iterator[str]:
    for start in range(0, len(names), FILES_A_FOLDER):
        yield f"{ITEM}{folder}: {', '.join(names[start : start + FILES_A_FOLDER])}"
