"""What an output is made of: lines that stand for themselves, and those that have to stay."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from functools import cached_property
from itertools import accumulate

from foldline.frozen import field, frozen


@frozen
class Condensed:
    """
    An output, taken apart.

    Args:
        kind: What it is, such as "json", "log" or "plain".
        lines: Lines, in order; none has a line feed in it.
        worth: How surely a line should stay, from 0 to 1, by its position in ``lines``.
        heads: Positions of lines that say what the lines up to the next head belong to, in order.
        whole: A shorter form of everything, "" where there is none.
        lossless: Whether everything can be read from ``whole``.
        apart: Whether a line cannot be understood without its head.
        notes: How many lines at the end are not of the output but tell of it.
        spans: Where in ``source`` a line was made from, for those that look different there.
        source: The text.
    """

    kind: str
    lines: tuple[str, ...]
    worth: Mapping[int, float] = field(default_factory=dict)
    heads: tuple[int, ...] = ()
    whole: str = ""
    lossless: bool = False
    apart: bool = False
    notes: int = 0
    spans: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    source: str = field(default="", repr=False)

    @cached_property
    def lowered(self) -> str:
        """The lines in lower case, joined by line feeds: to look for words in all of them."""
        return "\n".join(self.lines).lower()

    @cached_property
    def _starts(self) -> list[int]:
        lengths = map(len, self.lowered.split("\n"))
        return [0, *accumulate(length + 1 for length in lengths)]

    def at(self, position: int) -> int:
        """Return which line a position in ``lowered`` is in."""
        return bisect_right(self._starts, position) - 1

    def head(self, line: int) -> int | None:
        """Return the line that says what a line belongs to, None where no other does."""
        place = bisect_right(self.heads, line) - 1
        return self.heads[place] if place >= 0 and self.heads[place] != line else None

    def verbatim(self, line: int) -> str:
        """Return a line as it stands in the source, on one line."""
        if line not in self.spans:
            return self.lines[line]
        # Imported here: only lines of JSON look different in the source.
        from foldline.outputs.json_text import one_line

        start, end = self.spans[line]
        return one_line(self.source[start:end])
