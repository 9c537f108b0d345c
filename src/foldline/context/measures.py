"""Measures of a context: relevance, density, redundancy, and coverage of the question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final
from unicodedata import normalize

from foldline.context.packets import ContextPacket
from foldline.context.shorten import split_units
from foldline.context.structure import ContextItem
from foldline.frozen import frozen
from foldline.relevance.terms import UNSPACED, flat_rarity, term_set, terms

NEW: Final = 0.3
"""Minimum fraction of new terms for a line to count as new."""

LOW: Final = 0.3
"""Relevance below which an item is a finding."""

THIN: Final = 0.5
"""Density below which an item is a finding."""

REPEATED: Final = 0.7
"""Minimum fraction of an item's terms in one earlier item to count as a repetition."""


@frozen
class MeasureFinding:
    """
    One packet, or one word of the query, and its share of a measure.

    ``name`` is the packet's label or the word, ``value`` a fraction, ``tokens`` its size.
    ``other`` names the repeated packet, or the one with the missing word.
    """

    name: str
    value: float
    tokens: int = 0
    other: str = ""


@frozen
class QualityMeasure:
    """A figure from 0 to 1, and the findings that worsen it, the worst first."""

    value: float
    findings: tuple[MeasureFinding, ...] = ()


def relevance(items: Sequence[ContextItem]) -> QualityMeasure:
    """Measure relevance: the mean over all tokens of the relevance of their packet."""
    low = [item for item in items if item.relevance < LOW]
    return QualityMeasure(
        _mean((item.tokens, item.relevance) for item in items),
        tuple(
            MeasureFinding(item.packet.label, item.relevance, item.tokens)
            for item in sorted(low, key=lambda item: -item.tokens * (1 - item.relevance))
        ),
    )


def density(items: Sequence[ContextItem]) -> QualityMeasure:
    """
    Measure the fraction of the text that is new.

    A line counts if at least three tenths of its terms did not occur before; blank lines,
    rules and repetitions do not.
    """
    known_terms: set[str] = set()
    shares = []
    for item in items:
        telling = whole = 0
        for unit in split_units(item.text):
            found = set(terms(unit))
            new = found - known_terms
            whole += max(1, len(unit))
            telling += len(unit) if found and len(new) >= NEW * len(found) else 0
            known_terms |= found
        shares.append(telling / (whole or 1))
    thin = [(share, item) for share, item in zip(shares, items, strict=True) if share < THIN]
    return QualityMeasure(
        _mean((item.tokens, share) for share, item in zip(shares, items, strict=True)),
        tuple(
            MeasureFinding(item.packet.label, share, item.tokens)
            for share, item in sorted(thin, key=lambda pair: pair[0] - pair[1].tokens / 1e6)
        ),
    )


def redundancy(items: Sequence[ContextItem]) -> QualityMeasure:
    """Measure the fraction of tokens in packets that repeat an earlier one; 0 is best."""
    cut = [term_set(item.text) for item in items]
    found = []
    for at, mine in enumerate(cut):
        pairs = [
            (len(mine & other) / len(mine), -one) for one, other in enumerate(cut[:at]) if mine
        ]
        share, one = max(pairs, default=(0.0, 0))
        if share >= REPEATED:
            item, twin = items[at], items[-one]
            found.append(MeasureFinding(item.packet.label, share, item.tokens, twin.packet.label))
    whole = sum(item.tokens for item in items) or 1
    repeated = sum(finding.tokens * finding.value for finding in found)
    return QualityMeasure(
        min(1.0, repeated / whole), tuple(sorted(found, key=lambda f: -f.tokens))
    )


def _mean(pairs: Iterable[tuple[int, float]]) -> float:
    weighed = list(pairs)
    whole = sum(weight for weight, _ in weighed)
    return sum(weight * value for weight, value in weighed) / whole if whole else 0.0


MOST_WORDS: Final = 200
"""Maximum words of a query to check, the first ones."""

_PIECE: Final = re.compile(rf"[{UNSPACED}]+|[^\s{UNSPACED}]+")
_IS_UNSPACED: Final = re.compile(rf"[{UNSPACED}]")


