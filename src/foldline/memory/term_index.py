"""
The texts that the terms of a query lead to, by an index of a database.

The index knows only whether a text holds a term. That it holds it often is written as one more
term, such as ``4*launch``. The index knows no ranking either, and would visit every text that
holds any word of a query: over a second at a million chunks. So the postings of its terms are read
rarest first, and no more than a budget of them (measured before: 24 ms at the median with 50,000,
for a million chunks).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from heapq import nlargest
from typing import Final

from foldline.relevance.rarity import rarity, worth

LEVELS: Final = (2, 4, 8)
"""So often must a term occur to be marked; what lies between counts as the lower one."""

FILLER: Final = "*"
"""Stands for every term that was not asked for; no term is made of it."""


def write_terms(counts: Mapping[str, int]) -> str:
    """Write the terms of a text, each with how often it occurs."""
    out = list[str]()
    for term, count in counts.items():
        out.append(term)
        out += [f"{level}*{term}" for level in LEVELS if count >= level]
    return " ".join(out)


def term_entries(term: str) -> Iterator[tuple[str, int]]:
    """Name the entries of the index under which a term stands, and how often it occurs there."""
    yield term, 1
    yield from ((f"{level}*{term}", level) for level in LEVELS)


def expand_terms(terms: str, wanted: frozenset[str], length: int) -> tuple[str, ...]:
    """
    Return the terms of a text for scoring: those that are wanted as often as they occur.

    Args:
        terms: What `write_terms` wrote.
        wanted: The terms that a query asks for.
        length: How many terms the text has; the others count only as length.
    """
    entries = set(terms.split(" "))
    out = list[str]()
    for term in entries & wanted:
        times = max((level for level in LEVELS if f"{level}*{term}" in entries), default=1)
        out += [term] * times
    return (*out, *(FILLER,) * max(0, length - len(out)))


MOST_TERMS: Final = 32
"""Different terms of a query that are looked for."""


@dataclass(frozen=True, slots=True)
class Reading:
    """An entry of the index to read: what it says, and the most texts to read of it."""

    entry: str
    says: float
    most: int


def query_entries(terms: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the different terms of a query, and the entries of an index that they have."""
    wanted = list(dict.fromkeys(terms))[: 8 * MOST_TERMS]
    return wanted, [entry for term in wanted for entry, _ in term_entries(term)]


def plan_readings(
    terms: Iterable[str], frequency: Mapping[str, int], whole: int, most: int
) -> list[Reading]:
    """Choose what to read of an index: the rarest first, no more than ``most`` in all."""
    says = {term: rarity(frequency[term], whole) for term in terms if frequency.get(term)}
    telling = nlargest(MOST_TERMS, says, key=says.__getitem__)
    known = [
        (frequency[entry], entry, says[term] * _step(level))
        for term in telling
        for entry, level in term_entries(term)
        if frequency.get(entry)
    ]
    out = list[Reading]()
    for held, entry, part in sorted(known, key=lambda one: one[0]):
        if most <= 0:
            break
        out.append(Reading(entry, part, min(held, most)))
        most -= held
    return out


def _step(level: int) -> float:
    """Return what an entry adds to what a term is worth by those below it."""
    below = level // 2
    return worth(level) - (worth(below) if below else 0.0)
