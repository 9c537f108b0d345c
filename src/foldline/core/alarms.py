"""Alarms: lines that speak of something that went wrong."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

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
    """
    Find the alarms among lines.

    Returns:
        Their positions. One search of a word goes through all lines at once, at C speed.
    """
    text = "\n".join(lines)
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    found = set()
    for last in _last_characters(text):
        position = bisect_right(starts, last) - 1
        if last - starts[position] < SEEN:
            found.add(position)
    return found


def _last_characters(text: str) -> Iterator[int]:
    """Yield where words end: all of a word has to be seen."""
    for word in WORDS:
        place = text.find(word)
        while place >= 0:
            yield place + len(word) - 1
            # One alarm a line is enough.
            after = text.find("\n", place)
            place = text.find(word, after) if after >= 0 else -1
