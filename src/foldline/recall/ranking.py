"""Passages ranked for a query: BM25 over stems, with exact names, proximity and kind of text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from foldline.frozen import frozen
from foldline.recall.lines import Line, essence, read_lines, value_name, write_lines
from foldline.recall.sections import Kind, MessageSection
from foldline.relevance.terms import (
    ENGLISH,
    IRREGULAR,
    UNSPACED,
    discount,
    rarity,
    stem,
    terms,
    worth,
)

LEAST, MOST = 100, 300
"""
Characters of a passage: from the first number on it ends with a paragraph, from the second with
any line.
"""

JSON_FROM: Final = 60
"""Lines of JSON longer than this, in characters, are split into values."""

_TITLE: Final = re.compile(r"\s*(?:#{1,6} |\*\*[^*]{1,80}\*\*:?\s*$)")
_ENDS: Final = (". ", "! ", "? ", "; ", "。", "；", "！", "？")


@frozen
class RecallPassage:
    """
    Consecutive lines of a section, the unit of ranking.

    Args:
        section: The section.
        place: Position among the passages of all sections.
        lines: The lines.
        text: The text of the lines, with the names of JSON values.
    """

    section: MessageSection
    place: int
    lines: tuple[Line, ...]
    text: str


def cut_passages(sections: Iterable[MessageSection]) -> list[RecallPassage]:
    """Split sections into passages, in order."""
    out = list[RecallPassage]()
    for section in sections:
        for block in _blocks(_readable(section.text)):
            lines = _trim(block)
            out.append(RecallPassage(section, len(out), lines, write_lines(lines)))
    return out


def _trim(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Remove empty lines at both ends, numbered ones too."""
    full = [index for index, line in enumerate(lines) if essence(line.text)]
    return tuple(lines[full[0] : full[-1] + 1]) if full else tuple(lines[:1])


def _readable(text: str) -> Iterator[Line]:
    """Yield lines that are not much longer than a passage."""
    for line in read_lines(text, JSON_FROM):
        if len(line.text) <= MOST:
            yield line
        else:
            pieces = list(_pieces(line.text))
            for at, piece in enumerate(pieces, 1):
                yield Line(line.number, piece, line.path, at > 1, at < len(pieces))


def _pieces(text: str) -> Iterator[str]:
    """Split a long line after a sentence, or else a word, or else anywhere."""
    start = 0
    while len(text) - start > MOST:
        piece = text[start : start + MOST]
        end = max(piece.rfind(sign) for sign in _ENDS)
        if end < MOST // 3:
            end = piece.rfind(" ")
        end = end + 1 if end >= MOST // 3 else MOST
        yield text[start : start + end]
        start += end
    yield text[start:]


def _blocks(lines: Iterable[Line]) -> Iterator[list[Line]]:
    block, size = list[Line](), 0
    for line in lines:
        blank = not line.text.strip()
        length = len(value_name(line, block[-1].path if block else "")) + len(line.text)
        full = size + length > MOST
        if block and (full or (size >= LEAST and (blank or _TITLE.match(line.text)))):
            yield block
            block, size = [], 0
        if blank and not block:
            continue
        block.append(line)
        size += length + 1
    if block:
        yield block


MOST_WORDS: Final = 48
"""Maximum number of words of a query that are searched: the first ones."""

LONGEST: Final = 2_000
"""Maximum characters of a query that are read."""

_NAME: Final = re.compile(r"[\w@$%+-]+(?:[./:=-]+[\w@$%+-]+)*")
_QUOTED: Final = re.compile(r"`([^`\n]{3,120})`|\"([^\"\n]{3,120})\"")
_QUERY_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")
_UNSPACED: Final = re.compile(rf"[{UNSPACED}]+")
_MIXED: Final = re.compile(r"\w[._/:=-]+\w|^--?\w|[a-z][A-Z]|[A-Za-z][0-9]|[0-9]{3}")


@frozen
class QueryWord:
    """
    The search terms of one word of a query.

    Args:
        stem: The stem that a word in the text must have, or, if ``whole``, a text to contain.
        beginnings: Prefixes in lower case; every matching word begins with one of them.
        whole: Whether to match inside other characters too, without stemming.
    """

    stem: str
    beginnings: tuple[str, ...]
    whole: bool = False


@frozen
class RecallQuery:
    """A query: its words in order, each once, and its names and quoted phrases."""

    words: tuple[QueryWord, ...]
    names: tuple[str, ...]


