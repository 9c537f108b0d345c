"""Offers: the lines of a tool's output, with what speaks for each besides the names in it."""

from typing import NamedTuple

from foldline.outputs.condensed import Condensed
from foldline.snapshot.query import Query, strongest, within

QUERY_VALUE = 8.0
"""Value of a line that surely answers what was asked; the names in a line give it about 0.1."""

WORTH = 1.5
"""Value of a line that has to stay."""

LEAST, MOST, FULL_SHARE = 0.03, 0.3, 0.8
"""
Fractions of what is kept of an output that its frame may take, and as much again what is asked
for: the least, and the most of an output that is this fraction of all that is compressed. A small
output among many is told by the names in it; a giant one has a beginning, an end and a result of
its own.
"""

CLEAR = 0.2
"""Extra value from which on a line stays whole."""

KEPT = 0.1
"""The fraction of an output that is kept, unless it is given."""


class Offered(NamedTuple):
    """
    Lines that stand for themselves.

    ``extra`` is, by position, added to what the names in a line are worth; ``whole`` are the lines
    of which no part will do.
    """

    lines: list[str]
    extra: dict[int, float]
    whole: frozenset[int]


def condense_text(text: str) -> Condensed:
    """Take an output apart by its kind; see `foldline.outputs.condensing.condense`."""
    # Imported here: the kinds are many, and most histories need few of them.
    from foldline.outputs.condensing import condense

    return condense(text)


def offers(made: Condensed, query: Query, share: float = 1.0, kept: float = KEPT) -> Offered:
    """
    Offer the lines of an output.

    Args:
        made: The output, taken apart.
        query: What the user wants to know.
        share: The output's fraction of all that is compressed, in tokens: what frames it is worth
            the more, the more of everything it is.
        kept: The fraction of its tokens that about can be kept.

    Returns:
        Lines in the order of the output.
    """
    large = min(1.0, max(0.0, share) / FULL_SHARE)
    room = (LEAST + (MOST - LEAST) * large) * min(1.0, kept) * len(made.lowered)
    query_values = query.values(made, room, large)
    scale = WORTH * large**2
    extra = {place: scale * worth for place, worth in within(made, made.worth, room).items()}
    for place, value in query_values.items():
        extra[place] = extra.get(place, 0.0) + QUERY_VALUE * value
    lines = list(made.lines)
    if made.apart:
        lines = [_standing(made, place, line) for place, line in enumerate(lines)]
    for place in strongest(query_values):
        if place in made.spans:
            lines[place] = made.verbatim(place)
    whole = frozenset(place for place, value in extra.items() if value >= CLEAR)
    return Offered(lines, extra, whole)


def _standing(made: Condensed, place: int, line: str) -> str:
    """Write a line so that it can be understood without those around it."""
    head = made.head(place)
    return line if head is None else f"{made.lines[head]} {line}"
