"""
Where a text may be cut without breaking what a reader takes for one character.

This is the segmentation of Unicode (UAX 29), on the side of caution: it never cuts inside a
cluster, and in a few rare scripts it refuses cuts that would be allowed.
"""

from __future__ import annotations

from typing import Final
from unicodedata import category, combining

LONGEST: Final = 32
"""Code points of a cluster; in stream-safe texts (UAX 15) one has at most 30 marks."""

_PREPENDED: Final = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e"
    "\U000110bd\U000110cd\U000111c2\U000111c3\U0001193f\U00011941\U00011a3a\U00011d46\U00011f02"
)
_JOINERS: Final = "\u200c\u200d"
MOST_FLAGS: Final = 1_000
"""Code points of a row of flags that are counted to tell where each begins."""

_VIRAMA: Final = 9
"""The combining class of signs that join consonants in the scripts of India."""


def whole(text: str, at: int) -> bool:
    """Tell whether a cut before position ``at`` leaves every character whole."""
    if not 0 < at < len(text):
        return True
    before, after = text[at - 1], text[at]
    if before == "\r":
        return after != "\n"
    if before < "\u0300" and after < "\u0300":
        return True
    if "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff":
        return False
    if category(before) in ("Cc", "Zl", "Zp"):
        return True
    return not (
        _clings(after)
        or before == "\u200d"
        or before in _PREPENDED
        or _hangul(before, after)
        or _flag(text, at)
        or _conjunct(text, at)
    )


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
    pair = "\ud800" <= text[at - 1] <= "\udbff" and "\udc00" <= text[at] <= "\udfff"
    return at + 1 if pair and at + 1 < high else at


def _clings(char: str) -> bool:
    """Tell whether a character belongs to the one before."""
    return (
        category(char)[0] == "M"
        or char in _JOINERS
        or "\U0001f3fb" <= char <= "\U0001f3ff"  # tones of skin
        or "\U000e0020" <= char <= "\U000e007f"  # tags of flags
        or char in "\u0e33\u0eb3\uff9e\uff9f"
    )


def _hangul(before: str, after: str) -> bool:
    if "\u1160" <= after <= "\u11ff" or "\ud7b0" <= after <= "\ud7ff":
        return True
    leading = "\u1100" <= before <= "\u115f" or "\ua960" <= before <= "\ua97c"
    return leading and (
        "\u1100" <= after <= "\u115f"
        or "\ua960" <= after <= "\ua97c"
        or "\uac00" <= after <= "\ud7a3"
    )


def _flag(text: str, at: int) -> bool:
    """Tell whether a cut would halve a flag, which is two letters of a kind of their own."""
    if not (_letter_of_flag(text[at]) and _letter_of_flag(text[at - 1])):
        return False
    first = at
    while first > max(0, at - MOST_FLAGS) and _letter_of_flag(text[first - 1]):
        first -= 1
    return (at - first) % 2 == 1


def _letter_of_flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _conjunct(text: str, at: int) -> bool:
    """Tell whether a sign before joins the consonant after to the one before it."""
    if category(text[at]) != "Lo":
        return False
    place = at - 1
    while place > max(0, at - LONGEST) and (_clings(text[place])):
        if combining(text[place]) == _VIRAMA:
            return True
        place -= 1
    return False
