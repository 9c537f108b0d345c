"""
Worth: what a statement is worth to somebody who goes on, judged once and on its own.

A statement counts by who makes it, by the names in it that user and agent wrote, by words that
give reasons, decisions and outcomes ("because", "instead", "not", "fails"), and by recency. The
constants were fitted on the facts that readers of recorded sessions had to know afterwards
(``bench/facts.py``); they are few, and none is known more precisely than by a third.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import repeat
from math import fsum, log1p
from typing import Final

from foldline.frozen import frozen
from foldline.lazy import lazy_pattern
from foldline.outputs.verdict import is_failure
from foldline.relevance.names import blank_separators
from foldline.snapshot.announcements import announces
from foldline.snapshot.query_terms import Focus
from foldline.snapshot.sources import PEOPLE, SourceText, Speaker
from foldline.snapshot.statements import Slice, explaining_lines

WEIGHT: Final[Mapping[Speaker, float]] = {
    "user": 5.1,
    "reply": 5.1,
    "summary": 3.9,
    "agent": 1.2,
    "draft": 0.6,
    "report": 0.6,
    "change": 0.8,
    "call": 0.52,
    "rules": 1.0,
    "document": 0.4,
    "result": 0.2,
    "written": 0.35,
    "superseded": 0.0,
}
"""By how much a statement counts, by who makes it."""

BASE: Final = 0.46
"""What a statement of a person, a model or about a call is worth without any name."""

QUOTED: Final = frozenset(("result", "written", "superseded"))
"""Who has no such base: most lines of files and outputs say nothing that matters."""

REASON, STRONG_REASON = 0.7, 0.4
"""
Factor of the logarithm of how many words give reasons, decisions or outcomes, and what is added
where one of them holds for long.
"""

ALARM, SENTENCE, NUMBER, SHORT, OPENING = 0.2, 0.45, 0.22, 1.7, 0.32
"""
What is added where a statement tells of a failure; for lines of files and outputs also where it
is a sentence, has a number, is of a short output, or stands at the beginning of a longer one. In a
program only what explains it is a sentence.
"""

RARE_ALARM, RARE_FAILURE, RARE, FEW = 3.0, 6.0, 10, 0.3
"""
What is added instead where at most one statement in so many of an output tells of a failure, to a
statement with a word of alarm and to one that says that something failed; where more do, less is,
and below the last, as a fraction, no more than in any other text.
"""

CALL_FAILED: Final = 1.0
"""What is added to a call that changes or runs something and stands in one row with a failure."""

OPENING_BLOCKS: Final = 2

BRIEF: Final = 500
"""Characters of a short output; a longer one gets as much less for being short."""

ANNOUNCED, DOUBTED = 0.05, 0.6
"""
What is left of the worth of "Now let me look at …", and by how much every word of doubt divides
that of a statement: who thinks aloud says much that he takes back.
"""

ASKING: Final = ("?", "？")
"""How a last statement ends that asks the user something: its doubts are for him to settle."""

_DOUBT = lazy_pattern(
    r"[MmPpWwHhLlIiNnGgSsCc?]"
    r"(?:(?<!\w.)(?:(?<=[Mm])(?i:aybe|ight)|(?<=[Pp])(?i:erhaps|robably|ossibl[ey])"
    r"|(?<=[Ww])(?i:ait|hat if|hy would)|(?<=[Hh])(?i:mm+)|(?<=[Ll])(?i:et me|et's)"
    r"|(?<=[Ii])(?i: think| wonder)|(?<=[Nn])(?i:ot sure)|(?<=[Gg])(?i:uess)"
    r"|(?<=[Ss])(?i:eems?)|(?<=[Cc])(?i:ould be))\b"
    r"|(?<=\?)(?=\s|\Z))"
)
_DOUBT_ELSEWHERE = lazy_pattern("可能|也许|或许|让我|等等")

WORDLESS, LEAST, BEGINNING = 0.6, 10, 40
"""
What is left of the worth of prose without three words in a row, such as code in it, the letters
and digits that a statement has at least, and the characters among which it mostly has as many.
"""

PASTED, PASTED_BLOCK, PASTED_SHARE, CHARACTERS_PER_PROSE = 2_000, 200, 0.2, 65
"""
Characters from which on most of what a user says was pasted, and those that a block of a log has
at least; what is left of the worth of one, which has no three words in a row, and the characters
of prose for each that it has.
"""

PROSE: Final = frozenset(("user", "reply", "agent", "document", "draft", "report", "summary"))

ENCODED, LONGEST_WORD = 0.5, 80
"""What is left of the worth of lines with longer words, which are keys, hashes or encoded."""

AGING: Final = 0.16
"""By which fraction the oldest statement counts less than the newest."""

ROW_TOKENS: Final = 3.0
"""What a row takes besides its text, in tokens."""

SIZE_POWER: Final = 0.6
"""Statements are taken by worth over size to this power: long ones are not worth less a word."""

FOCUSED: Final = 6.0
"""How much more a statement is worth that has all of what the caller wants to be kept."""

_REASONS = str.split(
    "because since always root cause caused causes why so instead decided decision decide must "
    "never only not no don doesn didn isn cannot fix fixes fixed fixing fail fails failed failing "
    "works worked working found turns problem issue bug confirmed done remaining remains next "
    "still should need needs needed require requires required reason already currently default "
    "option recommend recommended prefer added removed changed created updated passes passed pass "
    "implemented implement complete completed however but means expects expected returns return "
    "unless until before after wrong correct missing unused"
)
_RULES = ("MUST", "NEVER", "ALWAYS", "MANDATORY")
REASONS: Final = frozenset((*_REASONS, *map(str.capitalize, _REASONS), *_RULES))
"""English words that give reasons, decisions, outcomes or limits, without what follows a "'"."""

STRONG: Final = frozenset(
    (
        *("because", "Because", "cause", "Cause", "caused", "causes", "root", "Root", "due"),
        *("decided", "Decided", "decision", "Decision", "chose", "chosen", "cannot"),
        *("must", "Must", "MUST", "never", "Never", "NEVER", "always", "Always", "ALWAYS"),
    )
)
"""Words of reasons, decisions and rules that hold for long."""

SUMMING_UP: Final = 1.5
"""By which factor a statement counts more that begins with a heading of results."""

HEADED, HEADING = ("#", "**"), 160
"""How a heading begins, and its characters that are looked at."""

_SUMS_UP = lazy_pattern(
    r"summar|conclusion|recommend|verdict|result|outcome|finding|\bkey\b|\bmust\b|critical|block"
    r"|decision|\baction|next step|bottom line|tl;?dr|总结|结论|建议|结果|发现|下一步",
    re.IGNORECASE,
)

_REASONS_IN_ASCII: Final = ("weil", "deshalb", "nicht", "parce", "porque")
_REASONS_ELSEWHERE = lazy_pattern(
    "因为|所以|原因|决定|改用|必须|不能|不要|没有|修复|失败|成功|问题|需要|已经|应该|但是|完成"
    "|ため|原因|必要|失敗|成功|ない|なので|때문|필요|실패|완료|않|없"
    "|поэтому|потому|нужно|ошибк|✅|❌|⚠|→"
)
_TAG = lazy_pattern(r"</?[\w-]{1,60}>")
# What stands before a blank or a digit is looked at behind it: a search for one sign is fast.
_SENTENCE = lazy_pattern(r" (?<=[A-Za-z]{2} )[a-z]{2,}+ [a-z]{2}")
_SENTENCE_ELSEWHERE = lazy_pattern(r"[\u4e00-\u9fff]{6}|[\uac00-\ud7af]{2,}+ [\uac00-\ud7af]{2}")
_WORDS = lazy_pattern(
    r" (?:(?<=[^\W\d_]{2} )|(?<=[^\W\d_]{2}[,;:] ))[^\W\d_]{2,}+[,;:]? [^\W\d_]{2}"
)
_WORDS_ELSEWHERE = lazy_pattern(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u4e00-\u9fff]{6}"
)
_NUMBER = lazy_pattern(r"[0-9](?<!\w.)[\d.,]*(?!\w)")
_ALARMS = ("rror", "RROR", "fail", "Fail", "FAIL", "xception", "annot", "ot found")
_ALARMS_ELSEWHERE = lazy_pattern("[✗❌错失异](?:(?<=[✗❌])|(?<=错)误|(?<=失)败|(?<=异)常)")
_NO_LETTERS: Final = bytes(code for code in range(128) if not chr(code).isalnum())


@frozen
class Judge:
    """
    Judges statements.

    ``names`` is what every name adds that user or agent wrote; ``focus`` what the caller wants to
    be kept above all.
    """

    names: Mapping[str, float]
    focus: Focus

    def worths(self, source: SourceText, slices: Sequence[Slice]) -> Iterator[float]:
        """
        Judge the statements of a text.

        Args:
            source: The text.
            slices: Where its statements begin and end, in order.
        """
        weight = WEIGHT[source.speaker] * (1 - AGING + AGING * source.recency)
        if not slices or not weight:
            yield from repeat(0.0, len(slices))
            return
        texts = [source.text[start:end] for start, end in slices]
        quoted = source.speaker in QUOTED
        explaining = explaining_lines(source.text, slices) if quoted else None
        forms = (
            _score_lines(source, texts, explaining) if quoted else _score_statements(source, texts)
        )
        # What a program says when something fails is no failure.
        alarms = [0.0] * len(texts) if explaining else _score_alarms(source, texts, quoted)
        plain, known = blank_separators(source.text), self._telling.get
        telling = (
            set(filter(None, map(known, plain[start:end].split()))) for start, end in slices
        )
        elsewhere = _reasons(source.text, texts)
        named = map(self._worth_of, telling, elsewhere, explaining or repeat(True))
        is_focused = bool(self.focus)
        for text, worth, alarm, (bonus, share) in zip(texts, named, alarms, forms, strict=True):
            worth = (worth + bonus + alarm) * weight * share
            yield worth * (1 + FOCUSED * self.focus.match(text)) if is_focused else worth

    def _worth_of(self, words: set[str], elsewhere: int, has_reasons: bool) -> float:
        """
        Return what the names, reasons and decisions in a statement are worth.

        Args:
            words: Those that tell something.
            elsewhere: How many reasons it gives in other languages.
            has_reasons: Whether there are reasons in it.
        """
        if not words and not elsewhere:
            return 0.0  # as with most lines of outputs
        # Exact, so that it does not depend on the order of a set.
        worth = log1p(fsum(map(self.names.get, words, repeat(0.0))))
        if not has_reasons:
            return worth
        worth += REASON * log1p(len(REASONS & words) + elsewhere)
        return worth if STRONG.isdisjoint(words) else worth + STRONG_REASON

    @cached_property
    def _telling(self) -> dict[str, str]:
        """Names and reasons, also by the form of a word at the end of a sentence."""
        known = (*self.names, *REASONS, *STRONG)
        return {**{word: word for word in known}, **{f"{word}.": word for word in known}}


def _failures(text: str, statements: Sequence[str]) -> list[bool]:
    """Return whether each statement of a text tells of a failure."""
    found = [False] * len(statements)
    for word in _ALARMS:
        if word in text:
            found = [tells or word in one for tells, one in zip(found, statements, strict=True)]
    if text.isascii():
        return found
    return [
        tells or (not one.isascii() and _ALARMS_ELSEWHERE.search(one) is not None)
        for tells, one in zip(found, statements, strict=True)
    ]


def _score_alarms(source: SourceText, texts: Sequence[str], quoted: bool) -> list[float]:
    """Return what is added to statements for the failures that they tell of."""
    found = _failures(source.text, texts)
    if source.speaker == "change" and found[0] and is_failure(texts[0].partition("\n→ ")[2]):
        return [CALL_FAILED] * len(texts)
    alarms = sum(found)
    rarity = min(1.0, (len(texts) / (RARE * alarms)) ** 2) if quoted and alarms else 0.0
    if rarity < FEW:
        return [ALARM if tells else 0.0 for tells in found]
    return [
        rarity * (RARE_FAILURE if is_failure(text) else RARE_ALARM) if tells else 0.0
        for tells, text in zip(found, texts, strict=True)
    ]


def _reasons(text: str, statements: Sequence[str]) -> Iterable[int]:
    """Return how many reasons the statements of a text give in other languages than English."""
    if text.isascii():
        return repeat(0, len(statements))
    foreign = [word for word in _REASONS_IN_ASCII if word in text]
    return (_reasons_elsewhere(statement, foreign) for statement in statements)


def _reasons_elsewhere(text: str, foreign: Iterable[str]) -> int:
    """Count the words of other languages that give reasons, decisions or outcomes."""
    count = sum(map(text.count, foreign))
    return count if text.isascii() else count + len(_REASONS_ELSEWHERE.findall(text))


def _score_lines(
    source: SourceText,
    texts: Iterable[str],
    explaining: Sequence[bool] | None,
) -> Iterator[tuple[float, float]]:
    """Yield what speaks for lines of a file or an output besides their words, and what is left."""
    brevity = SHORT * min(1.0, BRIEF / len(source.text))
    for line, text in enumerate(texts):
        bonus = brevity + OPENING if line < OPENING_BLOCKS else brevity
        if explaining[line] if explaining else _has(text, _SENTENCE, _SENTENCE_ELSEWHERE):
            bonus += SENTENCE
        if _NUMBER.search(text):
            bonus += NUMBER
        share = ENCODED if _is_encoded(text) else 1.0
        yield bonus, share if _has_letters(text) else 0.0


def _score_statements(source: SourceText, texts: Sequence[str]) -> Iterator[tuple[float, float]]:
    """Yield what a statement is worth without any name, and what is left of it for its form."""
    speaker = source.speaker
    is_pasted = speaker in PEOPLE and len(source.text) > PASTED
    for number, text in enumerate(texts, 1):
        if speaker not in PROSE:
            yield BASE, 1.0
        elif text.startswith("<") and _TAG.fullmatch(text):
            yield BASE, 0.0
        elif speaker == "agent" and announces(text):
            yield BASE, ANNOUNCED if _has_letters(text) else 0.0
        else:
            share = 1.0 if _has(text, _WORDS, _WORDS_ELSEWHERE) else WORDLESS
            if is_pasted and len(text) > PASTED_BLOCK:
                share *= _share_of_prose(text)
            if speaker == "agent" and not (number == len(texts) and text.endswith(ASKING)):
                share /= 1 + DOUBTED * _count(text, _DOUBT, _DOUBT_ELSEWHERE)
            if text.startswith(HEADED) and _SUMS_UP.search(text[:HEADING].partition("\n")[0]):
                share *= SUMMING_UP
            yield BASE, share if speaker in PEOPLE or _has_letters(text) else 0.0


def _share_of_prose(text: str) -> float:
    """Return what is left of the worth of a pasted statement: a user does not write a log."""
    if not text.isascii() and _WORDS_ELSEWHERE.search(text):
        return 1.0
    prose = min(1.0, CHARACTERS_PER_PROSE * len(_WORDS.findall(text)) / len(text))
    return PASTED_SHARE + (1 - PASTED_SHARE) * prose


def _has(text: str, pattern: re.Pattern[str], elsewhere: re.Pattern[str]) -> bool:
    """Return True if a text has a pattern, or that of scripts beyond ASCII."""
    if pattern.search(text):
        return True
    return not text.isascii() and elsewhere.search(text) is not None


def _count(text: str, pattern: re.Pattern[str], elsewhere: re.Pattern[str]) -> int:
    """Count a pattern in a text, and that of scripts beyond ASCII."""
    beyond = 0 if text.isascii() else len(elsewhere.findall(text))
    return len(pattern.findall(text)) + beyond


def _is_encoded(text: str) -> bool:
    # From blank to blank: what is left of a word is no longer than it was.
    place = 0
    while len(text) - place > LONGEST_WORD:
        place = text.rfind(" ", place, place + LONGEST_WORD + 1) + 1
        if not place:
            words = blank_separators(text).split()
            return "://" not in text and max(map(len, words), default=0) > LONGEST_WORD
    return False


def _has_letters(text: str) -> bool:
    """Return True if a text has enough letters and digits."""
    # Most have them at their beginning.
    if _count_letters(text[:BEGINNING]) >= LEAST or _count_letters(text) >= LEAST:
        return True
    return not text.isascii() and sum(map(str.isalnum, text)) >= LEAST


def _count_letters(text: str) -> int:
    """Count the letters and digits in ASCII."""
    return len(text.encode("ascii", "ignore").translate(None, _NO_LETTERS))


def cost(source: SourceText, start: int, end: int) -> float:
    """Return about how many tokens a statement takes with its row."""
    return (end - start) * source.density + ROW_TOKENS
