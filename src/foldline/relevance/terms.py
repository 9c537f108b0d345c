"""Search terms: how a text is split into stemmed terms, and how rare terms are weighted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from math import log
from threading import Lock
from typing import Any, Final, TypeAlias
from unicodedata import combining, normalize

_ENGLISH: Final = """
a about also an and any are as at be been being but by can could did do does doing done for
from had has have having he her hers herself him himself his how i if in into is it its
itself just let me my myself not of off on or our ours ourselves over own please shall she
should so some such than that the their theirs them themselves then there these they this
those to too us very was we were what when where which while who whom whose why will with
would you your yours yourself s t d m ll re ve don didn doesn isn aren wasn weren won wouldn
couldn shouldn haven hasn hadn
"""
_HAN_WORDS: Final = """
什么 怎么 怎样 如何 为何 哪里 哪个 哪些 哪儿 哪种 多少 几个 是否 能否 可否 有没有 是不是 为什么
怎么样 这个 那个 这些 那些 这样 那样 我们 你们 他们
她们 它们 自己 一个 一些 一种 以及 或者 并且 而且 但是
因为 所以 如果 虽然 可以 应该 需要 已经 还是 就是 不是 没有 的话 关于 对于
"""
_HAN_LETTERS: Final = (
    "的了吗呢吧啊呀嘛着地得是在和与及或就都也还很把被让给对从到于而且但这那哪谁我你他她它们么几"
)

ENGLISH: Final = frozenset(_ENGLISH.split())

HAN_WORDS: Final = frozenset(_HAN_WORDS.split())
"""Chinese stop words; removed from a run before it is split."""

HAN_LETTERS: Final = frozenset(_HAN_LETTERS)
"""Characters that are stop words by themselves; as parts of pairs they are kept."""


_ONE_AT_A_TIME: Final = Lock()
"""A stemmer is not thread-safe: it stores the word that it works on."""

_FORMS: Final = """
arise arose arisen|beat beaten|become became|begin began begun|bend bent|bite bit bitten
bleed bled|blow blew blown|break broke broken|bring brought|build built|burn burnt|buy bought
catch caught|choose chose chosen|come came|creep crept|deal dealt|dig dug|draw drew drawn
dream dreamt|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed
feel felt|fight fought|find found|fly flew flown|forget forgot forgotten|forgive forgave forgiven
freeze froze frozen|get got gotten|give gave given|go goes went gone|grow grew grown|hang hung
hear heard|hide hid hidden|hold held|keep kept|kneel knelt|know knew known|lay laid|lead led
leap leapt|learn learnt|leave left|lend lent|lie lain|light lit|lose lost|make made|mean meant
meet met|pay paid|ride rode ridden|ring rang rung|rise rose risen|run ran|say said|see saw seen
seek sought|sell sold|send sent|shake shook shaken|shine shone|shoot shot|show shown|shrink shrank
sing sang sung|sink sank sunk|sit sat|sleep slept|slide slid|speak spoke spoken|spend spent
spin spun|stand stood|steal stole stolen|stick stuck|strike struck|swear swore sworn|sweep swept
swim swam swum|swing swung|take took taken|teach taught|tear tore torn|tell told|think thought
throw threw thrown|understand understood|wake woke woken|wear wore worn|weave wove woven|win won
wind wound|write wrote written|child children|foot feet|goose geese|man men|mouse mice
person people|tooth teeth|wife wives|woman women|life lives|knife knives|leaf leaves|shelf shelves
mother mom mum mommy|father dad daddy|grandmother grandma|grandfather grandpa|photo photograph
index indices|vertex vertices|matrix matrices|analysis analyses|hypothesis hypotheses
good better best|bad worse worst|far further furthest
"""

IRREGULAR: Final = {
    form: row[0]
    for line in _FORMS.strip().splitlines()
    for row in (group.split() for group in line.split("|"))
    for form in row[1:]
}
"""Forms that no rule maps to their word, and synonyms for relatives, which people mix."""


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """
    Return the stem of an English word.

    Args:
        word: In lower case; a word with other letters than a to z is returned unchanged.
    """
    word = IRREGULAR.get(word, word)
    if len(word) <= 2 or not (word.isascii() and word.isalpha()):
        return word
    with _ONE_AT_A_TIME:
        return str(_english().stemWord(word))


@cache
def _english() -> Any:
    # Loaded on first use: most sessions never search.
    from snowballstemmer import stemmer  # type: ignore[import-untyped]  # it ships no types

    return stemmer("english")


SATURATION: Final = 0.9
"""k1 of BM25 (Robertson and Zaragoza 2009): how soon repetitions of a term stop counting."""

LENGTH: Final = 0.3
"""b of BM25: how much long texts are discounted; low, for turns, notes and paragraphs."""


def rarity(held: float, whole: float) -> float:
    """
    Return the weight of a term, in nats: the idf of Lucene's BM25.

    Args:
        held: Number of texts that contain it.
        whole: Number of all texts.
    """
    return log(1 + (max(whole, held) - held + 0.5) / (held + 0.5))


def flat_rarity(held: float, whole: float) -> float:
    """
    Return the weight of a term among few texts, in nats: log(1 + (whole+1) / (held+1)).

    It is flatter than `rarity`, because a term that none of five texts contains is not the topic
    of a question.
    """
    return log(1 + (whole + 1) / (held + 1))


def discount(length: float, mean: float, share: float = LENGTH) -> float:
    """Return the saturation that `worth` uses for a text of some length, as BM25 does."""
    return SATURATION * (1 - share + share * length / mean)


def worth(repeats: float, against: float = SATURATION) -> float:
    """Return the score of a term with some repetitions, as a multiple of its rarity."""
    return repeats * (SATURATION + 1) / (repeats + against)


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of terms that two texts have in common (Jaccard), 0 to 1."""
    both = len(one & other)
    return both / (len(one) + len(other) - both) if both else 0.0


