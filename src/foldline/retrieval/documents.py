"""Documents, hits and weights of an index, and a diverse choice of hits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from math import isfinite
from typing import Final

from foldline.errors import BudgetError
from foldline.frozen import field, frozen, to_dict
from foldline.relevance.terms import overlap, terms
from foldline.retrieval.embedding import Matrix


@frozen
class Document:
    """
    A searchable document: a turn, a memory, a note, a paragraph.

    Args:
        id: The id; adding the same id again replaces the document.
        text: All searchable text: title, speaker, caption, content.
        author: The author; preferred if the query names them.
        group: The conversation, session or file it belongs to; neighbours in it count, too. Empty
            for a document without neighbours.
        place: The position in the group.
        time: The time of the event, in seconds since 1970; matched with dates in a query.
        terms: The text as terms, if already tokenized.
        vector: A vector of length 1: numbers, or float16 as written by `pack`.
    """

    id: str
    text: str = field(repr=False)
    author: str = ""
    group: str = ""
    place: float = 0.0
    time: float | None = None
    terms: tuple[str, ...] | None = field(default=None, repr=False)
    vector: Sequence[float] | bytes | None = field(default=None, repr=False)


@frozen
class Hit:
    """
    A search result with its score.

    Args:
        id: The id of the document.
        score: The rank score; comparable within one result list only.
        parts: The components of the score: "words" (its own), "around" (its own and those of its
            neighbours), "author", "date", "meaning", "shape". Zero components are omitted.
        matched: The query terms in the document itself.
        strength: 0 to 1, comparable between searches: the share of the information of the query
            in the document and its neighbours, or its semantic similarity if that is higher. Use
            it for thresholds.
    """

    id: str
    score: float
    parts: Mapping[str, float]
    matched: tuple[str, ...]
    strength: float


@frozen
class Statistics:
    """
    Statistics of a whole store, for an index that holds only candidates of it.

    Args:
        documents: The number of documents in the store.
        frequency: The number of documents with a term.
        length: The mean number of terms per document.
        authors: The authors that a query may name.
        sample: A random sample of vectors, for the typical similarity; None uses the candidates.
    """

    documents: int
    frequency: Callable[[str], int]
    length: float
    authors: Collection[str] = ()
    sample: Matrix | None = None


@frozen
class Weights:
    """
    The weights of the relevance features, in the order of their value.

    Scores of words and meaning are divided by their standard deviation before weighting, so that
    queries of many and of few words are comparable; author and date are in 0 to 1. Fitted on long
    conversations with leave-one-out cross-validation (bench/retrieval.py); the optimum is flat.

    Args:
        words: The document's own terms.
        around: The terms of the document and its neighbours together.
        meaning: The similarity of its vector.
        meaning_around: The mean similarity of its vector and those of its neighbours.
        author: The query names its author.
        date: Its time is in or soon after a date in the query.
        question: It is only a question, which counts against it.

    Raises:
        BudgetError: A weight is negative or not a number.
    """

    words: float = 0.25
    around: float = 0.55
    meaning: float = 0.45
    meaning_around: float = 0.65
    author: float = 2.3
    date: float = 3.0
    question: float = 0.7

    def __post_init__(self) -> None:
        for name, value in to_dict(self).items():
            if not isinstance(value, int | float) or not isfinite(value) or value < 0:
                raise BudgetError(f"The weight {name!r} must be a number ≥ 0, not {value!r}")


CONSIDERED: Final = 200
"""The number of best hits among which diverse ones are chosen."""


def choose_diverse(
    hits: Sequence[Hit], text_of: Callable[[str], str], k: int, balance: float = 0.9
) -> list[Hit]:
    """
    Choose hits by maximal marginal relevance (Carbonell and Goldstein 1998).

    Args:
        hits: The hits, the best first.
        text_of: Returns the text of a document by its id.
        k: The number of hits to choose.
        balance: The weight of the score against diversity, 0 to 1.

    Returns:
        The chosen hits, in the order of choice.
    """
    pool = hits[:CONSIDERED]
    if not pool or k <= 0:
        return []
    scores = [one.score for one in pool]
    low, high = min(scores), max(scores)
    worth = [(score - low) / ((high - low) or 1.0) for score in scores]
    words = [frozenset(terms(text_of(one.id))) for one in pool]
    return [pool[at] for at, _, _ in islice(diverse(worth, words, balance), k)]


def diverse(
    worth: Sequence[float], terms: Sequence[frozenset[str]], balance: float
) -> Iterator[tuple[int, float, int]]:
    """
    Order texts by maximal marginal relevance; see `choose_diverse`.

    Args:
        worth: The score of each text.
        terms: The terms of each text.
        balance: The weight of the score against diversity, 0 to 1.

    Yields:
        The index of the next text, its similarity to the nearest earlier one, and the index of
        that one.
    """
    alike, nearest, left = [0.0] * len(worth), [0] * len(worth), list(range(len(worth)))
    while left:
        best = max(left, key=lambda at: balance * worth[at] - (1 - balance) * alike[at])
        left.remove(best)
        yield best, alike[best], nearest[best]
        for at in left:
            likeness = overlap(terms[at], terms[best])
            if likeness > alike[at]:
                alike[at], nearest[at] = likeness, best
