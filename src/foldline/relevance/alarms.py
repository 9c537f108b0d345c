"""Alarms: lines that speak of something that went wrong."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from sys import maxsize

WORDS = (
    *("error", "Error", "ERROR", "fail", "Fail", "FAIL", "exception", "Exception", "Traceback"),
    *("panic", "fatal", "Fatal", "FATAL", "错误", "失败", "异常"),
)

SEEN = 400
"""Characters of a line that are looked at."""


def is_alarm(line: str) -> bool:
    """Tell whether a line speaks of something that went wrong."""
    seen = line[:SEEN]
    return any(word in seen for word in WORDS)


def alarming(lines: Sequence[str]) -> set[int]:
    """Find the alarms among lines; return their positions."""
    return lines_with(lines, WORDS, SEEN)


def lines_with(lines: Sequence[str], words: Iterable[str], seen: int = maxsize) -> set[int]:
    """
    Find the lines with one of some words.

    Args:
        lines: Lines without line feeds.
        words: The words.
        seen: Characters of a line that are looked at.

    Returns:
        Their positions. One search of a word goes through all lines at once, at C speed.
    """
    text = "\n".join(lines)
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    found = set[int]()
    for word in words:
        place = text.find(word)
        while place >= 0:
            line = bisect_right(starts, place) - 1
            if place + len(word) <= starts[line] + seen:
                found.add(line)
            # Once a line is enough.
            place = text.find(word, starts[line + 1])
    return found
