"""Where a text may be cut without breaking what a reader takes for one character (UAX 29)."""

from __future__ import annotations

from typing import Final

import regex  # type: ignore[import-untyped]  # it ships no types

LONGEST: Final = 32
"""Code points of a cluster; in stream-safe texts (UAX 15) one has at most 30 marks."""

LOOKED_BACK: Final = 1_000
"""Code points in which a cluster's beginning is looked for: a row of flags can be that long."""

_CLUSTER: Final = regex.compile(r"\X")
_CERTAIN: Final = "\u0300"
"""Below this no character joins another, except a line feed its carriage return."""


def whole(text: str, at: int) -> bool:
    """Return True if a cut before position ``at`` leaves every character whole."""
    if not 0 < at < len(text):
        return True
    before, after = text[at - 1], text[at]
    if before == "\r":
        return after != "\n"
    if before < _CERTAIN and after < _CERTAIN:
        return True
    if _is_pair(before, after):
        return False
    start, least = at - 1, max(0, at - LOOKED_BACK)
    while start > least and not _stands_alone(text[start]):
        start -= 1
    return any(found.end() == at for found in _CLUSTER.finditer(text, start, at + LONGEST))


def nearest(text: str, at: int, low: int, high: int) -> int:
    """
    Return the whole cut that is nearest to ``at``, strictly between ``low`` and ``high``.

    Returns:
        The cut; ``at`` itself where there is none near by, which only a cluster without end has,
        and even then never the middle of a surrogate pair or of a line end.
    """
    for step in range(LONGEST + 1):
        for place in (at - step, at + step):
            if low < place < high and whole(text, place):
                return place
    return at + 1 if _is_pair(text[at - 1], text[at]) and at + 1 < high else at


def _stands_alone(char: str) -> bool:
    """Return True for ASCII, Latin and Han: nothing before such a character joins it."""
    return char < _CERTAIN or "\u3400" <= char <= "\u9fff"


def _is_pair(before: str, after: str) -> bool:
    """Return True for the halves of a character that a damaged text holds as two."""
    return "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff"
