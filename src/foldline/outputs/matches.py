"""What a search found: lines of files, with each file named once."""

from __future__ import annotations

import re
from collections.abc import Sequence

from foldline.lazy_patterns import lazy_pattern
from foldline.outputs.condensed import Condensed

_MATCH = lazy_pattern(r"(?P<path>[^\s:]{1,300}?)(?P<mark>[:-])(?P<rest>\d{1,7}[:-].*)")

FEWEST = 6
"""Lines that make a search."""


def is_search(lines: Sequence[str]) -> bool:
    """Tell whether lines are matches of a search, each with its file and number."""
    looked_at = [*lines[:40], *lines[-20:]] if len(lines) > 60 else lines
    if len(lines) < FEWEST:
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
        The text, from which `unfiled` makes the same lines; "" where it would be no shorter.
    """
    shown: list[str] = []
    last = ""
    for line in lines:
        found = _match(line)
        if found is None:
            shown.append(f"|{line}")
            continue
        path, mark = found["path"], found["mark"]
        if path[:1] in " |-":
            return ""
        if path != last:
            last = path
            shown.append(path)
        shown.append(f" {line[len(path) + 1 :]}" if mark == ":" else f"-{line[len(path) + 1 :]}")
    made = "\n".join(shown)
    return made if len(made) < sum(map(len, lines)) + len(lines) else ""


def unfiled(text: str) -> list[str]:
    """Return the matches that `by_file` wrote."""
    found, path = list[str](), ""
    for line in text.split("\n"):
        if line.startswith("|"):
            found.append(line[1:])
        elif line.startswith((" ", "-")):
            found.append(f"{path}{':' if line[0] == ' ' else '-'}{line[1:]}")
        else:
            path = line
    return found
