"""Which documents hold a term, how often, and what that is worth (BM25)."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from foldline.retrieval.documents import Statistics

SATURATION: Final = 0.9
"""k1 of BM25 (Robertson and Zaragoza 2009): how soon repeating a term stops to count."""

LENGTH: Final = 0.3
"""b of BM25: how much long documents are discounted; little, for turns, notes and paragraphs."""

MOST_REPEATS: Final = 255

_ONCE: Final[Mapping[int, int]] = {}
"""The repeats of a term that no document repeats."""


class Postings:
    """
    The terms of numbered documents.

    Numbers are given in rising order and never again, so that every list of them stays sorted.

    Args:
        statistics: The numbers of the whole where these documents are only a part of it.
    """

    def __init__(self, statistics: Statistics | None = None) -> None:
        self._statistics = statistics
        self._rows: dict[str, array[int]] = {}
        self._repeats: dict[str, dict[int, int]] = {}
        self._terms: dict[int, tuple[str, ...]] = {}
        self._lengths: dict[int, int] = {}
        self._total = 0

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, number: int, terms: Iterable[str]) -> None:
        """Add a document under a number larger than all before."""
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
        self._lengths[number] = len(listed)
        self._total += len(listed)

    def remove(self, number: int) -> None:
        """Take a document out."""
        for term in self._terms.pop(number):
            row = self._rows[term]
            del row[bisect_left(row, number)]
            if not row:
                del self._rows[term]
            repeats = self._repeats.get(term)
            if repeats is not None:
                repeats.pop(number, None)
        self._total -= self._lengths.pop(number)

    @property
    def lengths(self) -> Mapping[int, int]:
        """How many terms each document has."""
        return self._lengths

    def holding(self, number: int, wanted: frozenset[str]) -> dict[str, int]:
        """Return which of these terms a document holds, and how often."""
        found = wanted.intersection(self._terms[number])
        return {term: self._repeats.get(term, _ONCE).get(number, 1) for term in found}

    @property
    def documents(self) -> int:
        """How many documents the store has."""
        return self._statistics.documents if self._statistics else len(self._lengths)

    @property
    def mean_length(self) -> float:
        """Terms per document."""
        if self._statistics:
            return max(self._statistics.length, 1.0)
        return max(self._total / max(len(self._lengths), 1), 1.0)

    def held(self, term: str) -> int:
        """Return how many documents here hold a term."""
        return len(self._rows.get(term, ()))

    def information(self, term: str, together: float = 1.0) -> float:
        """
        Return what a term says, in nats; rare ones say more (the idf of Lucene's BM25).

        Args:
            term: The term.
            together: How many documents are looked at as one, on average. The more they are, the
                more of them hold the term.
        """
        whole = self.documents
        held = self._statistics.frequency(term) if self._statistics else self.held(term)
        held = min(max(held, self.held(term)), whole)
        wide = whole * (1 - (1 - held / whole) ** together) if whole else 0.0
        return math.log(1 + (whole - wide + 0.5) / (wide + 0.5))

    def candidates(self, information: Mapping[str, float], most: int) -> dict[int, float]:
        """
        Score documents roughly, by their own terms, reading the rarest terms first.

        Args:
            information: What each term says.
            most: Occurrences to read; of a term that has more, those in the newest documents.
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


def discount(length: float, mean: float) -> float:
    """Return what the repeats of a term stand against in a document of some length; BM25."""
    return SATURATION * (1 - LENGTH + LENGTH * length / mean)


def worth(repeats: float, against: float) -> float:
    """Return what a term is worth that is repeated so often, as a share of its information."""
    return repeats * (SATURATION + 1) / (repeats + against)


_WORTHS: Final = [worth(repeats, SATURATION) for repeats in range(MOST_REPEATS + 1)]
"""By repeats, in a document of ordinary length."""


def spread(scores: Mapping[int, float], whole: int) -> float:
    """
    Return the standard deviation of scores among ``whole`` documents; the others have none.

    Args:
        scores: What some documents have.
        whole: How many there are; never fewer than have a score.
    """
    whole = max(whole, len(scores), 1)
    mean = sum(scores.values()) / whole
    square = sum(score * score for score in scores.values()) / whole
    return math.sqrt(max(square - mean * mean, 0.0)) or 1.0
