"""A text in pieces that fit: cut where it is kindest, and only as often as it must be."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import Final, TypeAlias

from foldline.memory.chunk.cuts import BY_KIND, OPENING, Cuts, near

Count: TypeAlias = Callable[[str], int]

GRAIN: Final = 2
"""Crumbs are taken together up to this fraction of the room, one character for each token."""

CLOSE: Final = 0.9
"""What has no structure is cut into parts that take this share of the room."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A span of a text: how many tokens it takes, and whether a section begins with it."""

    start: int
    end: int
    tokens: int
    opens: bool = False


def pieces(text: str, kind: str, room: int, count: Count) -> Iterator[Piece]:
    """
    Cut a text into pieces, without a gap.

    Args:
        text: The text.
        kind: A key of ``BY_KIND``.
        room: The most that a piece may take, in tokens; only one single character may take more.
        count: Counts the tokens of a text.
    """
    return _cut(text, Piece(0, len(text), count(text)), BY_KIND[kind], room, count)


def _cut(
    text: str, piece: Piece, ways: Sequence[Cuts], room: int, count: Count
) -> Iterator[Piece]:
    """
    Cut one piece until every part fits.

    Each way to cut is tried once, and the last resort makes every part shorter: it ends.
    """
    if piece.tokens <= room:
        yield piece
        return
    for used, way in enumerate(ways, 1):
        cuts = way(text, piece.start, piece.end)
        cuts = _apart((*cuts, piece.end), piece.start, room // GRAIN)
        if cuts:
            yield from _parts(text, piece, cuts, way in OPENING, ways[used:], room, count)
            return
    parts = max(2, ceil(piece.tokens / (CLOSE * room)))
    middle = piece.start + (piece.end - piece.start) * (parts // 2) // parts
    cuts = near(text, middle, piece.start, piece.end)
    if cuts:
        yield from _parts(text, piece, cuts, False, (), room, count)
    else:
        yield piece


def _apart(cuts: Sequence[int], start: int, most: int) -> list[int]:
    """Leave out cuts between crumbs no longer than ``most`` together; the last is the end."""
    out, first = list[int](), start
    for cut, after in pairwise(cuts):
        if after - first > most:
            out.append(cut)
            first = cut
    return out


def _parts(
    text: str,
    piece: Piece,
    cuts: Sequence[int],
    opening: bool,
    ways: Sequence[Cuts],
    room: int,
    count: Count,
) -> Iterator[Piece]:
    for low, high in pairwise((piece.start, *cuts, piece.end)):
        opens = piece.opens if low == piece.start else opening
        part = Piece(low, high, count(text[low:high]), opens)
        yield from _cut(text, part, ways, room, count)
