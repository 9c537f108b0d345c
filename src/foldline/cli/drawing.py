"""Drawing with rich: a console and tables fit for pipes and narrow terminals, and token bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Column, Table
from rich.text import Text

from foldline.evaluation.breakdown import Share


class Screen(Console):
    """A console whose reader may close the pipe."""

    @property
    def has_blocks(self) -> bool:
        """Whether the encoding of the terminal has block characters."""
        return self.encoding.lower().startswith("utf")

    @property
    def colours_blocks(self) -> bool:
        """Whether block characters can differ by their colours."""
        return self.has_blocks and self.color_system is not None and not self.no_color

    def on_broken_pipe(self) -> None:
        """Leave the exit code to `foldline.cli.errors`; rich would exit with 1."""
        raise BrokenPipeError


GAP: Final = 2
"""Characters between two columns."""

LEAST: Final = 8
"""Minimum width of a text column before whole columns are dropped."""


class Grid(Table):
    """A table that never cuts a number: it drops its last columns instead."""

    def __init__(self, *headers: Column | str, **settings: Any) -> None:
        super().__init__(*headers, **settings)
        self.dropped: tuple[str, ...] = ()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the table within the available width."""
        self._fit(options.max_width)
        yield from super().__rich_console__(console, options)

    def _fit(self, width: int) -> None:
        room = width - _least(self.columns)
        while room < 0 and len(self.columns) > 1:
            self.dropped = (str(self.columns.pop().header), *self.dropped)
            room = width - _least(self.columns)
        for column in self.columns:
            if column.no_wrap and not _is_number(column):
                widest = _widest(column)
                column.max_width = min(widest, LEAST + max(0, room))
                room -= max(0, widest - LEAST)


def _least(columns: list[Column]) -> int:
    """Return the minimum width of these columns, in characters."""
    widths = (
        _widest(column) if _is_number(column) else min(LEAST, _widest(column))
        for column in columns
    )
    return sum(widths) + GAP * (len(columns) - 1)


def _widest(column: Column) -> int:
    return max(cell_len(str(cell)) for cell in (column.header, *column.cells))


def _is_number(column: Column) -> bool:
    return column.justify == "right"


STYLES: Final = {
    "system": "magenta",
    "snapshot": "bright_magenta",
    "user": "green",
    "assistant": "cyan",
    "reasoning": "bright_black",
    "tool calls": "blue",
    "tool results": "yellow",
    "media": "red",
}
"""The colour of each kind; `breakdown.KINDS` has the kinds."""

SIGNS: Final = {
    "system": "@",
    "snapshot": "%",
    "user": "+",
    "assistant": "=",
    "reasoning": "~",
    "tool calls": "-",
    "tool results": "#",
    "media": "*",
}
"""The sign of each kind where there are no colours or no block characters."""


def bar(shares: Sequence[Share], whole: int, width: int, *, blocks: bool = True) -> Text:
    """
    Draw tokens by kind as a bar.

    Args:
        shares: From left to right.
        whole: The tokens that fill the whole width.
        width: In characters.
        blocks: Whether to draw coloured blocks; otherwise each kind has its sign in `SIGNS`.
    """
    out, done, total = Text(), 0, 0
    for share in shares:
        total += share.tokens
        until = round(width * total / max(1, whole))
        out.append(_mark(share.name, "█", blocks) * (until - done), style=STYLES[share.name])
        done = max(done, until)
    if total and not done:  # a share above zero is never drawn empty
        out.append(_mark(shares[0].name, "█", blocks), style=STYLES[shares[0].name])
        done = 1
    return out.append(("░" if blocks else ".") * max(0, width - done), style="bright_black")


def _mark(kind: str, block: str, blocks: bool) -> str:
    return block if blocks else SIGNS[kind]


def swatch(kind: str, *, blocks: bool = True) -> Text:
    """Return the name of a kind after its mark in a `bar`."""
    return Text(f"{_mark(kind, '■', blocks)} ", style=STYLES[kind]).append(kind, style="default")


def legend(shares: Sequence[Share], width: int, *, blocks: bool = True) -> Text:
    """Return the marks of a bar with their names, in lines of at most ``width`` characters."""
    out, used = Text(), 0
    for share in shares:
        needed = len(share.name) + 4
        if used and used + needed > width:
            out.append("\n")
            used = 0
        out.append_text(swatch(share.name, blocks=blocks)).append("  ")
        used += needed
    return out
