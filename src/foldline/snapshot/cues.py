"""Cues: the names that are likely to be needed again, for a list from which they are recalled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from foldline.lazy import lazy_pattern
from foldline.relevance.names import blank_separators, mentions
from foldline.snapshot.sources import SourceText
from foldline.snapshot.worth import QUOTED

SHORTEST, LONGEST = 4, 80
"""Characters of the shortest and longest names that are listed."""

EDGES: Final = "./-+~@"
"""Signs at the end of a word that do not belong to it."""


_MEASURE = lazy_pattern(r"\d[\d.]*(?:m?s|px|r?em|vh|vw|deg|fr)")
"""A time or length of a style sheet."""

_ESCAPED = lazy_pattern(r"\\((\b[nrt]\w*)[\w./:,-]*)")


def likely_names(
    likely: Mapping[str, float],
    sources: Sequence[SourceText],
    passages: Iterable[str],
    known: Iterable[str],
) -> Iterator[str]:
    """
    Yield names, the likeliest first: what user and agent wrote, then what else there is.

    Args:
        likely: How likely a name is to be needed that somebody wrote.
        sources: The texts, in which the whole word is found that a name is the end of.
        passages: Texts with further names, the best first.
        known: Names that need not be listed.
    """
    have = dict.fromkeys(known)  # grows by smaller steps than a set
    escaped = _find_escapes(sources)
    whole = _find_suffixes(sources)
    ranked = sorted(
        # About how many tokens it takes: the likeliest for its size comes first.
        (-worth / (len(name) / 3.2 + 1.2), name)
        for name, worth in likely.items()
        if name not in have
    )
    for name in _names(ranked, passages):
        if name in have:
            continue
        have[name] = None
        listed = whole.get(name, name)
        if _tells(listed) and listed not in escaped:
            yield listed


def _names(ranked: Iterable[tuple[float, str]], passages: Iterable[str]) -> Iterator[str]:
    for _, name in ranked:
        yield name
    for passage in passages:
        yield from mentions(blank_separators(passage))


def _find_suffixes(sources: Iterable[SourceText]) -> dict[str, str]:
    """Return the word that ends in a name with a hyphen, where that is no word by itself."""
    # In order, so that the same names are listed in every process.
    words = dict.fromkeys(
        word
        for source in sources
        if source.speaker not in QUOTED and "-" in source.text
        for word in blank_separators(source.text).split()
        if "-" in word
    )
    ends = {word[word.index("-", 1) :]: word for word in words if "-" in word[1:]}
    return {name: word.strip(EDGES) for name, word in ends.items() if name not in words}


def _find_escapes(sources: Iterable[SourceText]) -> set[str]:
    """Return what only looks like a name: its first letter is of a line feed or a tab."""
    found: set[str] = set()
    for source in sources:
        if "\\" in source.text:
            for whole, word in _ESCAPED.findall(source.text):
                found.update((whole, whole.rstrip(".,:"), word))
    return found


def _tells(name: str) -> bool:
    """Return True if a name tells something: it is neither an ordinary word nor half of one."""
    if not SHORTEST <= len(name) <= LONGEST or (name.isupper() and name.isalpha()):
        return False
    if _MEASURE.fullmatch(name):
        return False
    return name[0] != "-" or name[1:2] == "-"
