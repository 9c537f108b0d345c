"""Passages ranked by what a query asks for: BM25 over stems, with names, nearness and kind."""

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
Characters of a passage: a paragraph ends it from the first number on, any line from the second.
"""

JSON_FROM: Final = 60
"""Lines of JSON longer than this, in characters, are read value by value."""

_TITLE: Final = re.compile(r"\s*(?:#{1,6} |\*\*[^*]{1,80}\*\*:?\s*$)")
_ENDS: Final = (". ", "! ", "? ", "; ", "。", "；", "！", "？")


@frozen
class RecallPassage:
    """
    Lines of a section that are found together.

    Args:
        section: Where it stands.
        place: Its position among the passages of all sections.
        lines: What it says.
        text: The same as it is read: values of JSON behind their names.
    """

    section: MessageSection
    place: int
    lines: tuple[Line, ...]
    text: str


def cut_passages(sections: Iterable[MessageSection]) -> list[RecallPassage]:
    """Cut sections into passages, in order."""
    out = list[RecallPassage]()
    for section in sections:
        for block in _blocks(_readable(section.text)):
            lines = _trim(block)
            out.append(RecallPassage(section, len(out), lines, write_lines(lines)))
    return out


def _trim(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Leave out empty lines at both ends, numbered ones too."""
    full = [index for index, line in enumerate(lines) if essence(line.text)]
    return tuple(lines[full[0] : full[-1] + 1]) if full else tuple(lines[:1])


def _readable(text: str) -> Iterator[Line]:
    """Yield lines none of which is much longer than a passage."""
    for line in read_lines(text, JSON_FROM):
        if len(line.text) <= MOST:
            yield line
        else:
            pieces = list(_pieces(line.text))
            for at, piece in enumerate(pieces, 1):
                yield Line(line.number, piece, line.path, at > 1, at < len(pieces))


def _pieces(text: str) -> Iterator[str]:
    """Cut a long line behind a sentence, or else a word, or else anywhere."""
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
"""Words of a query that are looked for: the first ones."""

LONGEST: Final = 2_000
"""Characters of a query that are read."""

_NAME: Final = re.compile(r"[\w@$%+-]+(?:[./:=-]+[\w@$%+-]+)*")
_QUOTED: Final = re.compile(r"`([^`\n]{3,120})`|\"([^\"\n]{3,120})\"")
_QUERY_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")
_UNSPACED: Final = re.compile(rf"[{UNSPACED}]+")
_MIXED: Final = re.compile(r"\w[._/:=-]+\w|^--?\w|[a-z][A-Z]|[A-Za-z][0-9]|[0-9]{3}")


@frozen
class QueryWord:
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


@frozen
class RecallQuery:
    """A query: its words in order, each once, and the names and phrases that it quotes."""

    words: tuple[QueryWord, ...]
    names: tuple[str, ...]


def parse_query(query: str) -> RecallQuery:
    """Read a query; grammar words are left out unless there is nothing else."""
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
    """Return how a word in lower case is looked for."""
    root = stem(word)
    # The last letter of a stem may not stand in the text: happy, happi; creating, create.
    cut = root[:-1] if len(root) > 3 and root[-1] in "ie" else root
    others = tuple(form for form, base in IRREGULAR.items() if stem(base) == root)
    return QueryWord(root, (cut, *others))


LENGTH: Final = 0.4
"""b of BM25: how much long passages are discounted."""

FADING: Final[Mapping[int, float]] = {
    -4: 0.3, -3: 0.4, -2: 0.6, -1: 0.8, 1: 0.7, 2: 0.4,
}  # fmt: skip
"""What words count that stand in a neighbour only, by where it stands, as a share."""

LABEL: Final = 0.5
"""What words count that stand in the heading only, as a share."""

EXACT: Final = 1.2
"""What a name or quoted phrase counts that stands there as it is, as a share of its rarity."""

NEAR: Final = 0.5
"""What two words count more that stand together here as in the query, as a share of their own."""

APART: Final = 24
"""Characters between the beginnings of two words that stand together."""

KINDS: Final[Mapping[Kind, float]] = {
    "user": 1.2,
    "assistant": 1.25,
    "system": 1.0,
    "reasoning": 1.1,
    "call": 0.9,
    "result": 1.0,
}
"""Prose answers more questions than what tools print."""

MOST_HITS: Final = 20_000
"""Places of one word that are looked at."""

POOL: Final = 200
"""Passages that are looked at closely."""

_WORD: Final = re.compile(r"[A-Z]?[a-z]{1,40}|[A-Z]{1,40}(?![a-z])|[^\W\d_]{1,40}")


@dataclass(slots=True)
class _Corpus:
    """All passages as one text in lower case; ``starts`` are where each of them begins."""

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
        Those that have to do with the query, with their scores, the best first.
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
    """Return where a word stands, by passage."""
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
    """Return True if a word begins here whose stem is the one that is looked for."""
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
    """Return what names and phrases count that stand in a passage as they are."""
    out = defaultdict[int, float](float)
    for name in question.names:
        owners = {corpus.owner(position) for position in _finds(corpus.lower, name)}
        for owner in owners:
            out[owner] += EXACT * rarity(len(owners), whole)
    return out


def _together(words: Mapping[int, Sequence[int]], rarities: Sequence[float]) -> float:
    """Return what pairs of words count that follow each other in query and passage."""
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
    """Yield those of its section whose words count for a passage (1), or it for them (-1)."""
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
    """Return what words count that are missing here, and stand in heading or neighbours."""
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
