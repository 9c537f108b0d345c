"""Announcements: sentences of an agent that only say what it does next, or are courtesies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from foldline.lazy import lazy_pattern
from foldline.snapshot.statements import COLONS

SENTENCE: Final = 240
"""Characters of the longest sentence that is nothing but an announcement."""

_OPENINGS: Final = frozenset(
    (
        *("now", "ok", "okay", "good", "great", "perfect", "excellent", "next", "first"),
        *("alright", "so", "then", "and", "wait", "hmm", "finally", "again"),
    )
)
"""Words before an announcement, up to `MOST_OPENINGS` of them."""

MOST_OPENINGS: Final = 6

_GOING: Final = (
    *("let me", "let's", "let us", "i'll", "i will", "i'm going to", "i am going to"),
    *("i need to", "i should", "i want to", "we need to", "we should", "now i"),
)
_NEXT: Final = (
    *_GOING,
    *("looking ", "checking ", "reading ", "running ", "searching ", "trying ", "opening "),
)
_LOOKING: Final = tuple(f"{going} " for going in ("i", *_GOING))
_ADVERBS: Final = frozenset(("now", "also", "first", "then"))
_MORE_ADVERBS: Final = _ADVERBS | {"just", "quickly"}
_LOOKS: Final = frozenset(
    (
        *("look", "check", "read", "run", "open", "search", "inspect", "see", "try", "verify"),
        *("examine", "find", "view", "explore", "test", "grab", "pull", "start", "begin"),
        *("take a look", "go", "understand", "analyse", "analyze", "investigate", "review"),
        *("proceed", "continue"),
    )
)
_WORD = lazy_pattern(r"(take a look\b|\w+)[,.!: ]{0,4}")
_BESIDE = lazy_pattern(r"[^.!?]{0,160}, (?:let's|let me|i'll) ")
_STEP = lazy_pattern(r"[*# ]{0,8}(?:step|phase) \d{1,3}\b[^\n]*")
_COURTESY = lazy_pattern(
    r"(?:(?:now|ok(?:ay)?|good|great|perfect|excellent|next|first|alright|so|then|and|wait|hmm"
    r"|finally|again)\b[,.!: ]{0,4}){0,6}(?:i apologi[sz]e|my apologies|sorry|thank you|thanks"
    r"|you're (?:absolutely )?right|got it|sure|of course|certainly|absolutely)?"
    r"\b[^.!?\n]{0,60}[.!]?\Z"
)
_OPENS = lazy_pattern(
    r"(?:great|perfect|excellent|good|okay|ok|alright|sorry|thanks|thank you|got it|sure"
    r"|i apologi[sz]e|of course|certainly|absolutely|now)\b"
)
_NOTHING = lazy_pattern(r"\W*no response requested\W*")
_TELLS = lazy_pattern(
    r"\b(?:because|since|instead|not|never|only|must|cause[ds]?|due to|so that|rather than)\b"
    r"|n't\b|\d{2}"
)
_TELLS_NEEDLES: Final = (
    *("because", "since", "instead", "not", "never", "only", "must", "caus", "due to", "so that"),
    *("rather than", "n't"),
)
"""One of these or a digit stands in everything that `_TELLS` finds."""

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
    beginnings = _beginnings(statement)
    return _says_next(beginnings) or _STEP.fullmatch(beginnings[0]) is not None


def is_chatter(sentence: str) -> bool:
    """Return True if a sentence says nothing to somebody who goes on."""
    if len(sentence) > SENTENCE:
        return False
    beginnings = _beginnings(sentence.replace("’", "'"))
    sentence = beginnings[0]
    if _says_where_it_looks(beginnings) or _NOTHING.fullmatch(sentence):
        return True
    if _tells(sentence):
        return False
    if _says_next(beginnings) or _BESIDE.match(sentence):
        return True
    return _OPENS.match(sentence) is not None and _COURTESY.match(sentence) is not None


def _says_next(beginnings: Sequence[str]) -> bool:
    return any(
        rest.startswith(_NEXT) or (rest.startswith("i ") and _looks(rest[2:], _ADVERBS))
        for rest in beginnings
    )


def _says_where_it_looks(beginnings: Sequence[str]) -> bool:
    return any(
        rest.startswith(going) and _looks(rest[len(going) :], _MORE_ADVERBS)
        for rest in beginnings
        if rest.startswith(_LOOKING)
        for going in _LOOKING
    )


def _beginnings(sentence: str) -> list[str]:
    """Return a sentence in lower case, and what stands behind each of its opening words."""
    rests = [sentence.lower()]
    while len(rests) <= MOST_OPENINGS:
        opening = _WORD.match(rests[-1])
        if opening is None or opening[1] not in _OPENINGS:
            break
        rests.append(rests[-1][opening.end() :])
    return rests


def _looks(text: str, adverbs: frozenset[str]) -> bool:
    """Return True if a text begins with a word for looking, perhaps behind an adverb."""
    adverb, _, behind = text.partition(" ")
    word = _WORD.match(behind if adverb in adverbs else text)
    return word is not None and word[1] in _LOOKS


def _tells(sentence: str) -> bool:
    """Return True if a sentence in lower case gives a reason, a condition or a figure."""
    for needle in _TELLS_NEEDLES:
        if needle in sentence:
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
