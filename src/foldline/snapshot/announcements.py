"""Announcements: sentences of an agent that only say what it does next, or are courtesies."""

from __future__ import annotations

import re
from typing import Final

from foldline.lazy import lazy_pattern
from foldline.snapshot.statements import COLONS

SENTENCE: Final = 240
"""Characters of the longest sentence that is nothing but an announcement."""

_OPENING = (
    r"(?:(?:now|ok(?:ay)?|good|great|perfect|excellent|next|first|alright|so|then|and|wait|hmm"
    r"|finally|again)\b[,.!: ]{0,4}){0,6}"
)
_GOING = (
    r"(?:let me|let's|let us|i'll|i will|i'm going to|i am going to|i need to|i should|i want to"
    r"|we need to|we should|now i)"
)
_LOOKS = (
    r"(?:look|check|read|run|open|search|inspect|see|try|verify|examine|find|view|explore|test"
    r"|grab|pull|start|begin|take a look|go|understand|analy[sz]e|investigate|review|proceed"
    r"|continue)\b"
)
_ANNOUNCES = lazy_pattern(
    rf"{_OPENING}(?:{_GOING}|i (?:now |also |first |then )?{_LOOKS}"
    r"|(?:looking|checking|reading|running|searching|trying|opening) )",
    re.IGNORECASE,
)
_LOOKING = lazy_pattern(
    rf"{_OPENING}(?:{_GOING} |i )(?:now |also |first |then |just |quickly )?{_LOOKS}",
    re.IGNORECASE,
)
_BESIDE = lazy_pattern(r"[^.!?]{0,160}, (?:let's|let me|i'll) ", re.IGNORECASE)
_STEP = lazy_pattern(r"[*# ]{0,8}(?:step|phase) \d{1,3}\b[^\n]*", re.IGNORECASE)
_COURTESY = lazy_pattern(
    rf"{_OPENING}(?:i apologi[sz]e|my apologies|sorry|thank you|thanks"
    r"|you're (?:absolutely )?right|got it|sure|of course|certainly|absolutely)?"
    r"\b[^.!?\n]{0,60}[.!]?\Z",
    re.IGNORECASE,
)
_OPENS = lazy_pattern(
    r"(?:great|perfect|excellent|good|okay|ok|alright|sorry|thanks|thank you|got it|sure"
    r"|i apologi[sz]e|of course|certainly|absolutely|now)\b",
    re.IGNORECASE,
)
_NOTHING = lazy_pattern(r"\W*no response requested\W*", re.IGNORECASE)
_TELLS = lazy_pattern(
    r"\b(?:because|since|instead|not|never|only|must|cause[ds]?|due to|so that|rather than)\b"
    r"|n't\b|\d{2}",
    re.IGNORECASE,
)
_TELLS_NEEDLES: Final = (
    *("because", "since", "instead", "not", "never", "only", "must", "caus", "due to", "so that"),
    *("rather than", "n't"),
)
"""One of these, in lower case, or a digit stands in everything that `_TELLS` finds."""

_FIGURE = lazy_pattern(r"\d\d")
# White space is searched for faster than what stands before it.
_END = lazy_pattern(r"\s(?:(?<=[.!?]\s)|(?<=\n))\s*")


def announces(statement: str) -> bool:
    """Return True if a statement is one sentence that says what its author does next."""
    statement = statement.replace("’", "'")
    if len(statement) > SENTENCE or _END.search(statement.strip()):
        return False
    if statement.endswith(COLONS):
        return True  # What it announces is a call, which has a row of its own.
    return _ANNOUNCES.match(statement) is not None or _STEP.fullmatch(statement) is not None


def is_chatter(sentence: str) -> bool:
    """Return True if a sentence says nothing to somebody who goes on."""
    sentence = sentence.replace("’", "'")
    if len(sentence) > SENTENCE:
        return False
    if _LOOKING.match(sentence) or _NOTHING.fullmatch(sentence):
        return True
    if _tells(sentence):
        return False
    if _ANNOUNCES.match(sentence) or _BESIDE.match(sentence):
        return True
    return _OPENS.match(sentence) is not None and _COURTESY.match(sentence) is not None


def _tells(sentence: str) -> bool:
    lowered = sentence.lower()
    for needle in _TELLS_NEEDLES:
        if needle in lowered:
            return _TELLS.search(sentence) is not None
    return _FIGURE.search(sentence) is not None


def without_chatter(text: str, start: int, end: int) -> tuple[int, int]:
    """
    Cut sentences that say nothing off both ends of a statement.

    Args:
        text: What the statement is a slice of.
        start: Where it begins.
        end: Where it ends.

    Returns:
        Where it begins and ends then; as before where nothing else is left.
    """
    first, last = start, end
    while gap := _END.search(text, first, min(last, first + SENTENCE + 2)):
        if gap.end() >= last or not is_chatter(text[first : gap.start()].strip()):
            break
        first = gap.end()
    while True:
        near = max(first, last - SENTENCE - 2)
        gaps = list(_END.finditer(text, near, last))
        if not gaps or not is_chatter(text[gaps[-1].end() : last].strip()):
            break
        last = gaps[-1].start()
    return (first, last) if first < last else (start, end)