Cutter: TypeAlias = Callable[[str], list[str]]
"""A function that splits a run of Chinese into words, such as ``jieba.lcut_for_search``."""

TERMS_VERSION: Final = "1"
"""Version of the splitting rules; stored terms of another version are computed again."""

LONGEST: Final = 64
"""Largest length of a term, in characters; encoded data would otherwise be one huge term."""

LONGEST_REMEMBERED: Final = 4_000
"""Characters of a text whose terms are cached, so that the cache takes some 40 MB at most."""

MARKS: Final = "\u0300-\u036f\u0610-\u061a\u064b-\u065f\u0900-\u0dff\u0e31-\u0e4e\u0eb1-\u0ece"
"""Vowel signs and accents, which are part of words although they are not letters."""

UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"  # Han, kana, hangul
    "\U00020000-\U0003fffd"
)
"""Scripts without blanks between words, and hangul, whose words include particles."""

_RUN: Final = re.compile(rf"\w[\w{MARKS}]*(?:['’.\-]\w[\w{MARKS}]*)*")
_SCRIPT: Final = re.compile(rf"[{UNSPACED}]+|[^{UNSPACED}]+")
_IS_UNSPACED: Final = re.compile(rf"[{UNSPACED}]")
_PIECE: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_JOINT: Final = re.compile(r"[\-_.]+")
_POSSESSIVE: Final = re.compile(r"['’][sS]$")
_GRAMMAR: Final = re.compile("|".join(sorted(HAN_WORDS, key=len, reverse=True)))


def terms(text: str, *, words: Cutter | None = None) -> list[str]:
    """
    Split a text into terms, in order, with repetitions.

    Args:
        text: Any text, in any mix of scripts.
        words: Splits runs of Chinese into words; without it, pairs of characters are used.

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
    """Return the terms of a text, from a cache if it is short."""
    return _cut_remembered(text) if len(text) <= LONGEST_REMEMBERED else tuple(terms(text))


def term_set(text: str) -> frozenset[str]:
    """Return the distinct terms of a text; see `cut_terms`."""
    return frozenset(cut_terms(text))


@lru_cache(maxsize=1 << 12)
def _cut_remembered(text: str) -> tuple[str, ...]:
    return tuple(terms(text))


def _cut_word(run: str) -> tuple[str, ...]:
    """Return the terms of a word, from a cache if it is short."""
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