@frozen
class CoverageWord:
    """
    A word of a query, or one character in scripts without word separators.

    It is covered if all ``terms`` of one of the alternatives occur. ``joined`` means that it
    continues the previous word.
    """

    name: str
    alternatives: tuple[frozenset[str], ...]
    joined: bool = False

    def within(self, held: frozenset[str]) -> bool:
        """Return True if a text with these terms covers it."""
        return any(required <= held for required in self.alternatives)


def query_words(query: str) -> list[CoverageWord]:
    """
    Split a query into the words to cover, without function words.

    A Chinese character is covered if a pair of characters with it occurs.
    """
    out = list[CoverageWord]()
    for piece in _PIECE.findall(normalize("NFKC", query)):
        out.extend(_characters(piece) if _IS_UNSPACED.match(piece) else _split_words(piece))
    return out[:MOST_WORDS]


def _split_words(piece: str) -> Iterator[CoverageWord]:
    cut = terms(piece)
    if len(cut) > 1:
        yield CoverageWord(piece.strip(".,;:!?()[]\"'"), (frozenset(cut[:1]), frozenset(cut[1:])))
    elif cut:
        yield CoverageWord(piece.strip(".,;:!?()[]\"'"), (frozenset(cut),))


def _characters(run: str) -> Iterator[CoverageWord]:
    known = frozenset(terms(run))
    joined = False
    for at, letter in enumerate(run):
        pairs = (run[at - 1 : at + 1] if at else "", run[at : at + 2])
        alternatives = tuple(frozenset((p,)) for p in pairs if p in known and len(p) == 2)
        if letter not in known:  # a function word
            joined = False
            continue
        yield CoverageWord(letter, alternatives or (frozenset((letter,)),), joined)
        joined = True


def completeness(
    query: str, items: Sequence[ContextItem], others: Sequence[ContextPacket]
) -> QualityMeasure:
    """
    Measure how much of the query is covered.

    Words are weighted by their rarity among all candidates; a single Chinese character weighs
    half.

    Args:
        query: The query.
        items: The included items.
        others: The packets left out, searched for missing words.
    """
    words = query_words(query)
    inside = [term_set(item.text) for item in items]
    outside = [term_set(packet.content) for packet in others]
    cut = [term_set(i.packet.content) if i.whole > i.tokens else frozenset[str]() for i in items]
    texts = (*inside, *outside)
    weights = [_weight(word, texts) for word in words]
    present = [any(word.within(held) for held in inside) for word in words]
    total = sum(weights)
    holders = [
        *((held, item.whole, item.packet.label) for held, item in zip(cut, items, strict=True)),
        *((held, 0, packet.label) for held, packet in zip(outside, others, strict=True)),
    ]
    found = list[MeasureFinding]()
    before = False
    for word, weight, covered in zip(words, weights, present, strict=True):
        if not covered:
            one = _missing_word(word, weight / total, holders)
            if word.joined and before and found[-1].other == one.other:
                last = found.pop()
                one = MeasureFinding(
                    last.name + one.name, last.value + one.value, one.tokens, one.other
                )
            found.append(one)
        before = not covered
    value = sum(w for w, covered in zip(weights, present, strict=True) if covered)
    return QualityMeasure(
        value / total if total else 1.0, tuple(sorted(found, key=lambda finding: -finding.value))
    )


def _weight(word: CoverageWord, texts: Sequence[frozenset[str]]) -> float:
    count = sum(word.within(held) for held in texts)
    half = len(word.name) == 1 and _IS_UNSPACED.match(word.name)
    return flat_rarity(count, len(texts)) * (0.5 if half else 1.0)


def _missing_word(
    word: CoverageWord, share: float, holders: Sequence[tuple[frozenset[str], int, str]]
) -> MeasureFinding:
    """Return a missing word, and the first packet that has it, if any."""
    held = (one for one in holders if word.within(one[0]))
    _, tokens, label = next(held, (frozenset(), 0, ""))
    return MeasureFinding(word.name, share, tokens, label)
