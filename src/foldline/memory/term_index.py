"""
The full-text index: the terms of a chunk in it, and the chunks that the terms of a query lead to.

The index knows only whether a chunk holds a term. That it holds it often is written as one more
term, such as ``4*launch``. The index knows no ranking either, and would visit every chunk that
holds any word of a query: over a second at a million chunks. So the postings of its terms are read
rarest first, and no more than a budget of them (measured before: 24 ms at the median with 50,000,
for a million chunks).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Final

from foldline.relevance.rarity import rarity, worth

LEVELS: Final = (2, 4, 8)
"""So often must a term occur to be marked; what lies between counts as the lower one."""

FILLER: Final = "*"
"""Stands for every term that was not asked for; no term is made of it."""


def write_terms(counts: Mapping[str, int]) -> str:
    """Write the terms of a chunk, each with how often it occurs."""
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
    Return the terms of a chunk for scoring: those that are wanted as often as they occur.

    Args:
        terms: What `write_terms` wrote.
        wanted: The terms that a query asks for.
        length: How many terms the chunk has; the others count only as length.
    """
    entries = set(terms.split(" "))
    out = list[str]()
    for term in entries & wanted:
        times = max((level for level in LEVELS if f"{level}*{term}" in entries), default=1)
        out += [term] * times
    return (*out, *(FILLER,) * max(0, length - len(out)))


POSTINGS: Final = 50_000
"""Postings that are read for one query."""

POOL: Final = 200
"""Chunks that are looked at closely."""

MOST_TERMS: Final = 32
"""Different terms of a query that are looked for."""

COMMON: Final = 1_000
"""Chunks from which on it is remembered that a term is in so many; fewer are quickly counted."""


@dataclass(slots=True)
class Frequencies:
    """
    How many chunks hold a term; of common ones remembered while the store stays about as large.

    Args:
        most: Terms that are remembered.
    """

    most: int = 100_000
    _chunks: int = 0
    _known: dict[str, int] = field(default_factory=dict, repr=False)

    def fresh(self, chunks: int) -> None:
        """Forget all where the store has grown or shrunk by a twentieth."""
        if abs(chunks - self._chunks) * 20 > self._chunks or len(self._known) > self.most:
            self._known.clear()
            self._chunks = chunks

    def of(self, connection: sqlite3.Connection, space: tuple[int, int], term: str) -> int:
        """Return in how many chunks of a namespace an entry of the index is."""
        known = self._known.get(term)
        if known is None:
            known = _count_entry(connection, space, term)
            if known >= COMMON:
                self._known[term] = known
        return known


@dataclass(frozen=True, slots=True)
class Candidates:
    """Chunks by number with what led to them, and in how many chunks each term is."""

    scores: Mapping[int, float]
    frequency: Mapping[str, int]


def find_candidates(
    connection: sqlite3.Connection,
    space: tuple[int, int],
    terms: Iterable[str],
    chunks: int,
    frequencies: Frequencies,
) -> Candidates:
    """
    Find the chunks that are worth a closer look.

    Args:
        connection: The store.
        space: The numbers of its namespace.
        terms: The terms of a query.
        chunks: How many chunks the namespace has.
        frequencies: What is known of terms.
    """
    frequencies.fresh(chunks)
    wanted = list(dict.fromkeys(terms))[: 8 * MOST_TERMS]
    entries = [(entry, term, level) for term in wanted for entry, level in term_entries(term)]
    frequency = {entry: frequencies.of(connection, space, entry) for entry, _, _ in entries}
    says = {term: rarity(frequency[term], chunks) for term in wanted if frequency[term]}
    telling = set(nlargest(MOST_TERMS, says, key=says.__getitem__))
    entries = [e for e in entries if e[1] in telling and frequency[e[0]]]
    scores, left = dict[int, float](), POSTINGS
    for entry, term, level in sorted(entries, key=lambda e: frequency[e[0]]):
        if left <= 0:
            break
        part = says[term] * _step(level)
        read = _postings(connection, space, entry, left)
        for number in read:
            scores[number] = scores.get(number, 0.0) + part
        left -= len(read)
    best = nlargest(POOL, scores.items(), key=lambda pair: pair[1])
    return Candidates(dict(best), {term: frequency[term] for term in wanted})


def _step(level: int) -> float:
    """Return what an entry adds to what a term is worth by those below it."""
    below = level // 2
    return worth(level) - (worth(below) if below else 0.0)


def _postings(
    connection: sqlite3.Connection, space: tuple[int, int], entry: str, most: int
) -> Sequence[int]:
    rows = connection.execute(
        "SELECT rowid FROM found WHERE found MATCH ? AND rowid BETWEEN ? AND ? LIMIT ?",
        (f'"{entry}"', *space, most),
    )
    return [number for (number,) in rows.fetchall()]


def _count_entry(connection: sqlite3.Connection, space: tuple[int, int], entry: str) -> int:
    (count,) = connection.execute(
        "SELECT count(*) FROM (SELECT 1 FROM found WHERE found MATCH ?"
        " AND rowid BETWEEN ? AND ? LIMIT ?)",
        (f'"{entry}"', *space, 50 * POSTINGS),
    ).fetchone()
    return int(count)
