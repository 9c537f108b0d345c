"""
Lines that begin with a path: listings of files, and matches of a search.

Folders and files are named once; a file of `ls -R` belongs to its folder.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from foldline.lazy import lazy_pattern
from foldline.outputs.condensed import Condensed

_PATH = lazy_pattern(r"(?:\.{0,2}/|[\w.@+-]+/)[^\s:*?\"<>|]*|\.{1,2}|[\w.@+-]+\.\w{1,8}")
_FOLDER = lazy_pattern(r"(?:\.{0,2}/)?[^:\t]*[^:\s]:")
_ENTRY = lazy_pattern(r"[-dlcbps][-rwxsStT]{9}[.+@]?\s+\d+\s")
_BRANCH = lazy_pattern(r"([│|\s\xa0]*)[├└|`][─-]{2}[\s\xa0]")

FEWEST, FOLDER = 8, 0.06
"""Lines that make a listing, and what a line that names a folder is worth."""


def kind_of_listing(lines: Sequence[str]) -> str:
    """Return "paths", "ls" or "tree", "" where lines list no files."""
    looked_at = [*lines[:60], *lines[-20:]] if len(lines) > 80 else lines
    if len(lines) < FEWEST:
        return ""
    if sum(1 for line in looked_at if _ENTRY.match(line)) >= 0.5 * len(looked_at):
        return "ls"
    if sum(1 for line in looked_at if _BRANCH.match(line)) >= 0.7 * len(looked_at):
        return "tree"
    paths = sum(1 for line in looked_at if _PATH.fullmatch(line) and "/" in line)
    return "paths" if paths >= 0.8 * len(looked_at) else ""


def listing(text: str, lines: Sequence[str], kind: str) -> Condensed:
    """
    Take a listing apart.

    Args:
        text: The listing with its indentation.
        lines: Its lines.
        kind: See `kind_of_listing`.
    """
    if kind == "ls":
        return _ls(lines)
    if kind == "tree":
        return Condensed("listing", tuple(_branches(text)))
    whole = factor_paths(lines)
    return Condensed("listing", tuple(lines), whole=whole, lossless=bool(whole))


def _ls(lines: Sequence[str]) -> Condensed:
    heads = tuple(
        place
        for place, line in enumerate(lines)
        if line.endswith(":") and _FOLDER.fullmatch(line) and not _ENTRY.match(line)
    )
    return Condensed("listing", tuple(lines), dict.fromkeys(heads, FOLDER), heads, apart=True)


def _branches(text: str) -> list[str]:
    """Write the lines of a tree as paths."""
    found: list[str] = []
    above: list[str] = []
    for line in text.split("\n"):
        branch = _BRANCH.match(line)
        if branch is None:
            if line.strip():
                found.append(line.strip())
                above = []
            continue
        depth = len(branch.group(1)) // 4
        name = line[branch.end() :].strip()
        del above[depth:]
        found.append("/".join((*above, name)))
        above += [""] * (depth - len(above))
        above.append(name.rstrip("/"))
    return found


def factor_paths(lines: Sequence[str]) -> str:
    """
    Write paths with each folder once, and their names below it.

    Returns:
        The text, from which the same lines can be read; "" where it would be no shorter.
    """
    rows: list[str] = []
    last: str | None = None
    for line in lines:
        folder, slash, name = line.rpartition("/")
        if line[:1].isspace() or not line or "\n" in line:
            return ""
        if folder + slash != last:
            last = folder + slash
            rows.append(last or "./.")
        rows.append(f" {name}")
    return _shorter(rows, lines)


def _shorter(rows: Sequence[str], lines: Sequence[str]) -> str:
    made = "\n".join(rows)
    return made if len(made) < sum(map(len, lines)) + len(lines) else ""


# --- what a search found -----------------------------------------------------------------------

_MATCH = lazy_pattern(r"(?P<path>[^\s:]{1,300}?)(?P<mark>[:-])(?P<rest>\d{1,7}[:-].*)")

MATCHES = 6
"""Lines that make a search."""


def is_search(lines: Sequence[str]) -> bool:
    """Return True if lines are matches of a search, each with its file and number."""
    looked_at = [*lines[:40], *lines[-20:]] if len(lines) > 60 else lines
    if len(lines) < MATCHES:
        return False
    found = sum(1 for line in looked_at if line == "--" or _match(line))
    return found >= 0.8 * len(looked_at)


def search(lines: Sequence[str]) -> Condensed:
    """Take the matches of a search apart."""
    whole = by_file(lines)
    return Condensed("search", tuple(lines), whole=whole, lossless=bool(whole))


def _match(line: str) -> re.Match[str] | None:
    found = _MATCH.match(line, 0, 400)
    return found if found and ("/" in found["path"] or "." in found["path"]) else None


def by_file(lines: Sequence[str]) -> str:
    """
    Write matches with each file once, and its lines below it.

    Returns:
        The text, from which the same lines can be read; "" where it would be no shorter.
    """
    rows: list[str] = []
    last = ""
    for line in lines:
        found = _match(line)
        if found is None:
            rows.append(f"|{line}")
            continue
        path, mark = found["path"], found["mark"]
        if path[:1] in " |-":
            return ""
        if path != last:
            last = path
            rows.append(path)
        rows.append(f" {line[len(path) + 1 :]}" if mark == ":" else f"-{line[len(path) + 1 :]}")
    return _shorter(rows, lines)
