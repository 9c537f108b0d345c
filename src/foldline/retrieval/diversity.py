"""Not the same thing twice: a choice of hits that are good and different."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from foldline.relevance.terms import terms
from foldline.retrieval.documents import Hit

MOST: Final = 200
"""Hits among which is chosen."""


def diverse(
    hits: Sequence[Hit],
    text_of: Callable[[str], str],
    k: int,
    balance: float = 0.9,
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
    left = list(hits[:MOST])
    if not left or k <= 0:
        return []
    low, high = min(one.score for one in left), max(one.score for one in left)
    worth = {one.id: (one.score - low) / ((high - low) or 1.0) for one in left}
    words = {one.id: frozenset(terms(text_of(one.id))) for one in left}
    alike = dict.fromkeys(words, 0.0)
    out = list[Hit]()
    while left and len(out) < k:
        best = max(left, key=lambda one: balance * worth[one.id] - (1 - balance) * alike[one.id])
        left.remove(best)
        out.append(best)
        for one in left:
            alike[one.id] = max(alike[one.id], overlap(words[one.id], words[best.id]))
    return out


def overlap(one: Iterable[str], other: Iterable[str]) -> float:
    """Return the share of terms that two texts have in common (Jaccard), 0 to 1."""
    left, right = frozenset(one), frozenset(other)
    return len(left & right) / (len(left | right) or 1)
