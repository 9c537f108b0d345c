"""How much of what was needed a compacted history still holds."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, fields

from foldline.evaluation.future_use import Cut, identifiers

ENOUGH = 0.6
"""The fraction of the words of a source line that must stand together for it to be there."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Kept:
    """
    Fractions of what was needed, from 0 to 1.

    ``need`` and ``deep`` ask whether the identifier is there; ``line`` and ``line_deep`` whether
    a line of the source that holds it is, with most of its words: a bare list of names earns
    nothing.
    """

    need: float
    deep: float
    line: float
    line_deep: float


MEASURES = tuple(field.name for field in fields(Kept))


@dataclass(frozen=True, slots=True)
class Score:
    """
    What one method kept at one cut.

    ``session`` and ``source`` say whose history it was, ``goal`` what the budget is called, such
    as "5%". ``size`` is the fraction of the characters before the cut that were really taken.
    """

    session: str
    source: str
    method: str
    goal: str
    kept: Kept
    size: float


def kept(text: str, source: str, cut: Cut) -> Kept:
    """
    Measure what a text keeps.

    Args:
        text: The compacted history, as a model reads it.
        source: The history before.
        cut: What was needed after it.
    """
    found = identifiers(text)
    lines = _in_lines(text, source, cut.need)
    return Kept(
        len(cut.need & found) / len(cut.need),
        len(cut.deep & found) / len(cut.deep),
        len(lines) / len(cut.need),
        len(lines & cut.deep) / len(cut.deep),
    )


def _in_lines(text: str, source: str, wanted: frozenset[str]) -> set[str]:
    """Find the identifiers that stand in a line of the text which is a line of the source."""
    places: dict[str, list[set[str]]] = defaultdict(list)
    for line in text.split("\n"):
        names = identifiers(line) & wanted
        if names:
            words = set(_WORD.findall(line))
            for name in names:
                places[name].append(words)
    found = set[str]()
    for line in source.split("\n"):
        names = (identifiers(line) & places.keys()) - found
        words = set(_WORD.findall(line)) if names else set[str]()
        least = ENOUGH * len(words)
        found |= {n for n in names if words and any(len(words & w) >= least for w in places[n])}
    return found
