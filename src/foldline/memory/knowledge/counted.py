"""
The terms of a chunk as the full-text index keeps them.

The index knows only whether a chunk holds a term. That it holds it often is written as one more
term, such as ``4*launch``: so the rarest, most telling postings can be read first, and a chunk
that is all about a common term is found without reading every chunk that mentions it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

LEVELS: Final = (2, 4, 8)
"""So often must a term occur to be marked; what lies between counts as the lower one."""

FILLER: Final = "*"
"""Stands for every term that was not asked for; no term is made of it."""


def kept(counts: Mapping[str, int]) -> str:
    """Write the terms of a chunk, each with how often it occurs."""
    out = list[str]()
    for term, count in counts.items():
        out.append(term)
        out += [f"{level}*{term}" for level in LEVELS if count >= level]
    return " ".join(out)


def lists(term: str) -> Iterator[tuple[str, int]]:
    """Name the entries of the index under which a term stands, and how often it occurs there."""
    yield term, 1
    yield from ((f"{level}*{term}", level) for level in LEVELS)


def shown(terms: str, wanted: frozenset[str], length: int) -> tuple[str, ...]:
    """
    Return the terms of a chunk for scoring: those that are wanted as often as they occur.

    Args:
        terms: What `kept` wrote.
        wanted: The terms that a query asks for.
        length: How many terms the chunk has; the others count only as length.
    """
    entries = set(terms.split(" "))
    out = list[str]()
    for term in entries & wanted:
        times = max((level for level in LEVELS if f"{level}*{term}" in entries), default=1)
        out += [term] * times
    return (*out, *(FILLER,) * max(0, length - len(out)))
