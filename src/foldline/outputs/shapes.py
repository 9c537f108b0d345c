"""
Rows of one shape: objects that all look like the first of their array, read by one expression.

Most tables that tools return are like this, and an expression made of the first row's keys reads
them several times faster than a parser does, with every value as it is spelled.
"""

from __future__ import annotations

import re
from typing import Any

from foldline.frozen import frozen
from foldline.lazy import lazy_pattern
from foldline.outputs.json_text import is_object, one_line, scan, skip
from foldline.outputs.tables import DEEPEST, WIDEST, Path

_STRING = r'"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*"'
_LIST = rf"\[[^\[\]\"]*(?:{_STRING}[^\[\]\"]*)*\]"
_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|NaN|-?Infinity"
_VALUE = rf"{_STRING}|{_NUMBER}|true|false|null|{_LIST}|\{{\s*\}}"

_QUOTED = lazy_pattern(
    r"""(?:(?<=,\ )|(?<=\A)|(?<=\n))"
    (?!(?:null|true|false|NaN|Infinity)"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
    ([\w#/@.+$](?:[\w\ #/@.+$:&%*'()!?;<>=~|-]*[\w#/@.+$:&%*'()!?;<>=~|-])?)"(?=,\ |\n|\Z)""",
    re.VERBOSE,
)
"""A quoted cell that needs no quotes; the same cells as `tables.row` leaves bare."""


@frozen
class JsonTable:
    """
    Objects with the same keys: names of columns, lines, values as spelled, where each row stands.

    ``end`` is where their array ends, 0 where that is not known.
    """

    paths: tuple[Path, ...]
    lines: list[str]
    cells: list[tuple[str, ...]]
    spans: list[tuple[int, int]]
    end: int = 0


def read_shape(text: str, start: int) -> JsonTable | None:
    """
    Read an array of objects of one shape.

    Args:
        text: A text.
        start: Where the array begins.

    Returns:
        Its rows, or None where it is no such array.

    Raises:
        ValueError: Its first value is no JSON.
    """
    begin = skip(text, start + 1)
    if text[begin : begin + 1] != "{":
        return None
    first, _ = scan(text, begin)
    paths: list[Path] = []
    source = _pattern(first, (), paths, DEEPEST)
    if source is None or not 0 < len(paths) <= WIDEST:
        return None
    row = re.compile(rf"({source})\s*([,\]])\s*")
    cells: list[tuple[str, ...]] = []
    spans: list[tuple[int, int]] = []
    place, closing = begin, ","
    while closing == ",":
        match = row.match(text, place)
        if match is None:
            return None
        cells.append(match.groups()[1:-1])
        spans.append(match.span(1))
        closing, place = match.group(match.re.groups), match.end()
    return JsonTable(tuple(paths), _lines(cells), cells, spans, place)


def _pattern(item: Any, above: Path, paths: list[Path], depth: int) -> str | None:
    members: list[str] = []
    keys = [key for key, _ in item]
    if len(set(keys)) != len(keys) or not keys or depth < 0:
        return None
    for key, value in item:
        path = (*above, key)
        inner: str | None = f"({_VALUE})"
        if is_object(value) and value:
            inner = _pattern(value, path, paths, depth - 1)
        else:
            paths.append(path)
        # A key with anything special in it may be spelled in several ways.
        special = not key.isascii() or not key.isprintable() or '"' in key or "\\" in key
        if inner is None or special:
            return None
        members.append(rf'"{re.escape(key)}"\s*:\s*{inner}')
    return r"\{\s*" + r"\s*,\s*".join(members) + r"\s*\}"


def _lines(cells: list[tuple[str, ...]]) -> list[str]:
    """Write rows; cells that hold lists are looked at one by one, as strings stand in them too."""
    rows = [", ".join(row) for row in cells]
    plain = [row for row in rows if "[" not in row]
    # What is between the matches, and what they hold without its quotes.
    bare = iter("".join(_QUOTED.split("\n".join(plain))).split("\n"))
    return [
        next(bare) if "[" not in row else ", ".join(map(_bare, parts))
        for row, parts in zip(rows, cells, strict=True)
    ]


def _bare(cell: str) -> str:
    return one_line(cell) if cell[:1] in "[{" else "".join(_QUOTED.split(cell))


def value_of(cell: str) -> str:
    """Return a cell as a person reads it."""
    return cell[1:-1] if cell[:1] == '"' and "\\" not in cell else cell
