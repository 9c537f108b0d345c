"""What the words of a query find: by themselves, and in the surroundings of a document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import Final

from foldline.retrieval.postings import Postings, discount, worth
from foldline.retrieval.surroundings import Surroundings

POOL: Final = 120
"""Documents that are looked at closely, with their neighbours: the best by their own words."""

MOST_READ: Final = 25_000
"""
Occurrences that are read to find those documents, rarest terms first; more common terms count only
where rarer ones led. It bounds the time of a search in a store of any size.
"""

MOST_TERMS: Final = 64
"""Terms of a query that are looked for: those that say most."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What one look found, by the numbers of the documents."""

    own: Mapping[int, float]
    around: Mapping[int, float]
    matched: Mapping[int, Mapping[str, int]]
    share: Mapping[int, float]


def asked(postings: Postings, terms: Iterable[str]) -> dict[str, float]:
    """Return what each term of a query says, in nats, times how often it is asked for."""
    counts = Counter(terms)
    says = {term: count * postings.information(term) for term, count in counts.items()}
    return dict(nlargest(MOST_TERMS, says.items(), key=lambda pair: pair[1]))


def candidates(
    postings: Postings,
    surroundings: Surroundings,
    says: Mapping[str, float],
    allowed: Callable[[int], bool] | None = None,
) -> set[int]:
    """Return the best documents by their own words, and those that are looked at with them."""
    scores = postings.candidates(says, MOST_READ)
    best = nlargest(POOL, zip(scores.values(), scores, strict=True))
    numbers = [number for _, number in best]
    if allowed is not None:
        # Those that count, besides the others: a neighbour of theirs may be one that counts.
        counts = (pair for pair in zip(scores.values(), scores, strict=True) if allowed(pair[1]))
        if not all(map(allowed, numbers)):
            numbers += [number for _, number in nlargest(POOL, counts)]
    near = {other for number in numbers for other in surroundings.windows(number)}
    return near if allowed is None else set(filter(allowed, near))


def look(
    postings: Postings,
    surroundings: Surroundings,
    says: Mapping[str, float],
    numbers: Sequence[int],
) -> Seen:
    """
    Look closely at some documents.

    Args:
        postings: Where they are indexed.
        surroundings: Who stands beside whom.
        says: What each term of the query says.
        numbers: The documents.
    """
    lengths, mean = postings.lengths, postings.mean_length
    windows = {number: surroundings.window(number) for number in numbers}
    wanted = frozenset(says)
    held = dict[int, dict[str, int]]()
    for member in set().union(*windows.values()):
        holds = postings.holding(member, wanted)
        if holds:
            held[member] = holds
    size = surroundings.mean_size(len(postings))
    wide = {term: postings.information(term, size) for term in says}
    total = sum(says.values()) or 1.0
    own, around, share = dict[int, float](), dict[int, float](), dict[int, float]()
    for number, window in windows.items():
        if number in held:
            own[number] = _scored(held[number], says, lengths[number], mean)
        near = [held[one] for one in window if one in held]
        if near:
            together = near[0] if len(near) == 1 else _summed(near)
            length = sum([lengths[one] for one in window])
            around[number] = _scored(together, wide, length, mean * size)
            share[number] = sum([says[term] for term in together]) / total
    return Seen(own, around, held, share)


def _summed(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    out = dict[str, int]()
    for one in counts:
        for term, repeats in one.items():
            out[term] = out.get(term, 0) + repeats
    return out


def _scored(
    held: Mapping[str, int], says: Mapping[str, float], length: float, mean: float
) -> float:
    score, easy = 0.0, discount(length, mean)
    for term, repeats in held.items():
        score += says[term] * worth(repeats, easy)
    return score
