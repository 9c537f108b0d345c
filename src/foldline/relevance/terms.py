"""
Texts as terms: what is indexed, and what is asked for; one function for both.

Words are folded and stemmed, identifiers are kept whole and split as well. Scripts without blanks
become characters and pairs of characters, or the words of a dictionary and characters. Which of
them applies is decided for each run of characters, not for a whole text, because code, names and
prose stand side by side.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final, TypeAlias
from unicodedata import combining, normalize

from foldline.relevance.stemming import stem
from foldline.relevance.stop_words import ENGLISH, HAN_LETTERS, HAN_WORDS

Cutter: TypeAlias = Callable[[str], list[str]]
"""Cuts a run of Chinese into words, such as ``jieba.lcut_for_search``."""

TERMS_VERSION: Final = "1"
"""Changes when the same text would be cut otherwise; terms that were kept are then cut anew."""

LONGEST: Final = 64
"""Characters of a term; encoded data would otherwise make terms without end."""

LONGEST_REMEMBERED: Final = 4_000
"""Characters of a text whose terms are remembered; so all of them take some 40 MB at most."""

MARKS: Final = "\u0300-\u036f\u0610-\u061a\u064b-\u065f\u0900-\u0dff\u0e31-\u0e4e\u0eb1-\u0ece"
"""Vowel signs and accents that belong to words, though they are no letters."""

UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"  # Han, kana, hangul
    "\U00020000-\U0003fffd"
)
"""Scripts whose words are not set apart, or, in hangul, carry their grammar with them."""

_RUN: Final = re.compile(rf"\w[\w{MARKS}]*(?:['’.\-]\w[\w{MARKS}]*)*")
_SCRIPT: Final = re.compile(rf"[{UNSPACED}]+|[^{UNSPACED}]+")
_IS_UNSPACED: Final = re.compile(rf"[{UNSPACED}]")
_PIECE: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_JOINT: Final = re.compile(r"[\-_.]+")
_POSSESSIVE: Final = re.compile(r"['’][sS]$")
_GRAMMAR: Final = re.compile("|".join(sorted(HAN_WORDS, key=len, reverse=True)))


def terms(text: str, *, words: Cutter | None = None) -> list[str]:
    """
    Cut a text into terms, in their order, repeated as often as they occur.

    Args:
        text: Any text, in any mix of scripts.
        words: Cuts runs of Chinese into words; pairs of characters stand in for them without it.

    Returns:
        Terms without blanks or quotes, each of at most `LONGEST` characters.
    """
    out = list[str]()
    for run in _RUN.findall(normalize("NFKC", text)):
        if run.isascii():
            out.extend(_cut_word(run))
            continue
        for part in _SCRIPT.findall(run):
            out.extend(_cut_unspaced(part, words) if _IS_UNSPACED.match(part) else _cut_word(part))
    return out


def cut_terms(text: str) -> tuple[str, ...]:
    """Cut a text that is looked at again and again; short ones are cut once."""
    return _cut_remembered(text) if len(text) <= LONGEST_REMEMBERED else tuple(terms(text))


def term_set(text: str) -> frozenset[str]:
    """Return the terms that stand in a text; see `cut_terms`."""
    return frozenset(cut_terms(text))


@lru_cache(maxsize=1 << 12)
def _cut_remembered(text: str) -> tuple[str, ...]:
    return tuple(terms(text))


def _cut_word(run: str) -> tuple[str, ...]:
    """Cut a word; the many short ones that occur again and again are cut once."""
    return _remembered(run) if len(run) <= LONGEST else _cut(run)


def _cut(run: str) -> tuple[str, ...]:
    out = list[str]()
    for piece in re.split("['’]", _POSSESSIVE.sub("", run)):
        parts = [part for joined in _JOINT.split(piece) for part in _parts(joined)]
        if len(parts) > 1:
            out.append(_fold(_JOINT.sub("_", piece))[:LONGEST])
        folded = [_fold(part)[:LONGEST] for part in parts]
        out += [stem(word) for word in folded if word and word not in ENGLISH]
    return tuple(out)


_remembered = lru_cache(maxsize=1 << 16)(_cut)


def _parts(word: str) -> list[str]:
    return _PIECE.findall(word) if word.isascii() else [word]


def _fold(word: str) -> str:
    """Return a word without case and accents."""
    if word.isascii():
        return word.lower()
    apart = normalize("NFKD", word.casefold())
    return normalize("NFC", "".join(letter for letter in apart if combining(letter) != 230))


def _cut_unspaced(run: str, words: Cutter | None) -> Iterator[str]:
    for part in _GRAMMAR.split(run):
        yield from (letter for letter in part if letter not in HAN_LETTERS)
        if words is None:
            yield from (part[at : at + 2] for at in range(len(part) - 1))
        else:
            yield from (word[:LONGEST] for word in words(part) if len(word) > 1)
