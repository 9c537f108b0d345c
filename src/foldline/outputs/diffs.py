"""Diffs: which files and hunks, changed lines before their surroundings."""

from __future__ import annotations

import re
from collections.abc import Sequence

from foldline.lazy import lazy_pattern
from foldline.outputs.condensed import Condensed

_DIFF = lazy_pattern(r"^(?:diff --git |@@ -\d+(?:,\d+)? \+\d+)|^--- \S.*\n\+\+\+ \S", re.MULTILINE)
_FILE = lazy_pattern(r"^(?:diff --git a/.+ b/(?P<new>.+)|\+\+\+ (?:b/)?(?P<other>[^\t]+))")
_TITLE = lazy_pattern(r"^(?:rename|similarity|new file|deleted file|Binary files|commit )")

FILE, TITLE, HUNK, CHANGE = 0.45, 0.2, 0.2, 0.08
"""Worth of the name of a file, of what happened to it, of where a hunk is, of a changed line."""


def is_diff(sample: str) -> bool:
    """Return True if a text has a diff in it."""
    return _DIFF.search(sample) is not None


def diff(lines: Sequence[str]) -> Condensed:
    """
    Judge the lines of a diff.

    Args:
        lines: The lines.

    Returns:
        The lines; those that begin a hunk also name its file.
    """
    rows, worth, heads = list(lines), dict[int, float](), list[int]()
    path = ""
    in_header = False
    for place, line in enumerate(lines):
        named = _FILE.match(line)
        if named and (line.startswith("diff") or in_header or not path):
            path = named["new"] or named["other"]
            in_header = line.startswith("diff")
            if in_header or line.startswith("+++"):
                worth[place] = FILE if line.startswith("diff") or path else 0.0
                heads.append(place)
        elif line.startswith("@@"):
            rows[place] = f"{path} {line}" if path else line
            worth[place] = HUNK
            heads.append(place)
            in_header = False
        elif _TITLE.match(line):
            worth[place] = TITLE
        elif line.startswith(("+", "-")) and not in_header:
            worth[place] = CHANGE
    return Condensed("diff", tuple(rows), worth, tuple(heads))
