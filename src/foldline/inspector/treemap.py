"""Rectangles in proportion to numbers: a squarified treemap (Bruls, Huizing and van Wijk 2000)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle; all four in the units of the whole."""

    x: float
    y: float
    width: float
    height: float


def squarify(sizes: Sequence[float], within: Box) -> list[Box]:
    """
    Divide a rectangle in proportion to sizes, into pieces that are nearly square.

    Args:
        sizes: Positive numbers, the largest first.
        within: What is divided.

    Returns:
        A rectangle for each number, in order.
    """
    return list(_divided(list(sizes), within))


def _divided(sizes: list[float], within: Box) -> Iterator[Box]:
    total = sum(sizes)
    start = 0
    while start < len(sizes) and total > 0:
        side = min(within.width, within.height)
        scale = within.width * within.height / total
        end, row = start + 1, sizes[start]
        while end < len(sizes) and _worst(
            sizes, start, end + 1, row + sizes[end], side, scale
        ) <= (_worst(sizes, start, end, row, side, scale)):
            row += sizes[end]
            end += 1
        yield from _row(sizes[start:end], row, within, scale)
        within = _rest(within, row * scale)
        total -= row
        start = end


def _worst(
    sizes: Sequence[float], start: int, end: int, row: float, side: float, scale: float
) -> float:
    """Return how far the worst piece of a row is from square; sizes fall, so it is an end one."""
    thick = row * scale / side if side else 0.0
    if not thick:
        return float("inf")
    lengths = (sizes[start] * scale / thick, sizes[end - 1] * scale / thick)
    return max(
        max(thick / length, length / thick) if length else float("inf") for length in lengths
    )


def _row(sizes: Sequence[float], row: float, within: Box, scale: float) -> Iterator[Box]:
    upright = within.width >= within.height
    side = within.height if upright else within.width
    thick = row * scale / side if side else 0.0
    place = within.y if upright else within.x
    for size in sizes:
        length = size * scale / thick if thick else 0.0
        if upright:
            yield Box(within.x, place, thick, length)
        else:
            yield Box(place, within.y, length, thick)
        place += length


def _rest(within: Box, area: float) -> Box:
    if within.width >= within.height:
        thick = area / within.height if within.height else 0.0
        return Box(within.x + thick, within.y, max(0.0, within.width - thick), within.height)
    thick = area / within.width if within.width else 0.0
    return Box(within.x, within.y + thick, within.width, max(0.0, within.height - thick))
