"""A query, understood: words by their stems, exact names, and characters of unspaced scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from foldline.relevance.stemming import IRREGULAR, stem
from foldline.relevance.stop_words import ENGLISH
from foldline.relevance.terms import UNSPACED, terms

MOST_WORDS: Final = 48
"""Words of a query that are looked for: the first ones."""

LONGEST: Final = 2_000
"""Characters of a query that are read."""

_NAME: Final = re.compile(r"[\w@$%+-]+(?:[./:=-]+[\w@$%+-]+)*")
_QUOTED: Final = re.compile(r"`([^`\n]{3,120})`|\"([^\"\n]{3,120})\"")
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")
_UNSPACED: Final = re.compile(rf"[{UNSPACED}]+")
_MIXED: Final = re.compile(r"\w[._/:=-]+\w|^--?\w|[a-z][A-Z]|[A-Za-z][0-9]|[0-9]{3}")


@dataclass(frozen=True, slots=True)
class Word:
    """
    What one word of a query finds.

    Args:
        stem: What the stem of a word in the text has to be; a text without blanks holds it.
        beginnings: What every such word begins with, in lower case; one of them.
        whole: It is found inside of other characters too, and not stemmed.
    """

    stem: str
    beginnings: tuple[str, ...]
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """A query: its words in order, each once, and the names and phrases that it quotes."""

    words: tuple[Word, ...]
    names: tuple[str, ...]


def understand(query: str) -> Question:
    """Read a query; grammar words are left out unless there is nothing else."""
    query = query[:LONGEST]
    found = {word.stem: word for word in _words(query, ENGLISH)}
    if not found:
        found = {word.stem: word for word in _words(query, frozenset())}
    quoted = [one or other for one, other in _QUOTED.findall(query)]
    exact = [name for name in _NAME.findall(query) if _MIXED.search(name)]
    names = dict.fromkeys(name.lower().strip(".,:;") for name in (*quoted, *exact))
    return Question(tuple(found.values())[:MOST_WORDS], tuple(names)[:MOST_WORDS])


def _words(query: str, ignored: frozenset[str]) -> Iterator[Word]:
    for piece in _WORD.findall(query):
        if _UNSPACED.search(piece):
            yield from (Word(term, (term,), True) for term in terms(piece) if len(term) > 1)
            continue
        word = piece.lower()
        if word in ignored or (len(word) == 1 and not word.isdigit()):
            continue
        yield word_of(word)


def word_of(word: str) -> Word:
    """Return how a word in lower case is looked for."""
    root = stem(word)
    # The last letter of a stem may not stand in the text: happy, happi; creating, create.
    cut = root[:-1] if len(root) > 3 and root[-1] in "ie" else root
    others = tuple(form for form, base in IRREGULAR.items() if stem(base) == root)
    return Word(root, (cut, *others))
