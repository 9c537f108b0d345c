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
    from rich.table import Column
    from rich.text import Text

    from foldline.cli.drawing import Grid, Screen

Item = TypeVar("Item")

MOST_NAMED: Final = 5
"""Maximum number of skipped files listed by name."""

_CONTROLS: Final = {
    code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"
}
_TURNS: Final = {
    code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
}
_UNPRINTABLE: Final = _CONTROLS | _TURNS
"""Terminal control characters and direction marks."""

_ESCAPED: Final = {code: f"\\u{code:04x}" for code in (*range(127, 160), *_TURNS)}
"""Those that `json.dumps` does not escape; inside strings, an escape is equivalent."""


@frozen
class Output:
    """
    The output of a command: its result on stdout, notes on stderr.

    Args:
        json: Whether the result is one JSON object instead of text and tables.
        quiet: Whether notes are suppressed.
    """

    json: bool = False
    quiet: bool = False

    def note(self, sentence: str) -> None:
        """Write a note to stderr."""
        if not self.quiet:
            click.echo(printable(sentence), err=True)

    def warn(self, warnings: Iterable[str]) -> None:
        """Write each of these sentences as a warning to stderr."""
        for warning in warnings:
            stop = "" if warning.endswith((".", "!", "?")) else "."
            self.note(f"warning: {warning}{stop}")

    def note_unreadable(self, files: Sequence[tuple[object, str]]) -> None:
        """List the first skipped files, each with its reason, and count the rest."""
        for path, why in files[:MOST_NAMED]:
            self.note(f"skipped {path}: {why}")
        if len(files) > MOST_NAMED:
            self.note(f"skipped {len(files) - MOST_NAMED:,} more; --json lists them all.")

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
        Write records: one JSON object, or a table.

        Args:
            schema: Name and version of the JSON object.
            value: The JSON object.
            columns: Headings, as `table` takes them.
            rows: Their cells, as `table` takes them.
            empty: A note instead of a table if there are no rows.
            noun: Noun for the records in a note that counts them.
        """
        if self.json:
            write_json(schema, value)
            return
        grid = table(*columns, rows=rows)
        if grid.row_count:
            self.draw(grid)
        if empty and not grid.row_count:
            self.note(empty)
        elif noun:
            self.note(f"{plural(grid.row_count, noun)}.")

    def draw(self, *grids: Grid) -> None:
        """Write tables to stdout, and a note that lists the columns that did not fit."""
        screen = console()
        for number, grid in enumerate(grids):
            if number:
                screen.print()
            screen.print(grid)
        dropped = dict.fromkeys(name for grid in grids for name in grid.dropped)
        if dropped:
            names = ", ".join(dropped)
            self.note(f"Left out, since the terminal is {screen.width} columns wide: {names}.")

    def result(self, schema: str, value: dict[str, Any], *notes: str, text: str = "") -> None:
        """
        Write a result: one JSON object, or a text.

        Args:
            schema: Name and version of the JSON object.
            value: The JSON object.
            notes: Further sentences, on stderr.
            text: Text for stdout; "" for nothing.
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
        """Whether progress can be drawn: stderr is a terminal, and notes are not suppressed."""
        return not self.quiet and sys.stderr.isatty()

    @contextmanager
    def working(self, what: str, *, long: bool) -> Iterator[None]:
        """Show a spinner on a terminal, if the work may take ``long``."""
        if not (long and self.is_live):
            yield
            return
        screen = console(err=True)
        spinner = "dots" if screen.has_blocks else "line"
        with screen.status(printable(what), spinner=spinner):
            yield

    def track(self, items: Sequence[Item], what: str) -> Iterator[Item]:
        """Iterate over items, with a progress bar on a terminal."""
        if len(items) < 2 or not self.is_live:
            yield from items
            return
        from rich.progress import Progress

        with Progress(console=console(err=True), transient=True) as progress:
            yield from progress.track(items, description=what)


def printable(text: str) -> str:
    """Make control characters visible, so that a transcript cannot control the terminal."""
    shown = text.translate(_UNPRINTABLE)
    return shown.encode("utf-8", "backslashreplace").decode()  # lone surrogates are no text


def one_line(text: str, most: int = 200) -> str:
    """Return the beginning of a text as one printable line."""
    return printable(shorten(text, most))


def json_text(value: Any) -> str:
    """Write a JSON value; control characters and lone surrogates are escaped."""
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
    """Return a console for stdout or stderr; colours follow NO_COLOR and the terminal."""
    from foldline.cli.drawing import Screen

    return Screen(stderr=err, highlight=False, emoji=False, markup=False, soft_wrap=False)


def table(*columns: str, rows: Iterable[Sequence[Any]] = ()) -> Grid:
    """
    Return a table.

    Args:
        columns: Headings. ``>`` before one makes a column of numbers, ``*`` one whose cells are
            cut first on a narrow terminal; numbers never are.
        rows: Cells. Whole numbers get thousands separators, texts are written as one
            printable line, and rich objects are used as they are.
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
    """Return a cell of one printable line that is cut if it does not fit."""
    from rich.text import Text

    return Text(one_line(text), no_wrap=True, overflow="ellipsis")


def shorten_path(path: str, most: int) -> str:
    """Return a path on one line, its beginning cut if it is longer than ``most``."""
    line = one_line(path, 1_000)
    return line if len(line) <= most else f"…{line[1 - most :]}"
