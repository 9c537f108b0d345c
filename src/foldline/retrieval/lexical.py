"""Lexical scores of documents and their neighbours (BM25)."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from heapq import nlargest
from typing import Final

from foldline.frozen import frozen
from foldline.relevance.terms import discount, rarity, worth
from foldline.retrieval.documents import Statistics

BEFORE: Final = 3
AFTER: Final = 2
"""
The number of neighbours scored with a document. An answer rarely repeats the words of its
question; measured on long chats, 2 to 4 before and 1 to 2 after do best.
"""

NEIGHBOUR_WEIGHTS: Final = {-3: 0.4, -2: 0.6, -1: 0.8, 0: 1.0, 1: 0.6, 2: 0.3}
"""The weights of the similarity of neighbours, by distance."""


class Neighbours:
    """Groups of numbered documents, each in order."""

    def __init__(self) -> None:
        self._groups: dict[str, list[tuple[float, int]]] = {}
        self._seats: dict[int, tuple[str, float]] = {}
        self._pairs = 0

    def add(self, number: int, group: str, place: float) -> None:
        """Add a document to its group; without a group it has no neighbours."""
        if not group:
            return
        seats = self._groups.setdefault(group, [])
        self._pairs += _pairs(len(seats) + 1) - _pairs(len(seats))
        insort(seats, (place, number))
        self._seats[number] = group, place

    def remove(self, number: int) -> None:
        """Remove a document from its group."""
        seat = self._seats.pop(number, None)
        if seat is None:
            return
        group, place = seat
        seats = self._groups[group]
        self._pairs += _pairs(len(seats) - 1) - _pairs(len(seats))
        del seats[bisect_left(seats, (place, number))]
        if not seats:
            del self._groups[group]

    def window(self, number: int) -> list[int]:
        """Return a document and its scored neighbours."""
        return self._near(number, BEFORE, AFTER)

    def seen_with(self, number: int) -> list[int]:
        """Return the documents whose window includes this one, itself included."""
        return self._near(number, AFTER, BEFORE)

    def mean_size(self, documents: int) -> float:
        """Return the mean size of a window."""
        return 1 + self._pairs / max(documents, 1)

    def _near(self, number: int, before: int, after: int) -> list[int]:
        seat = self._seats.get(number)
        if seat is None:
            return [number]
        group, place = seat
        seats = self._groups[group]
        at = bisect_left(seats, (place, number))
        return [one for _, one in seats[max(0, at - before) : at + after + 1]]


@lru_cache(maxsize=1_000)
def _pairs(size: int) -> int:
    """Return the total number of neighbours of the members of a group."""
    steps = (*range(1, BEFORE + 1), *range(1, AFTER + 1))
    return sum(max(0, size - step) for step in steps)


MOST_REPEATS: Final = 255

_ONCE: Final[Mapping[int, int]] = {}
"""The repeats of a term without repeats in any document."""


class Postings:
    """
    The terms of numbered documents.

    Numbers ascend and are never reused, so that every list of them stays sorted.

    Args:
        statistics: Statistics of the whole store, if these documents are only a part of it.

    ``lengths`` holds the number of terms of each document.
    """

    def __init__(self, statistics: Statistics | None = None) -> None:
        self._statistics = statistics
        self._rows: dict[str, array[int]] = {}
        self._repeats: dict[str, dict[int, int]] = {}
        self._terms: dict[int, tuple[str, ...]] = {}
        self.lengths: dict[int, int] = {}
        self._total = 0

    def __len__(self) -> int:
        return len(self.lengths)

    def add(self, number: int, terms: Iterable[str]) -> None:
        """Add a document under a number larger than all earlier ones."""
        listed = list(terms)
        unique = tuple(dict.fromkeys(listed))
        rows = self._rows
        for term in unique:
            row = rows.get(term)
            if row is None:
                rows[term] = array("L", (number,))
            else:
                row.append(number)
        if len(unique) != len(listed):
            for term, count in Counter(listed).items():
                if count > 1:
                    self._repeats.setdefault(term, {})[number] = min(count, MOST_REPEATS)
        self._terms[number] = unique
        self.lengths[number] = len(listed)
        self._total += len(listed)

    def remove(self, number: int) -> None:
        """Remove a document."""
        for term in self._terms.pop(number):
            row = self._rows[term]
            del row[bisect_left(row, number)]
            if not row:
                del self._rows[term]
            repeats = self._repeats.get(term)
            if repeats is not None:
                repeats.pop(number, None)
        self._total -= self.lengths.pop(number)

    def count_terms(self, number: int, terms: frozenset[str]) -> dict[str, int]:
        """Return the counts of these terms in a document."""
        found = terms.intersection(self._terms[number])
        return {term: self._repeats.get(term, _ONCE).get(number, 1) for term in found}

    @property
    def documents(self) -> int:
        """The number of documents in the store."""
        return self._statistics.documents if self._statistics else len(self.lengths)

    @property
    def mean_length(self) -> float:
        """The mean number of terms per document."""
        if self._statistics:
            return max(self._statistics.length, 1.0)
        return max(self._total / max(len(self.lengths), 1), 1.0)

    def held(self, term: str) -> int:
        """Return the number of documents here with a term."""
        return len(self._rows.get(term, ()))

    def information(self, term: str, together: float = 1.0) -> float:
        """
        Return the information of a term in nats; rare terms have more (the idf of Lucene's BM25).

        Args:
            term: The term.
            together: The mean number of documents scored as one. The larger it is, the more of
                them contain the term.
        """
        whole = self.documents
        held = self._statistics.frequency(term) if self._statistics else self.held(term)
        held = min(max(held, self.held(term)), whole)
        wide = whole * (1 - (1 - held / whole) ** together) if whole else 0.0
        return rarity(wide, whole)

    def candidates(self, information: Mapping[str, float], most: int) -> dict[int, float]:
        """
        Score documents approximately, by their own terms, reading the rarest terms first.

        Args:
            information: The information of each term.
            most: The maximum number of occurrences to read; of a term with more, the newest.
        """
        scores = dict[int, float]()
        score_of = scores.get
        for term in sorted(information, key=self.held):
            row = self._rows.get(term)
            if row is None:
                continue
            if most <= 0:
                break
            once = information[term] * _WORTHS[1]
            read = row[-most:]
            for number in read:
                scores[number] = score_of(number, 0.0) + once
            for number, repeats in self._repeats.get(term, _ONCE).items():
                if number >= read[0]:
                    scores[number] += information[term] * _WORTHS[repeats] - once
            most -= len(row)
        return scores


_WORTHS: Final = [worth(repeats) for repeats in range(MOST_REPEATS + 1)]
"""The score of a term by its repeats, in a document of mean length."""


def spread(scores: Mapping[int, float], whole: int) -> float:
    """
    Return the standard deviation of scores among ``whole`` documents; missing scores are 0.

    Args:
        scores: The scores of some documents.
        whole: The number of all documents.
    """
    whole = max(whole, len(scores), 1)
    mean = sum(scores.values()) / whole
    square = sum(score * score for score in scores.values()) / whole
    return math.sqrt(max(square - mean * mean, 0.0)) or 1.0


POOL: Final = 120
"""The number of candidates, the best by their own words, scored with their neighbours."""

MOST_READ: Final = 25_000
"""
The number of occurrences read to find candidates, rarest terms first; more common terms only count
for candidates of rarer ones. This bounds the time of a search in a store of any size.
"""

MOST_TERMS: Final = 64
"""The maximum number of query terms, those with the most information."""


@frozen
class LexicalHits:
    """Lexical scores by document number."""

    own: Mapping[int, float]
    around: Mapping[int, float]
    matched: Mapping[int, Mapping[str, int]]
    share: Mapping[int, float]


def weigh_terms(postings: Postings, terms: Iterable[str]) -> dict[str, float]:
    """Return the information of each query term, in nats, times its count in the query."""
    counts = Counter(terms)
    information = {term: count * postings.information(term) for term, count in counts.items()}
    return dict(nlargest(MOST_TERMS, information.items(), key=lambda pair: pair[1]))


def find_candidates(
    postings: Postings,
    neighbours: Neighbours,
    information: Mapping[str, float],
    allowed: Callable[[int], bool] | None = None,
) -> set[int]:
    """Return the best documents by their own words, and their neighbours."""
    scores = postings.candidates(information, MOST_READ)
    best = nlargest(POOL, zip(scores.values(), scores, strict=True))
    numbers = [number for _, number in best]
    if allowed is not None:
        # Allowed documents are added: a disallowed candidate may have an allowed neighbour.
        counts = (pair for pair in zip(scores.values(), scores, strict=True) if allowed(pair[1]))
        if not all(map(allowed, numbers)):
            numbers += [number for _, number in nlargest(POOL, counts)]
    near = {other for number in numbers for other in neighbours.seen_with(number)}
    return near if allowed is None else set(filter(allowed, near))


def score_documents(
    postings: Postings,
    neighbours: Neighbours,
    information: Mapping[str, float],
    numbers: Sequence[int],
) -> LexicalHits:
    """
    Score documents with their neighbours.

    Args:
        postings: The index of terms.
        neighbours: The neighbours of documents.
        information: The information of each query term.
        numbers: The documents.
    """
    lengths, mean = postings.lengths, postings.mean_length
    windows = {number: neighbours.window(number) for number in numbers}
    terms = frozenset(information)
    held = dict[int, dict[str, int]]()
    for member in set().union(*windows.values()):
        holds = postings.count_terms(member, terms)
        if holds:
            held[member] = holds
    size = neighbours.mean_size(len(postings))
    wide = {term: postings.information(term, size) for term in information}
    total = sum(information.values()) or 1.0
    own, around, share = dict[int, float](), dict[int, float](), dict[int, float]()
    for number, window in windows.items():
        if number in held:
            own[number] = _score(held[number], information, lengths[number], mean)
        near = [held[one] for one in window if one in held]
        if near:
            together = near[0] if len(near) == 1 else _sum_counts(near)
            length = sum([lengths[one] for one in window])
            around[number] = _score(together, wide, length, mean * size)
            share[number] = sum([information[term] for term in together]) / total
    return LexicalHits(own, around, held, share)


def _sum_counts(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    out = dict[str, int]()
    for one in counts:
        for term, repeats in one.items():
            out[term] = out.get(term, 0) + repeats
    return out


def _score(
    held: Mapping[str, int], information: Mapping[str, float], length: float, mean: float
) -> float:
    score, easy = 0.0, discount(length, mean)
    for term, repeats in held.items():
        score += information[term] * worth(repeats, easy)
    return score
