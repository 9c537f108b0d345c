"""What people and programs see: plain notes, JSON, bars; rich is imported when it is drawn."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

_CONTROLS: Final = {
    code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"
}
_LAST: Final = 253_402_128_000.0
"""The end of the year 9999 but for a day of time zones, in seconds since 1970."""

_TURNS: Final = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_UNPRINTABLE: Final = _CONTROLS | {
    code: f"\\u{code:04x}" for code in (*_TURNS, *range(0xD800, 0xE000))
}
"""Terminal commands, marks that turn the direction of text, and what is no text at all."""

_ESCAPED: Final = {code: f"\\u{code:04x}" for code in (*range(127, 160), *_TURNS)}
"""What of them stands as it is in JSON: only ever in strings, where an escape means the same."""


@dataclass(frozen=True, slots=True)
class Output:
    """How a command speaks: one JSON object instead of tables, and quietly."""

    json: bool = False
    quiet: bool = False

    @property
    def talks(self) -> bool:
        """Whether there are words for people on stderr."""
        return not self.quiet

    def note(self, sentence: str) -> None:
        """Tell people something on stderr."""
        if self.talks:
            click.echo(printable(sentence), err=True)

    def warn(self, warnings: Iterable[str]) -> None:
        """Tell people each of these sentences."""
        for warning in warnings:
            stop = "" if warning.endswith((".", "!", "?")) else "."
            self.note(f"warning: {warning}{stop}")

    @contextmanager
    def working(self, what: str, *, long: bool) -> Iterator[None]:
        """Show that something is going on, on a terminal and only if it may take ``long``."""
        if not (long and self.talks and sys.stderr.isatty()):
            yield
            return
        screen = console(err=True)
        spinner = "dots" if screen.encoding.lower().startswith("utf") else "line"
        with screen.status(printable(what), spinner=spinner):
            yield


def printable(text: str) -> str:
    """Make control characters visible, so that a transcript cannot command the terminal."""
    return text.translate(_UNPRINTABLE)


def one_line(text: str, most: int = 200) -> str:
    """Return the beginning of a text as one printable line."""
    words = " ".join(text[: most * 4].split())
    return printable(words if len(words) <= most else f"{words[: most - 1]}…")


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


def console(*, err: bool = False) -> Console:
    """Return what draws on stdout or stderr; colours follow NO_COLOR and the terminal."""
    from foldline.cli.screen import Screen

    return Screen(stderr=err, highlight=False, emoji=False, markup=False, soft_wrap=False)


def table(*columns: str, title: str = "") -> Table:
    """
    Return an empty table.

    Args:
        columns: Headings. ``>`` before one makes a column of numbers, ``*`` one whose cells, made
            by `flexible`, are cut first where the terminal is narrow; numbers never are.
        title: What stands above.
    """
    from foldline.cli.screen import GAP, Grid

    grid = Grid(
        box=None,
        title=title or None,
        title_justify="left",
        title_style="bold",
        header_style="dim",
        pad_edge=False,
        padding=(0, GAP, 0, 0),
    )
    for name in columns:
        grid.add_column(
            name.lstrip(">*"),
            justify="right" if name.startswith(">") else "left",
            no_wrap=not name.startswith("*"),
            overflow="ellipsis",
        )
    return grid


def flexible(text: str, most: int = 200) -> Text:
    """Return a cell of one printable line that is cut where there is no room."""
    from rich.text import Text

    return Text(one_line(text, most), no_wrap=True, overflow="ellipsis")


def shortened(path: str, most: int) -> str:
    """Return a path on one line, its beginning cut where it is longer than ``most``."""
    shown = one_line(path, 1_000)
    return shown if len(shown) <= most else f"…{shown[1 - most :]}"


def moment(seconds: float) -> datetime:
    """Turn seconds since 1970 into a time; one that no calendar has becomes the nearest."""
    return datetime.fromtimestamp(min(max(seconds, 0.0), _LAST), UTC)


def plural(number: int, noun: str) -> str:
    """Write a number with its noun: ``1 message``, ``1,200 messages``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


@dataclass(frozen=True, slots=True)
class BarSegment:
    """A part of a bar: how many tokens, of what, in which colour."""

    name: str
    tokens: int
    style: str


def bar(segments: Sequence[BarSegment], whole: int, width: int, encoding: str = "utf-8") -> Text:
    """
    Draw tokens as a bar.

    Args:
        segments: From left to right.
        whole: The tokens that fill the whole width.
        width: In characters.
        encoding: Of the terminal; one without blocks gets ``#``.
    """
    from rich.text import Text

    block, rest = ("█", "░") if encoding.lower().startswith("utf") else ("#", ".")
    out, done, total = Text(), 0, 0
    for segment in segments:
        total += segment.tokens
        until = round(width * total / max(1, whole))
        out.append(block * (until - done), style=segment.style)
        done = max(done, until)
    if total and not done:
        out.append(block, style=segments[0].style)  # something is never drawn as nothing
        done = 1
    out.append(rest * max(0, width - done), style="bright_black")
    return out


def legend(segments: Sequence[BarSegment], width: int, encoding: str = "utf-8") -> Text:
    """Say which colour stands for what, in lines of at most ``width`` characters."""
    from rich.text import Text

    mark = "■" if encoding.lower().startswith("utf") else "#"
    out, used = Text(), 0
    for segment in segments:
        if not segment.tokens:
            continue
        needed = len(segment.name) + 4
        if used and used + needed > width:
            out.append("\n")
            used = 0
        out.append(f"{mark} ", style=segment.style).append(f"{segment.name}  ")
        used += needed
    return out


def share(part: float, whole: float) -> str:
    """Write a share in percent: ``12%``, ``<1%``."""
    fraction = part / whole if whole else 0.0
    return "<1%" if 0 < fraction < 0.005 else f"{fraction:.0%}"


def size(count: int) -> str:
    """Write a number of bytes: ``812 B``, ``1.4 MB``."""
    value, unit = float(count), "B"
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            break
        value /= 1000
    return f"{value:.0f} {unit}" if unit in ("B", "kB") else f"{value:.1f} {unit}"
