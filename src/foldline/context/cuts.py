"""Texts as terms, remembered: a packet is looked at several times, and comes again next turn."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from foldline.relevance.terms import terms

REMEMBERED: Final = 4_096
LONGEST: Final = 4_000
"""Characters of a text that is remembered; so all of them take some 40 MB at most."""


def cut(text: str) -> tuple[str, ...]:
    """Cut a text into terms, in their order; see `foldline.relevance.terms.terms`."""
    return _remembered(text) if len(text) <= LONGEST else tuple(terms(text))


def terms_in(text: str) -> frozenset[str]:
    """Return the terms that stand in a text."""
    return frozenset(cut(text))


@lru_cache(maxsize=REMEMBERED)
def _remembered(text: str) -> tuple[str, ...]:
    return tuple(terms(text))