def parse_query(query: str) -> RecallQuery:
    """Parse a query; stop words are ignored unless there are no others."""
    query = query[:LONGEST]
    found = {word.stem: word for word in _words(query, ENGLISH)}
    if not found:
        found = {word.stem: word for word in _words(query, frozenset())}
    quoted = [one or other for one, other in _QUOTED.findall(query)]
    exact = [name for name in _NAME.findall(query) if _MIXED.search(name)]
    names = dict.fromkeys(name.lower().strip(".,:;") for name in (*quoted, *exact))
    return RecallQuery(tuple(found.values())[:MOST_WORDS], tuple(names)[:MOST_WORDS])


def _words(query: str, ignored: frozenset[str]) -> Iterator[QueryWord]:
    for piece in _QUERY_WORD.findall(query):
        if _UNSPACED.search(piece):
            yield from (QueryWord(term, (term,), True) for term in terms(piece) if len(term) > 1)
            continue
        word = piece.lower()
        if word in ignored or (len(word) == 1 and not word.isdigit()):
            continue
        yield word_of(word)


def word_of(word: str) -> QueryWord:
    """Return the search terms of a word in lower case."""
    root = stem(word)
    # The last letter of a stem may differ from the text: happy, happi; creating, create.
    cut = root[:-1] if len(root) > 3 and root[-1] in "ie" else root
    others = tuple(form for form, base in IRREGULAR.items() if stem(base) == root)
    return QueryWord(root, (cut, *others))


LENGTH: Final = 0.4
"""b of BM25: how much long passages are discounted."""

FADING: Final[Mapping[int, float]] = {
    -4: 0.3, -3: 0.4, -2: 0.6, -1: 0.8, 1: 0.7, 2: 0.4,
}  # fmt: skip
"""Weight of words that are only in a neighbouring passage, by its distance, as a share."""

LABEL: Final = 0.5
"""Weight of words that are only in the heading, as a share."""

EXACT: Final = 1.2
"""Weight of a name or quoted phrase that occurs verbatim, as a share of its rarity."""

NEAR: Final = 0.5
"""Bonus for two words that are adjacent in the passage and in the query, as a share."""

APART: Final = 24
"""Maximum characters between the starts of two adjacent words."""

KINDS: Final[Mapping[Kind, float]] = {
    "user": 1.2,
    "assistant": 1.25,
    "system": 1.0,
    "reasoning": 1.1,
    "call": 0.9,
    "result": 1.0,
}
"""Weight of each kind of section: prose answers more questions than tool output."""

MOST_HITS: Final = 20_000
"""Maximum occurrences of one word that are examined."""

POOL: Final = 200
"""Number of passages that are scored in full."""

_WORD: Final = re.compile(r"[A-Z]?[a-z]{1,40}|[A-Z]{1,40}(?![a-z])|[^\W\d_]{1,40}")


@dataclass(slots=True)
class _Corpus:
    """All passages as one text, also in lower case; ``starts`` are their start positions."""

    cased: str
    lower: str
    starts: list[int]
    stems: dict[str, str] = field(default_factory=dict)

    def owner(self, position: int) -> int:
        return bisect_right(self.starts, position) - 1


def rank_passages(
    passages: Sequence[RecallPassage], question: RecallQuery
) -> list[tuple[float, RecallPassage]]:
    """
    Rank passages.

    Returns:
        The passages that match the query, with their scores, best first.
    """
    corpus = _corpus([passage.text for passage in passages])
    mean = max(1.0, len(corpus.lower) / max(1, len(passages)))
    held: dict[int, dict[int, list[int]]] = defaultdict(dict)
    rarities = list[float]()
    for index, word in enumerate(question.words):
        places = _places(corpus, word)
        for number, positions in places.items():
            held[number][index] = positions
        rarities.append(rarity(len(places), len(passages)))
    exact = _exact(corpus, question, len(passages))
    rough = exact.copy()
    for number, words in held.items():
        against = discount(len(passages[number].text) / mean, 1.0, LENGTH)
        own = (rarities[index] * worth(len(found), against) for index, found in words.items())
        rough[number] += sum(own)
    best = sorted(rough, key=lambda number: (-rough[number], number))[:POOL]
    near = {*best, *(other for one in best for other, _ in _beside(passages, one, -1))}
    scores = dict[int, float]()
    for number in sorted(near, key=lambda number: number not in rough):
        score = rough.get(number, 0.0) + NEAR * _together(held.get(number, {}), rarities)
        score += _around(passages, held, rarities, number, question)
        score *= KINDS[passages[number].section.kind]
        if number not in rough:  # what stands beside a match comes after it
            beside = (
                scores.get(one, 0.0) for one, _ in _beside(passages, number, 1) if one in rough
            )
            score = min(score, max(beside))
        scores[number] = score
    ranked = sorted(scores, key=lambda number: (-scores[number], number not in rough, number))
    return [(scores[number], passages[number]) for number in ranked]


