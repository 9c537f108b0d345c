"""JSON Lines as bytes: every line is kept as it stands, and new ones are written like it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from foldline.errors import InputError
from foldline.formats.json_document import style_of
from foldline.formats.source import TranscriptSource, parse_line

_SHOWN = 20
"""How many unreadable lines are named one by one."""


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a file with their endings, and how they are encoded."""

    data: tuple[bytes, ...] = field(repr=False)
    encoding: str = "utf-8"

    def value(self, number: int) -> dict[str, Any]:
        """Read a line again; an empty object where it is none."""
        value = parse_line(self.data[number], self.encoding)
        return value if isinstance(value, dict) else {}

    def written(self, value: Any, like: int) -> bytes:
        """
        Write a value in the layout of another line, with its line ending.

        Raises:
            InputError: The value is nested too deeply to be written.
        """
        text = self.data[like].decode(self.encoding, "replace").removeprefix("\ufeff")
        ending = text[len(text.rstrip("\r\n")) :]
        line = style_of(text.strip()).dumps(value) + ending
        return line.encode(self.encoding, "surrogatepass")

    def joined(self, lines: Iterable[bytes]) -> bytes:
        """Put lines together: each on its own line, behind the byte order mark of the file."""
        feed, mark = "\n".encode(self.encoding), "\ufeff".encode(self.encoding)
        pieces = list(lines)
        whole = [line if line.endswith(feed) else line + feed for line in pieces[:-1]]
        data = b"".join((*whole, *pieces[-1:]))
        marked = bool(self.data) and self.data[0].startswith(mark)
        return mark + data if marked and not data.startswith(mark) else data


def read_lines(source: TranscriptSource) -> tuple[Lines, list[Any], tuple[str, ...]]:
    """
    Read a file line by line.

    Returns:
        The lines; for each of them the JSON object, or None; and a sentence about each line that
        is neither blank nor a JSON object.
    """
    lines = Lines(source.lines, source.encoding)
    values = [parse_line(line, source.encoding) for line in lines.data]
    objects = [value if isinstance(value, dict) else None for value in values]
    return lines, objects, _unreadable(lines.data, objects)


def _unreadable(lines: tuple[bytes, ...], objects: list[Any]) -> tuple[str, ...]:
    bad = [n for n, line in enumerate(lines) if objects[n] is None and line.strip(b"\0 \t\r\n")]
    warnings = [_sentence(lines[number], number, len(lines)) for number in bad[:_SHOWN]]
    if len(bad) > _SHOWN:
        warnings.append(f"{len(bad) - _SHOWN} more lines are not JSON objects")
    return tuple(warnings)


def _sentence(line: bytes, number: int, count: int) -> str:
    if line.lstrip(b"\xef\xbb\xbf \t").startswith(b"//"):
        return f"line {number + 1} is a comment"
    if number == count - 1 and not line.endswith(b"\n"):
        return f"line {number + 1}, the last one, is cut off: it is kept, but not read"
    return f"line {number + 1} is not a JSON object: it is kept, but not read"


@contextmanager
def at_line(numbers: Sequence[int]) -> Iterator[None]:
    """
    Name the line in errors about a message.

    Args:
        numbers: The line of each message that is read, counted from 0.
    """
    try:
        yield
    except InputError as error:
        if error.index is None or error.index >= len(numbers):
            raise
        line = numbers[error.index] + 1
        named = InputError(f"line {line}, {error.message}", hint=error.hint)
        named.index, named.field = error.index, error.field
        raise named from error
