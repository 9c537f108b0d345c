"""Coverage: which words of a question a context speaks of, and who else speaks of the others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log
from typing import Final
from unicodedata import normalize

from foldline.context.cuts import terms_in
from foldline.context.measures import Finding, Measure
from foldline.context.packets import ContextPacket
from foldline.context.structure import Item
from foldline.relevance.terms import terms

MOST_WORDS: Final = 200
"""Words of a query that are looked for, the first."""

UNSPACED: Final = "\u0e00-\u0eff\u3005\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
"""Scripts whose words are not set apart: Thai, Lao, kana, Han, hangul."""

_PIECE: Final = re.compile(rf"[{UNSPACED}]+|[^\s{UNSPACED}]+")
_IS_UNSPACED: Final = re.compile(rf"[{UNSPACED}]")


@dataclass(frozen=True, slots=True)
class Word:
    """
    A word of a query, or one character where words are not set apart.

    It is spoken of where all ``terms`` of one of the alternatives stand. ``joined`` says that it
    continues the word before.
    """

    name: str
    alternatives: tuple[frozenset[str], ...]
    joined: bool = False

    def within(self, held: frozenset[str]) -> bool:
        """Tell whether a text with these terms speaks of it."""
        return any(wanted <= held for wanted in self.alternatives)


def words(query: str) -> list[Word]:
    """
    Cut a query into what must be spoken of; words that carry only grammar are left out.

    A Chinese character is spoken of where a pair of characters stands that it is in.
    """
    out = list[Word]()
    for piece in _PIECE.findall(normalize("NFKC", query)):
        out.extend(_characters(piece) if _IS_UNSPACED.match(piece) else _spaced(piece))
    return out[:MOST_WORDS]


def _spaced(piece: str) -> Iterator[Word]:
    cut = terms(piece)
    if len(cut) > 1:
        yield Word(piece.strip(".,;:!?()[]\"'"), (frozenset(cut[:1]), frozenset(cut[1:])))
    elif cut:
        yield Word(piece.strip(".,;:!?()[]\"'"), (frozenset(cut),))


def _characters(run: str) -> Iterator[Word]:
    known = frozenset(terms(run))
    joined = False
    for at, letter in enumerate(run):
        pairs = (run[at - 1 : at + 1] if at else "", run[at : at + 2])
        wanted = tuple(frozenset((p,)) for p in pairs if p in known and len(p) == 2)
        if letter not in known:  # it carries only grammar
            joined = False
            continue
        yield Word(letter, wanted or (frozenset((letter,)),), joined)
        joined = True


def completeness(query: str, items: Sequence[Item], others: Sequence[ContextPacket]) -> Measure:
    """
    Measure how much of what the query asks about is spoken of.

    Words are weighed by how rare they are among all candidates, log(1 + (n+1) / (df+1)); a single
    Chinese character weighs half.

    Args:
        query: What the context is for.
        items: What is in.
        others: What was left out; a missing word is looked for there.
    """
    asked = words(query)
    inside = [terms_in(item.text) for item in items]
    outside = [terms_in(packet.content) for packet in others]
    cut = [terms_in(i.packet.content) if i.whole > i.tokens else frozenset[str]() for i in items]
    texts = (*inside, *outside)
    weights = [_weight(word, texts) for word in asked]
    present = [any(word.within(held) for held in inside) for word in asked]
    total = sum(weights)
    holders = [
        *((held, item.whole, item.packet.label) for held, item in zip(cut, items, strict=True)),
        *((held, 0, packet.label) for held, packet in zip(outside, others, strict=True)),
    ]
    found = list[Finding]()
    before = False
    for word, weight, there in zip(asked, weights, present, strict=True):
        if not there:
            one = _finding(word, weight / total, holders)
            if word.joined and before and found[-1].other == one.other:
                last = found.pop()
                one = Finding(last.name + one.name, last.value + one.value, one.tokens, one.other)
            found.append(one)
        before = not there
    value = sum(w for w, there in zip(weights, present, strict=True) if there)
    return Measure(
        value / total if total else 1.0,
        tuple(sorted(found, key=lambda finding: -finding.value)),
    )


def _weight(word: Word, texts: Sequence[frozenset[str]]) -> float:
    count = sum(word.within(held) for held in texts)
    half = len(word.name) == 1 and _IS_UNSPACED.match(word.name)
    return log(1 + (len(texts) + 1) / (count + 1)) * (0.5 if half else 1.0)


def _finding(
    word: Word, share: float, holders: Sequence[tuple[frozenset[str], int, str]]
) -> Finding:
    """Name a missing word, and the first that holds it; nothing where nothing does."""
    for held, tokens, label in holders:
        if word.within(held):
            return Finding(word.name, share, tokens, label)
    return Finding(word.name, share)
