"""
Split documents into chunks that fit a token limit, at natural boundaries.

    for chunk in split(text, "markdown"):
        print(chunk.first_line, chunk.last_line, chunk.tokens, chunk.heading)

A text is cut at the best boundaries, no more often than needed; the pieces are then packed.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import ceil
from typing import Final, Literal, TypeAlias, get_args

from foldline.core.validation import check_name, whole
from foldline.errors import BudgetError
from foldline.frozen import field, frozen
from foldline.memory.cut_points import (
    BY_KIND,
    LINE,
    OPENING,
    Cuts,
    Places,
    lines,
    near_blank,
    places,
    sentences,
)
from foldline.tokens.estimate import estimate

Count: TypeAlias = Callable[[str], int]

GRAIN: Final = 2
"""Tiny pieces are joined up to this fraction of the room, at one character per token."""

CLOSE: Final = 0.9
"""The share of the room that each part takes when a text has no structure."""


@frozen
class TextSpan:
    """A span of a text: its length in tokens, and whether it begins a section."""

    start: int
    end: int
    tokens: int
    opens: bool = False


def cut_text(text: str, kind: str, room: int, count: Count) -> Iterator[TextSpan]:
    """
    Cut a text into contiguous pieces.

    Args:
        text: The text.
        kind: A key of ``BY_KIND``.
        room: The maximum size of a piece in tokens; only a single character may exceed it.
        count: Counts the tokens of a text.
    """

    def cut(piece: TextSpan, ways: Sequence[Cuts]) -> Iterator[TextSpan]:
        # Each way is tried once, and the last one shortens every part, so this terminates.
        if piece.tokens <= room:
            yield piece
            return
        for used, way in enumerate(ways, 1):
            cuts = _apart((*way(text, piece.start, piece.end), piece.end), piece.start, room)
            if cuts:
                yield from cut_at(piece, cuts, way in OPENING, ways[used:])
                return
        parts = max(2, ceil(piece.tokens / (CLOSE * room)))
        middle = piece.start + (piece.end - piece.start) * (parts // 2) // parts
        last_resort = near_blank(text, middle, piece.start, piece.end)
        yield from cut_at(piece, last_resort, False, ()) if last_resort else (piece,)

    def cut_at(
        piece: TextSpan, cuts: Sequence[int], opening: bool, ways: Sequence[Cuts]
    ) -> Iterator[TextSpan]:
        for low, high in pairwise((piece.start, *cuts, piece.end)):
            opens = piece.opens if low == piece.start else opening
            yield from cut(TextSpan(low, high, count(text[low:high]), opens), ways)

    return cut(TextSpan(0, len(text), count(text)), BY_KIND[kind])


def _apart(cuts: Sequence[int], start: int, room: int) -> list[int]:
    """Drop cuts between tiny pieces; the last cut is the end."""
    out, first = list[int](), start
    for cut, after in pairwise(cuts):
        if after - first > room // GRAIN:
            out.append(cut)
            first = cut
    return out


Kind: TypeAlias = Literal["text", "markdown", "code"]

LEAST: Final = 64
"""The smallest target in tokens; a few characters of rare scripts take that many."""

FULL: Final = 0.5
"""A new section begins a new chunk if the previous one has this share of the target."""

WIDEST: Final = 16
"""The maximum characters per token of an overlap; a longer line is not repeated."""

_HEADING: Final = re.compile(r"\s*#{1,6}[^\n]*\s*")


@frozen
class ChunkSettings:
    """
    Sizes of chunks.

    Args:
        target: The maximum size of a chunk in tokens.
        overlap: The maximum number of tokens repeated from the previous chunk, in whole sentences
            or lines; 0 at a new section, and less where the new text needs the room.

    Raises:
        BudgetError: A number is out of range.
    """

    target: int = 800
    overlap: int = 100

    def __post_init__(self) -> None:
        whole("chunk.target", self.target, LEAST)
        whole("chunk.overlap", self.overlap)
        if self.overlap * 2 > self.target:
            raise BudgetError(
                f"An overlap of {self.overlap} tokens is more than half of a chunk of "
                f"{self.target}.",
                hint=f"Give at most {self.target // 2}.",
            )


@frozen
class Chunk:
    """
    A chunk of a text.

    ``text`` is ``whole[start:end]``. The part before ``fresh`` repeats the previous chunk; the
    parts from ``fresh`` on, concatenated, are the whole text. Lines are counted from 1, as in an
    editor, from the first to the last that is not blank. ``heading`` is the path to the chunk,
    the outermost first: headings of Markdown, classes and functions of code.
    """

    text: str = field(repr=False)
    start: int
    fresh: int
    end: int
    first_line: int
    last_line: int
    tokens: int
    heading: tuple[str, ...] = ()


def split(
    text: str,
    kind: Kind = "text",
    settings: ChunkSettings | None = None,
    *,
    count: Count = estimate,
) -> tuple[Chunk, ...]:
    """
    Split a text into chunks.

    Markdown is split at headings first, code before definitions and blocks, any text after
    paragraphs, lines and sentences (English and Chinese); anything longer is split between two
    characters. No text is omitted, and no grapheme cluster is split.

    Args:
        text: The text.
        kind: The kind of text.
        settings: The sizes of the chunks.
        count: Counts the tokens of a text.

    Returns:
        The chunks in order; none if the text is blank.

    Raises:
        BudgetError: The kind is unknown.
    """
    check_name("kind of text", kind, get_args(Kind))
    if not text.strip():
        return ()
    sizes = settings or ChunkSettings()
    cut = list(cut_text(text, kind, sizes.target, count))
    packing = _Packing(text, sizes, count, places(text, kind))
    out, at = list[Chunk](), 0
    while at < len(cut):
        until = packing.last(cut, at)
        out.append(packing.chunk(cut[at], cut[until - 1].end, at == 0))
        at = until
    return tuple(out)


class _Packing:
    """Packs pieces into chunks."""

    def __init__(self, text: str, sizes: ChunkSettings, count: Count, where: Places) -> None:
        self._text, self._sizes, self._count, self._where = text, sizes, count, where
        self._ends = [found.start() for found in LINE.finditer(text)]

    def last(self, cut: Sequence[TextSpan], at: int) -> int:
        """Return the index of the first piece after the chunk that begins with piece ``at``."""
        first, target = cut[at], self._sizes.target
        repeats = 0 if at == 0 or first.opens else self._sizes.overlap
        room = target - min(repeats, max(0, target - first.tokens))
        total, until = first.tokens, at + 1
        while until < len(cut) and total + cut[until].tokens <= room:
            if cut[until].opens and total >= FULL * target:
                break
            total += cut[until].tokens
            until += 1
        while until - at > 1 and self._tokens(first.start, cut[until - 1].end) > room:
            until -= 1  # token counts of parts need not add up exactly
        return self._before_headings(cut, at, until)

    def _before_headings(self, cut: Sequence[TextSpan], at: int, until: int) -> int:
        """Move trailing headings to the next chunk, unless the chunk has nothing else."""
        before = until
        while before > at and before < len(cut) and self._is_heading(cut[before - 1]):
            before -= 1
        return before if before > at else until

    def chunk(self, first: TextSpan, end: int, beginning: bool) -> Chunk:
        """Return the chunk that begins with a piece, including its overlap."""
        fresh = first.start
        start = fresh if beginning or first.opens else self._overlap_start(fresh, end)
        text = self._text[start:end]
        words = start + len(text) - len(text.lstrip())
        return Chunk(
            text,
            start,
            fresh,
            end,
            self._line(words),
            self._line(start + len(text.rstrip())),
            self._count(text),
            self._where(fresh + len(text[fresh - start :]) - len(text[fresh - start :].lstrip())),
        )

    def _overlap_start(self, fresh: int, end: int) -> int:
        """Return the start of the overlap of a chunk: a sentence or line before the new text."""
        sizes = self._sizes
        room = min(sizes.overlap, sizes.target - self._tokens(fresh, end))
        if room <= 0:
            return fresh
        low = max(0, fresh - WIDEST * room)
        found = sorted({*lines(self._text, low, fresh), *sentences(self._text, low, fresh)})
        at = bisect_left(found, True, key=lambda start: self._tokens(start, fresh) <= room)
        start = found[at] if at < len(found) else fresh
        return start if self._tokens(start, end) <= sizes.target else fresh

    def _line(self, at: int) -> int:
        return bisect_left(self._ends, at) + 1

    def _tokens(self, start: int, end: int) -> int:
        return self._count(self._text[start:end])

    def _is_heading(self, piece: TextSpan) -> bool:
        words = self._text[piece.start : piece.end]
        return len(words) < 1_000 and _HEADING.fullmatch(words) is not None
