"""What a term says: by how few texts hold it (idf), and by how often one repeats it (BM25)."""

from __future__ import annotations

from math import log
from typing import Final

SATURATION: Final = 0.9
"""k1 of BM25 (Robertson and Zaragoza 2009): how soon repeating a term stops to count."""

LENGTH: Final = 0.3
"""b of BM25: how much long texts are discounted; little, for turns, notes and paragraphs."""


def rarity(held: float, whole: float) -> float:
    """
    Return what a term says, in nats: the idf of Lucene's BM25.

    Args:
        held: How many texts hold it.
        whole: How many texts there are.
    """
    return log(1 + (max(whole, held) - held + 0.5) / (held + 0.5))


def flat_rarity(held: float, whole: float) -> float:
    """
    Return what a term says among few texts, in nats: log(1 + (whole+1) / (held+1)).

    It is flatter than `rarity`, because a term that none of five texts holds is not what a
    question is about.
    """
    return log(1 + (whole + 1) / (held + 1))


def discount(length: float, mean: float, share: float = LENGTH) -> float:
    """Return what the repeats of a term stand against in a text of some length."""
    return SATURATION * (1 - share + share * length / mean)


def worth(repeats: float, against: float = SATURATION) -> float:
    """Return what a term is worth that is repeated so often, as a share of its rarity."""
    return repeats * (SATURATION + 1) / (repeats + against)


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of terms that two texts have in common (Jaccard), 0 to 1."""
    both = len(one & other)
    return both / (len(one) + len(other) - both) if both else 0.0
