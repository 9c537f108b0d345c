"""What of a passage is written: all of it, or where the room is short the lines that match."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from foldline.frozen import frozen, replace
from foldline.recall.fitting import LEAST, cut_around, most
from foldline.recall.lines import Line, write_lines
from foldline.recall.ranking import RecallPassage, RecallQuery, find_terms
from foldline.recall.sections import SHORT_PATH, MessageSection
from foldline.relevance.terms import rarity

AROUND: Final = (0, 1, 2, 4, 8)
"""How many lines around a match are tried where a passage does not fit."""

MATCHING: Final = 0.4
"""Lines with less than this share of the score of the best line of a passage are context."""


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

    least = narrowed(0)
    if least.kept == positions or not fits(least):
        return None
    return narrowed(most(len(AROUND) - 1, lambda n: fits(narrowed(n))))


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


@frozen
class _Window:
    """A line that is cut around a word: what stands before it, and how it is recalled."""

    line: Line
    word: int
    before: str = ""
    rest: str = ""

    def widest(
        self, passage: RecallPassage, least: int, fits: Callable[[Excerpt], bool]
    ) -> Excerpt | None:
        """Return as much as fits of the line, if that is ``least`` characters, or all of it."""
        text = self.line.text

        def excerpt(size: int) -> Excerpt:
            line = Line(self.line.number, f"{self.before}{cut_around(text, self.word, size)}")
            return Excerpt(replace(passage, lines=(line,)), (0,), self.rest)

        size = most(len(text), lambda size: fits(excerpt(size)))
        return excerpt(size) if size and size >= min(least, len(text)) else None


def _window(
    passage: RecallPassage, matches: Sequence[_LineMatch], fits: Callable[[Excerpt], bool]
) -> Excerpt | None:
    """Return what stands around the best word; its name and how to read on give way to it."""
    line, word = passage.lines[matches[0].line], matches[0].word
    text, bare = write_lines([line]), write_lines([replace(line, path="")])
    name = text[: len(text) - len(bare)]
    whole = _Window(Line(line.number, text), word)
    named = _Window(Line(line.number, bare), max(0, word - len(name)), name)
    windows = (named, whole) if len(name) <= SHORT_PATH else (whole,)
    for rest in (_rest(passage, matches), _rest(passage, matches, by_path=False), ""):
        for window in windows:
            if found := replace(window, rest=rest).widest(passage, LEAST, fits):
                return found
    return whole.widest(passage, 1, fits)


def _rest(passage: RecallPassage, lost: Sequence[_LineMatch], by_path: bool = True) -> str:
    """Say how matching lines are recalled, "" where there are none."""
    return locate(passage.section, [passage.lines[one.line] for one in lost], by_path)


def locate(section: MessageSection, lines: Sequence[Line], by_path: bool = True) -> str:
    """Say how lines of a section are recalled; of JSON values the first, where ``by_path``."""
    if not lines:
        return ""
    numbers = [section.first - 1 + line.number for line in lines]
    return section.locate(min(numbers), max(numbers), lines[0].path if by_path else "")
