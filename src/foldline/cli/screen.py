"""The console and the table that rich draws, made fit for pipes and narrow terminals."""

from __future__ import annotations

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Column, Table


class Screen(Console):
    """A console whose reader may close the pipe."""

    def on_broken_pipe(self) -> None:
        """Leave the exit code to `foldline.cli.errors`, where rich would choose 1."""
        raise BrokenPipeError


GAP = 2
"""Characters between two columns."""

LEAST = 8
"""To so many characters a column of words is cut before a column is left out."""


class Grid(Table):
    """A table that never cuts a number: it leaves out its last columns instead."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the table within the width that there is."""
        self._fit(options.max_width)
        yield from super().__rich_console__(console, options)

    def _fit(self, width: int) -> None:
        room = width - _least(self.columns)
        while room < 0 and len(self.columns) > 1:
            self.columns.pop()
            room = width - _least(self.columns)
        for column in self.columns:
            if column.no_wrap and not _is_number(column):
                widest = _widest(column)
                column.max_width = min(widest, LEAST + max(0, room))
                room -= max(0, widest - LEAST)


def _least(columns: list[Column]) -> int:
    """Return how many characters these columns take at the very least."""
    widths = (
        _widest(column) if _is_number(column) else min(LEAST, _widest(column))
        for column in columns
    )
    return sum(widths) + GAP * (len(columns) - 1)


def _widest(column: Column) -> int:
    return max(cell_len(str(cell)) for cell in (column.header, *column.cells))


def _is_number(column: Column) -> bool:
    return column.justify == "right"
