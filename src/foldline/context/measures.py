"""Measures of a context, each computed the same way every time, without a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from foldline.context.cuts import terms_in
from foldline.context.shorten import units
from foldline.context.structure import Item
from foldline.relevance.terms import terms

NEW: Final = 0.3
"""Fraction of the terms of a line that must not have been said for the line to say something."""

REPEATED: Final = 0.7
"""Fraction of an item's terms in one earlier item from which on it repeats that item."""


@dataclass(frozen=True, slots=True)
class Finding:
    """
    One packet, or one word of the query, and its part in a measure.

    ``name`` is the packet's label or the word, ``value`` a fraction, ``tokens`` what it takes.
    ``other`` names what it repeats, or what holds the missing word.
    """

    name: str
    value: float
    tokens: int = 0
    other: str = ""


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure from 0 to 1, and the findings that pull it the wrong way, the worst first."""

    value: float
    findings: tuple[Finding, ...] = ()


def relevance(items: Sequence[Item], threshold: float = 0.3) -> Measure:
    """Measure how relevant the tokens are: their mean of the relevance of their packet."""
    low = [item for item in items if item.relevance < threshold]
    return Measure(
        _mean((item.tokens, item.relevance) for item in items),
        tuple(
            Finding(item.packet.label, item.relevance, item.tokens)
            for item in sorted(low, key=lambda item: -item.tokens * (1 - item.relevance))
        ),
    )


def density(items: Sequence[Item], threshold: float = 0.5) -> Measure:
    """
    Measure how much of the text says something new.

    A line counts when at least three tenths of its terms were not said before it; blank lines,
    rules and repetitions do not.
    """
    said: set[str] = set()
    shares = []
    for item in items:
        telling = whole = 0
        for unit in units(item.text):
            found = set(terms(unit))
            new = found - said
            whole += max(1, len(unit))
            telling += len(unit) if found and len(new) >= NEW * len(found) else 0
            said |= found
        shares.append(telling / (whole or 1))
    thin = [(share, item) for share, item in zip(shares, items, strict=True) if share < threshold]
    return Measure(
        _mean((item.tokens, share) for share, item in zip(shares, items, strict=True)),
        tuple(
            Finding(item.packet.label, share, item.tokens)
            for share, item in sorted(thin, key=lambda pair: pair[0] - pair[1].tokens / 1e6)
        ),
    )


def redundancy(items: Sequence[Item]) -> Measure:
    """Measure which fraction of the tokens is in packets that repeat an earlier one; 0 is best."""
    cut = [terms_in(item.text) for item in items]
    found = []
    for at, mine in enumerate(cut):
        pairs = [
            (len(mine & other) / len(mine), -one) for one, other in enumerate(cut[:at]) if mine
        ]
        share, one = max(pairs, default=(0.0, 0))
        if share >= REPEATED:
            item, twin = items[at], items[-one]
            found.append(Finding(item.packet.label, share, item.tokens, twin.packet.label))
    whole = sum(item.tokens for item in items) or 1
    repeated = sum(finding.tokens * finding.value for finding in found)
    return Measure(min(1.0, repeated / whole), tuple(sorted(found, key=lambda f: -f.tokens)))


def _mean(pairs: Iterable[tuple[int, float]]) -> float:
    weighed = list(pairs)
    whole = sum(weight for weight, _ in weighed)
    return sum(weight * value for weight, value in weighed) / whole if whole else 0.0
