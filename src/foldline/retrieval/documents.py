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
    One thing that may be found: a turn, a memory, a note, a paragraph.

    Args:
        id: Its name; the same id again replaces it.
        text: All that must be found: a title, who spoke, a caption, what was said.
        author: Who said it; a query that names them prefers it.
        group: The conversation, session or file it belongs to; its neighbours there are looked at
            too. Empty means that it stands alone.
        place: Its order inside the group.
        time: When it happened, in seconds since 1970; matched with dates that a query names.
        terms: The text as terms, where it was cut before.
        vector: Its meaning, of length 1: numbers, or float16 as `pack` writes them.
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
    A document that was found, and why.

    Args:
        id: Which document.
        score: What it is ranked by; comparable inside one answer only.
        parts: What added up to the score: "words" (its own), "around" (its own and those of its
            neighbours), "author", "date", "meaning", "shape". What added nothing is left out.
        matched: The terms of the query that stand in the document itself.
        strength: 0 to 1, comparable between answers: the share of the information in the query
            that the document and its neighbours hold, or its similarity of meaning if that is
            more. A threshold belongs here.
    """

    id: str
    score: float
    parts: Mapping[str, float]
    matched: tuple[str, ...]
    strength: float


@frozen
class Statistics:
    """
    The numbers of a whole store, for an index that holds only candidates of it.

    Args:
        documents: How many the store holds.
        frequency: In how many of them a term occurs.
        length: Terms per document, on average.
        authors: Who wrote them, as far as a query may name them.
        sample: Vectors of some of them, drawn at random, for how alike any two are; None where
            the candidates have to do.
    """

    documents: int
    frequency: Callable[[str], int]
    length: float
    authors: Collection[str] = ()
    sample: Matrix | None = None


@frozen
class Weights:
    """
    The weights of one search, in the order of what they are worth.

    Scores of words and meaning are divided by their spread before they are weighed, so that
    queries of many and of few words are comparable; author and date are 0 to 1 by nature. Fitted
    on long conversations, each left out in turn (bench/retrieval.py); the optimum is flat.

    Args:
        words: The document's own terms.
        around: Its terms and those of its neighbours together.
        meaning: Similarity of its vector.
        meaning_around: Similarity of its vector and those of its neighbours, on average.
        author: The query names who wrote it.
        date: It happened when the query says, or soon after.
        question: It only asks; counts against it.

    Raises:
        BudgetError: A weight is negative or no number.
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
                raise BudgetError(f"The weight {name!r} must be a number from 0 up, not {value!r}")


CONSIDERED: Final = 200
"""The best hits, among which a diverse choice is made."""


def choose_diverse(
    hits: Sequence[Hit], text_of: Callable[[str], str], k: int, balance: float = 0.9
) -> list[Hit]:
    """
    Choose hits by maximal marginal relevance (Carbonell and Goldstein 1998).

    Args:
        hits: The best first.
        text_of: The text of a document, by its id.
        k: How many to choose.
        balance: 1 goes by score alone, 0 by difference alone.

    Returns:
        The chosen hits, in the order in which they were chosen.
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
    Go through texts by maximal marginal relevance; see `choose_diverse`.

    Args:
        worth: What each is worth.
        terms: What each says.
        balance: 1 goes by worth alone, 0 by difference alone.

    Yields:
        Which text is next, its likeness to the nearest of those before, and which one that is.
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
