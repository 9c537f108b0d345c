"""Items: the words of a text that can be used again exactly: names, paths, ids, numbers, flags."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["path", "dotted", "snake", "camel", "flag", "number", "hash", "upper"]

KINDS: tuple[Kind, ...] = (
    "path",
    "dotted",
    "snake",
    "camel",
    "flag",
    "number",
    "hash",
    "upper",
)

_WORD = re.compile(r"[A-Za-z0-9_./@~+-]{3,160}")
_CAMEL = re.compile(r"[a-z][A-Z]")
_HEX = re.compile(r"[0-9a-f]{7,64}")
_SUBWORD = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}")
_MEMO_SIZE = 1 << 17
_memo: dict[str, tuple[tuple[str, Kind], ...]] = {}


def kind_of(word: str) -> Kind | None:
    """Classify a word; None for an ordinary one, which says nothing on its own."""
    if word.startswith("-"):
        return "flag" if word.lstrip("-")[:1].isalpha() and len(word) > 3 else None
    if "/" in word:
        return "path"
    if word.replace(".", "").isdigit():
        return "number"
    if "_" in word:
        return "snake"
    if _HEX.fullmatch(word) and not word.isalpha():
        return "hash"
    if "." in word or "@" in word:
        return "dotted"
    if _CAMEL.search(word):
        return "camel"
    return "upper" if word.isupper() and len(word) >= 4 else None


def _items(word: str) -> tuple[tuple[str, Kind], ...]:
    """Return the items in a word without its punctuation; none in an ordinary word."""
    try:
        return _memo[word]
    except KeyError:
        pass
    bare = word.rstrip("./-+~@").lstrip("+._")
    pieces = [bare]
    if "-" in bare[1:] and "/" not in bare and not bare.startswith("-"):
        # Hyphenated words share their endings more often than themselves: rev-parse, re-parse.
        pieces = [*bare.split("-"), bare[bare.index("-") :]]
    named = ((piece, kind_of(piece)) for piece in pieces if len(piece) >= 3)
    found = tuple((piece, kind) for piece, kind in named if kind)
    if len(_memo) >= _MEMO_SIZE:
        _memo.clear()
    _memo[word] = found
    return found


def items(text: str) -> dict[str, Kind]:
    """
    Find the items of a text.

    Args:
        text: Any text.

    Returns:
        Kind by item, in order of appearance.
    """
    found: dict[str, Kind] = {}
    for word in _WORD.findall(text):
        pairs = _items(word)
        if pairs:
            found.update(pairs)
    return found


def occurrences(text: str) -> dict[str, tuple[Kind, int]]:
    """Find the items of a text, each with its kind and how often it occurs."""
    found: dict[str, tuple[Kind, int]] = {}
    for word, count in Counter(_WORD.findall(text)).items():
        for item, kind in _items(word):
            found[item] = (kind, count + (found[item][1] if item in found else 0))
    return found


def words(text: str) -> set[str]:
    """Return the ordinary words of a text in lower case, also those that names are made of."""
    return {word.lower() for word in _SUBWORD.findall(text)}


@lru_cache(maxsize=1 << 16)
def subwords(item: str) -> tuple[str, ...]:
    """Return the ordinary words that a name is made of, in lower case."""
    return tuple(words(item))
