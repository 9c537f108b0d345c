"""The output of commands: notes, JSON and tables; rich is imported when it draws."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import click

from foldline.evaluation.figures import plural, shorten
from foldline.frozen import frozen

if TYPE_CHECKING:
    from rich.table import Column, Table
    from rich.text import Text

    from foldline.cli.drawing import Screen

Item = TypeVar("Item")

MOST_NAMED: Final = 5
"""Files that were left out and are named."""

_CONTROLS: Final = {
    code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"
}
_TURNS: Final = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_UNPRINTABLE: Final = _CONTROLS | {
    code: f"\\u{code:04x}" for code in (*_TURNS, *range(0xD800, 0xE000))
}
"""Terminal commands, marks that turn the direction of text, and what is no text at all."""

_ESCAPED: Final = {code: f"\\u{code:04x}" for code in (*range(127, 160), *_TURNS)}
"""Those that `json.dumps` leaves as they are; inside strings, an escape means the same."""


@frozen
class Output:
    """
    Where a command writes: its result to stdout, notes for people to stderr.

    Args:
        json: Whether the result is one JSON object instead of text and tables.
        quiet: Whether there are no notes.
    """

    json: bool = False
    quiet: bool = False

    def note(self, sentence: str) -> None:
        """Write a note for people to stderr."""
        if not self.quiet:
            click.echo(printable(sentence), err=True)

    def warn(self, warnings: Iterable[str]) -> None:
        """Write each of these sentences as a warning to stderr."""
        for warning in warnings:
            stop = "" if warning.endswith((".", "!", "?")) else "."
            self.note(f"warning: {warning}{stop}")

    def note_unreadable(self, files: Sequence[tuple[object, str]]) -> None:
        """Name the first of the files that were left out, each with its reason, and count them."""
        for path, why in files[:MOST_NAMED]:
            self.note(f"skipped {path}: {why}")
        if len(files) > MOST_NAMED:
            self.note(f"skipped {len(files) - MOST_NAMED:,} more; --json names them all.")

    def records(
        self,
        schema: str,
        value: dict[str, Any],
        columns: Sequence[str],
        rows: Iterable[Sequence[Any]],
        *,
        empty: str = "",
        noun: str = "",
    ) -> None:
        """
        Write records: one JSON object, or a table for people.

        Args:
            schema: Name and version of the JSON object.
            value: The JSON object.
            columns: Headings, as `table` takes them.
            rows: Their cells, as `table` takes them.
            empty: What is noted where there are no rows; then no table is drawn.
            noun: What the records are called in a note that counts them.
        """
        if self.json:
            write_json(schema, value)
            return
        grid = table(*columns, rows=rows)
        if grid.row_count:
            console().print(grid)
        if empty and not grid.row_count:
            self.note(empty)
        elif noun:
            self.note(f"{plural(grid.row_count, noun)}.")

    def result(self, schema: str, value: dict[str, Any], *notes: str, text: str = "") -> None:
        """
        Write a result: one JSON object, or a text for people.

        Args:
            schema: Name and version of the JSON object.
            value: The JSON object.
            notes: Further sentences for people, on stderr.
            text: What goes to stdout; "" for nothing.
        """
        if self.json:
            write_json(schema, value)
            return
        if text:
            write_text(text)
        for note in notes:
            self.note(note)

    @property
    def is_live(self) -> bool:
        """Whether progress can be drawn: stderr is a terminal, and notes are wanted."""
        return not self.quiet and sys.stderr.isatty()

    @contextmanager
    def working(self, what: str, *, long: bool) -> Iterator[None]:
        """Show that something is going on, on a terminal and only if it may take ``long``."""
        if not (long and self.is_live):
            yield
            return
        screen = console(err=True)
        spinner = "dots" if screen.has_blocks else "line"
        with screen.status(printable(what), spinner=spinner):
            yield

    def track(self, items: Sequence[Item], what: str) -> Iterator[Item]:
        """Go through items, with a progress bar on a terminal."""
        if len(items) < 2 or not self.is_live:
            yield from items
            return
        from rich.progress import Progress

        with Progress(console=console(err=True), transient=True) as progress:
            yield from progress.track(items, description=what)


def printable(text: str) -> str:
    """Make control characters visible, so that a transcript cannot command the terminal."""
    return text.translate(_UNPRINTABLE)


def one_line(text: str, most: int = 200) -> str:
    """Return the beginning of a text as one printable line."""
    return printable(shorten(text, most))


def json_text(value: Any) -> str:
    """Write a JSON value; terminal commands and half a surrogate pair are escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=2, default=repr).translate(_ESCAPED)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=2, default=repr)
    return text


def write_json(schema: str, value: dict[str, Any]) -> None:
    """Write the one JSON object of a command to stdout."""
    write_bytes((json_text({"schema": f"foldline.{schema}", **value}) + "\n").encode())


def write_bytes(data: bytes) -> None:
    """Write bytes to stdout as they are."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def write_text(text: str) -> None:
    """Write a text to stdout: exactly into a pipe, printable on a terminal."""
    whole = text if text.endswith("\n") else text + "\n"
    if sys.stdout.isatty():
        sys.stdout.write(printable(whole))
    else:
        write_bytes(whole.encode("utf-8", "replace"))


def console(*, err: bool = False) -> Screen:
    """Return what draws on stdout or stderr; colours follow NO_COLOR and the terminal."""
    from foldline.cli.drawing import Screen

    return Screen(stderr=err, highlight=False, emoji=False, markup=False, soft_wrap=False)


def table(*columns: str, rows: Iterable[Sequence[Any]] = ()) -> Table:
    """
    Return a table.

    Args:
        columns: Headings. ``>`` before one makes a column of numbers, ``*`` one whose cells are
            cut first where the terminal is narrow; numbers never are.
        rows: Cells. Whole numbers are written with separators of thousands, texts as one
            printable line; what rich has made is taken as it is.
    """
    from foldline.cli.drawing import GAP, Grid

    grid = Grid(box=None, header_style="dim", pad_edge=False, padding=(0, GAP, 0, 0))
    for name in columns:
        grid.add_column(
            name.lstrip(">*"),
            justify="right" if name.startswith(">") else "left",
            no_wrap=not name.startswith("*"),
            overflow="ellipsis",
        )
    for row in rows:
        grid.add_row(*map(_cell, row, grid.columns))
    return grid


def _cell(cell: Any, column: Column) -> Text | str:
    if isinstance(cell, int):
        return f"{cell:,}"
    if not isinstance(cell, str):
        return cast("Text", cell)
    return one_line(cell) if column.no_wrap else flexible(cell)


def flexible(text: str) -> Text:
    """Return a cell of one printable line that is cut where there is no room."""
    from rich.text import Text

    return Text(one_line(text), no_wrap=True, overflow="ellipsis")


def shorten_path(path: str, most: int) -> str:
    """Return a path on one line, its beginning cut where it is longer than ``most``."""
    line = one_line(path, 1_000)
    return line if len(line) <= most else f"…{line[1 - most :]}"
