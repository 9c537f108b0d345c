"""What of a passage is written: all of it, or where the room is short the lines that match."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from foldline.frozen import frozen, replace
from foldline.recall.fitting import most
from foldline.recall.lines import Line
from foldline.recall.ranking import RecallPassage, RecallQuery, find_terms, write_lines
from foldline.relevance.terms import rarity

AROUND: Final = (0, 1, 2, 4, 8)
"""How many lines around a match are tried where a passage does not fit."""

MATCHING: Final = 0.4
"""Lines with less than this share of the score of the best line of a passage are context."""

LEAST: Final = 24
"""Characters around a word that are worth a line that says where the rest is."""

SHORT_PATH: Final = 80
"""Longer JSON paths, in characters, give way to the value, and are not given to recall it."""


@frozen
class Excerpt:
    """
    What is written of a passage.

    Args:
        passage: The passage.
        kept: The positions of the lines that are written, in order.
        rest: How lines are recalled that match, and are missing or cut; "" where there are none.
    """

    passage: RecallPassage
    kept: tuple[int, ...]
    rest: str = ""

    def runs(self) -> Iterator[range]:
        """Yield the positions of lines that follow each other."""
        start = 0
        for end in range(1, len(self.kept) + 1):
            if end == len(self.kept) or self.kept[end] != self.kept[end - 1] + 1:
                yield range(self.kept[start], self.kept[end - 1] + 1)
                start = end


@frozen
class _LineMatch:
    """How much a line says of a query, its position, and where the rarest word stands in it."""

    score: float
    line: int
    word: int


def _matches(passage: RecallPassage, question: RecallQuery) -> list[_LineMatch]:
    """Return the lines that match, the best first; all of them where no line does by itself."""
    texts = [write_lines([line]) for line in passage.lines]
    scores, words = [0.0] * len(texts), [(0.0, 0)] * len(texts)
    for places in find_terms(texts, question):
        rare = rarity(len(places), len(texts))
        for line, position in places.items():
            scores[line] += rare
            words[line] = max(words[line], (rare, position))
    found = [_LineMatch(score, at, words[at][1]) for at, score in enumerate(scores)]
    found.sort(key=lambda one: (-one.score, one.line))
    if found[0].score:
        return [one for one in found if one.score >= MATCHING * found[0].score]
    return found


def widest(
    passage: RecallPassage, question: RecallQuery, fits: Callable[[Excerpt], bool]
) -> Excerpt | None:
    """
    Return a passage whole, or the lines that match with as many around them as fit.

    Args:
        passage: The passage.
        question: What its lines match.
        fits: Returns True if an excerpt fits.
    """
    positions = tuple(range(len(passage.lines)))
    if fits(whole := Excerpt(passage, positions)):
        return whole
    lines = [one.line for one in _matches(passage, question)]

    def narrowed(step: int) -> Excerpt:
        near = {at for line in lines for at in range(line - AROUND[step], line + AROUND[step] + 1)}
        return Excerpt(passage, tuple(at for at in positions if at in near))

    count = most(len(AROUND), lambda n: fits(narrowed(n - 1)))
    return narrowed(count - 1) if count else None


def squeeze(
    passage: RecallPassage, question: RecallQuery, fits: Callable[[Excerpt], bool]
) -> Excerpt | None:
    """
    Return the best of the lines that match, or what stands around the best word.

    Args:
        passage: All lines that match are too much.
        question: What they match.
        fits: Returns True if an excerpt leaves room for what else has to be written.
    """
    matches = _matches(passage, question)
    bare = replace(passage, section=replace(passage.section, label=""))

    def best(count: int) -> Excerpt:
        kept = tuple(sorted(one.line for one in matches[:count]))
        return Excerpt(bare, kept, _rest(passage, matches[count:]))

    count = most(len(matches), lambda n: fits(replace(best(n), passage=passage)))
    if count:
        return replace(best(count), passage=passage)
    count = most(len(matches), lambda n: fits(best(n)))
    return best(count) if count else _window(bare, matches, fits)


def _window(
    passage: RecallPassage, matches: Sequence[_LineMatch], fits: Callable[[Excerpt], bool]
) -> Excerpt | None:
    line = passage.lines[matches[0].line]
    text, word, name = write_lines([line]), matches[0].word, ""
    named = len(text) - len(line.text)
    if named <= SHORT_PATH:
        name, text, word = text[:named], line.text, max(0, word - named)
    for rest, least in ((_rest(passage, matches), LEAST), ("", 1)):

        def around(size: int, rest: str = rest) -> Excerpt:
            cut = Line(line.number, f"{name}{cut_around(text, word, size)}")
            return Excerpt(replace(passage, lines=(cut,)), (0,), rest)

        size = most(len(text), lambda n: fits(around(n)))
        if size >= min(least, len(text)):
            return around(size)
    return None


def cut_around(text: str, position: int, size: int) -> str:
    """Return so many characters of a text, most of them from a position on."""
    start = max(0, min(position - size // 4, len(text) - size))
    end = start + size
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def _rest(passage: RecallPassage, lost: Sequence[_LineMatch]) -> str:
    """Say how lines are recalled; of JSON values the best one."""
    if not lost:
        return ""
    section, path = passage.section, passage.lines[lost[0].line].path
    if path and section.has_paths and len(path) <= SHORT_PATH:
        return f"path={path} of {section.handle}"
    numbers = [section.first - 1 + passage.lines[one.line].number for one in lost]
    first, last = min(numbers), max(numbers)
    how = f"lines={first}" if first == last else f"lines={first}:{last}"
    return f"{how} of {section.part_of or section.handle}"