def find_terms(texts: Sequence[str], question: RecallQuery) -> list[dict[int, int]]:
    """Return for each word and name of a query where it first stands in texts, by their index."""
    corpus = _corpus(texts)
    names = (QueryWord(name, (name,), whole=True) for name in question.names)
    return [
        {number: min(found) - corpus.starts[number] for number, found in places.items()}
        for places in (_places(corpus, word) for word in (*question.words, *names))
    ]


def _corpus(texts: Sequence[str]) -> _Corpus:
    starts, position = [], 0
    for text in texts:
        starts.append(position)
        position += len(text) + 1
    cased = "\n".join(texts)
    lower = cased.lower()
    if len(lower) != len(cased):  # a few letters have a longer lower case
        lower = "".join(low if len(low := letter.lower()) == 1 else letter for letter in cased)
    return _Corpus(cased, lower, starts)


def _places(corpus: _Corpus, word: QueryWord) -> dict[int, list[int]]:
    """Return the positions of a word, by passage."""
    out: dict[int, list[int]] = defaultdict(list)
    for beginning in word.beginnings:
        for position in _finds(corpus.lower, beginning):
            if word.whole or _is_word(corpus, position, word):
                out[corpus.owner(position)].append(position)
    return out


def _finds(text: str, needle: str) -> Iterator[int]:
    position = text.find(needle)
    for _ in range(MOST_HITS):
        if position < 0:
            return
        yield position
        position = text.find(needle, position + len(needle))


def _is_word(corpus: _Corpus, position: int, word: QueryWord) -> bool:
    """Return True if a word with the stem of a query word begins at a position."""
    before = corpus.cased[position - 1 : position]
    here = corpus.cased[position]
    if before.isalpha() and not (here.isupper() and before.islower()):
        return False
    if here.isdigit():
        end = position + len(word.stem)
        return not before.isdigit() and not corpus.cased[end : end + 1].isdigit()
    found = _WORD.match(corpus.cased, position)
    text = corpus.lower[position : found.end() if found else position + 1]
    if text not in corpus.stems:
        corpus.stems[text] = stem(text)
    return corpus.stems[text] == word.stem


def _exact(corpus: _Corpus, question: RecallQuery, whole: int) -> defaultdict[int, float]:
    """Return the score of names and phrases that occur verbatim, by passage."""
    out = defaultdict[int, float](float)
    for name in question.names:
        owners = {corpus.owner(position) for position in _finds(corpus.lower, name)}
        for owner in owners:
            out[owner] += EXACT * rarity(len(owners), whole)
    return out


def _together(words: Mapping[int, Sequence[int]], rarities: Sequence[float]) -> float:
    """Return the score of pairs of words that are adjacent in query and passage."""
    total = 0.0
    for index, positions in words.items():
        following = words.get(index + 1)
        if following and any(
            0 < right - left <= APART for left in positions[:20] for right in following[:20]
        ):
            total += rarities[index] + rarities[index + 1]
    return total


def _beside(
    passages: Sequence[RecallPassage], number: int, way: int
) -> Iterator[tuple[int, float]]:
    """Yield neighbours whose words count for a passage (``way`` 1), or the reverse (-1)."""
    section = passages[number].section
    for distance, share in FADING.items():
        other = number + way * distance
        if 0 <= other < len(passages) and passages[other].section is section:
            yield other, share


def _around(
    passages: Sequence[RecallPassage],
    held: Mapping[int, Mapping[int, Sequence[int]]],
    rarities: Sequence[float],
    number: int,
    question: RecallQuery,
) -> float:
    """Return the score of words that are missing here, and occur in heading or neighbours."""
    here = held.get(number, {})
    shares: dict[int, float] = {}
    for other, share in _beside(passages, number, 1):
        for index in held.get(other, {}):
            shares[index] = max(shares.get(index, 0.0), share)
    label = passages[number].section.label.lower()
    for index, word in enumerate(question.words):
        if any(one in label for one in word.beginnings):
            shares[index] = max(shares.get(index, 0.0), LABEL)
    return sum(rarities[index] * share for index, share in shares.items() if index not in here)
