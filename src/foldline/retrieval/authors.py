"""People who are named in a query, among those who are known to have written something."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Set
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from foldline.relevance.terms import ENGLISH

MOST: Final = 2_000
"""Authors that are looked for; a query names one of many thousands by its words like any other."""

_CALENDAR_WORDS: Final = """
january february march april may june july august september october november december monday
tuesday wednesday thursday friday saturday sunday
"""
_CALENDAR: Final = frozenset(_CALENDAR_WORDS.split())


@dataclass(frozen=True, slots=True)
class NamedAuthors:
    """
    What a query says about people.

    Args:
        authors: The known authors that it names.
        rest: The query without their names.
    """

    authors: frozenset[str]
    rest: str


class AuthorNames:
    """The authors of an index."""

    def __init__(self) -> None:
        self._counts = Counter[str]()

    def add(self, author: str) -> None:
        """Count a document of an author."""
        if author:
            self._counts[author] += 1
            self.__dict__.pop("_pattern", None)

    def remove(self, author: str) -> None:
        """Take one off again."""
        if author:
            self._counts[author] -= 1
            if self._counts[author] <= 0:
                del self._counts[author]
            self.__dict__.pop("_pattern", None)

    def named(self, query: str) -> NamedAuthors:
        """Find the authors that a query names, by a whole name or a part of it."""
        pattern, spelled = self._pattern
        if pattern is None:
            return NamedAuthors(frozenset(), query)
        found = set[str]()
        for match in pattern.finditer(query):
            found |= spelled[match["name"]]
        rest = " ".join(pattern.sub(" ", query).split())
        return NamedAuthors(frozenset(found), rest)

    @cached_property
    def _pattern(self) -> tuple[re.Pattern[str] | None, dict[str, Set[str]]]:
        spelled: dict[str, set[str]] = {}
        for author, _ in self._counts.most_common(MOST):
            for name in _spellings(author):
                spelled.setdefault(name, set()).add(author)
        if not spelled:
            return None, {}
        either = "|".join(re.escape(name) for name in sorted(spelled, key=len, reverse=True))
        return re.compile(rf"(?<![a-zA-Z0-9_])(?P<name>{either})(?:['’]s)?(?![a-zA-Z0-9_])"), {
            **spelled
        }


def _spellings(author: str) -> set[str]:
    """
    Return how an author may be written.

    A part of a name that is also an ordinary word, as Will or May are, counts only with a capital.
    """
    out = set[str]()
    for name in (author, *author.split()):
        if len(name) < 2 and name.isascii():
            continue
        out.add(name)
        lower = name.lower()
        if lower not in ENGLISH and lower not in _CALENDAR:
            out |= {lower, name.capitalize()}
    return out
