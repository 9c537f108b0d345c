"""
Tables: objects with the same keys, written with the keys once; nothing is lost.

The first line names the columns, a nested object's as ``address.city``. A cell is bare where it
cannot be taken for anything else, JSON otherwise, and empty where an object has no such key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from json.encoder import encode_basestring
from typing import Any, TypeAlias

from foldline.lazy import lazy_pattern
from foldline.outputs.condensed import Condensed
from foldline.outputs.json_text import JsonNumber, is_object, write_value

Path: TypeAlias = tuple[str, ...]

WIDEST = 64
"""Columns of a table; objects with more keys are written as they are."""

DEEPEST = 4
"""How many objects in objects get columns of their own."""

_BARE = lazy_pattern(r"[\w#/@.+$][\w #/@.+$:&%*'()!?;<>=~|-]*(?<! )")
_NAME = lazy_pattern(r"[\w$@-]+")
_NUMBER = lazy_pattern(r"-?(?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|Infinity)|NaN")
_CONSTANTS = {"null": None, "true": True, "false": False}
MISSING: Any = object()
"""Stands in a column for an object without such a key."""

CATEGORIES, SAMPLE = 12, 60
"""Different values of a column that are counted, and rows that tell whether there are more."""


def columns(rows: Sequence[Any]) -> tuple[Path, ...] | None:
    """
    Find the columns of some objects.

    Args:
        rows: What was read of an array; see `json_text.scan`.

    Returns:
        Paths of keys, or None where the rows are no objects or too different from each other.
    """
    if not all(map(is_object, rows)):
        return None
    found = _columns(rows, DEEPEST)
    return found if found and len(found) <= WIDEST else None


def _columns(rows: Sequence[Any], depth: int) -> tuple[Path, ...] | None:
    keys = _merge_keys(rows)
    if not keys:
        return None
    found: list[Path] = []
    for key in keys:
        inner = None
        first = dict(rows[0]).get(key)
        if depth and is_object(first) and first:
            cells = [dict(row).get(key) for row in rows]
            inner = _columns(cells, depth - 1) if all(c and is_object(c) for c in cells) else None
        found += [(key, *path) for path in inner] if inner else [(key,)]
    return tuple(found)


def _merge_keys(rows: Sequence[Any]) -> tuple[str, ...] | None:
    """Return all keys in an order that every row follows, None where there is no such order."""
    shapes = list(dict.fromkeys(tuple(key for key, _ in row) for row in rows))
    order: list[str] = []
    for shape in shapes[:WIDEST]:
        place = 0
        for key in shape:
            if key in order:
                place = order.index(key) + 1
            else:
                order.insert(place, key)
                place += 1
        if len(order) > WIDEST:
            return None
    ranks = {key: rank for rank, key in enumerate(order)}
    for shape in shapes:
        places = [ranks.get(key, -1) for key in shape]
        if any(a >= b for a, b in zip([-1, *places], places, strict=False)):
            return None
    return tuple(order)


def header(paths: Iterable[Path]) -> str:
    """Write the names of columns."""
    return ", ".join(".".join(map(_name, path)) for path in paths)


def _name(key: str) -> str:
    return key if _NAME.fullmatch(key) else encode_basestring(key)


def row(item: Any, paths: Sequence[Path]) -> str:
    """Write an object as a line of the table with these columns."""
    return ", ".join(_cell(value) for value in cells(item, paths))


def cells(item: Any, paths: Sequence[Path]) -> list[Any]:
    """Return the values of an object by column; a missing one is no value of JSON."""
    known = dict(item)
    return [
        known.get(path[0], MISSING) if len(path) == 1 else _inner(known, path) for path in paths
    ]


def _inner(known: Any, path: Path) -> Any:
    for key in path[:-1]:
        known = dict(known[key])
    return known.get(path[-1], MISSING)


def _cell(value: Any) -> str:
    if value is MISSING:
        return ""
    if isinstance(value, str) and not isinstance(value, JsonNumber):
        bare = _BARE.fullmatch(value) and value not in _CONSTANTS and not _NUMBER.fullmatch(value)
        return value if bare else encode_basestring(value)
    return write_value(value)


def count_values(
    names: Iterable[str], columns: Iterable[Sequence[str]], spelled: Callable[[str], str]
) -> Iterator[str]:
    """Say how often each value of a column occurs, for columns that have few."""
    for name, column in zip(names, columns, strict=True):
        if len(set(column[:SAMPLE])) > CATEGORIES:
            continue
        seen = Counter(column)
        if 1 < len(seen) <= CATEGORIES and len(seen) * 3 <= len(column):
            listed = (f"{spelled(value)} {count:,}" for value, count in seen.most_common())
            yield f"{name}: {', '.join(listed)}"


# --- tables of plain text, such as CSV and TSV -------------------------------------------------

DELIMITERS = ",\t;|"
LOOKED_AT, FEWEST = 24, 5
"""Lines that tell whether a text is a table, and lines that make one."""

ROWS = 20_000
"""Rows up to which values are counted."""

HEADER, COUNTS = 1.0, 0.5
"""Worth of the names of the columns, and of what is counted."""


def delimiter(lines: Sequence[str]) -> str:
    """Return what parts the columns of a table, "" where the lines are none."""
    if len(lines) < FEWEST:
        return ""
    for mark in DELIMITERS:
        expected = lines[0].count(mark)
        if expected < (1 if mark == "\t" else 2) or not _names(lines[0].split(mark)):
            continue
        looked_at = lines[1 : 1 + LOOKED_AT]
        same = sum(line.count(mark) == expected for line in looked_at)
        quoted = sum(line.count(mark) > expected and '"' in line for line in looked_at)
        if same + quoted >= 0.9 * len(looked_at) and same * 2 > len(looked_at):
            return mark
    return ""


def _names(first: Sequence[str]) -> bool:
    """Return True if the cells of a line can be names of columns."""
    bare = [cell.strip().strip('"') for cell in first]
    return all(len(cell) <= 60 and not cell.replace(".", "").isdigit() for cell in bare) and any(
        bare
    )


def condense_delimited(lines: Sequence[str], mark: str) -> Condensed:
    """
    Judge the lines of a table.

    Args:
        lines: The names of the columns, and the rows.
        mark: What parts the columns.

    Returns:
        The lines, and one that counts the values of the columns that have few.
    """
    counted = _count_rows(lines, mark)
    worth = {0: HEADER}
    if counted:
        worth[len(lines)] = COUNTS
        return Condensed("table", (*lines, counted), worth, (0,), notes=1)
    return Condensed("table", tuple(lines), worth, (0,))


def _count_rows(lines: Sequence[str], mark: str) -> str:
    names = [name.strip().strip('"') for name in lines[0].split(mark)]
    split = [line.split(mark) for line in lines[1 : 1 + ROWS] if '"' not in line]
    rows = [row for row in split if len(row) == len(names)]
    if len(lines) > ROWS or len(rows) < len(lines) - 1:
        return ""
    counts = "; ".join(count_values(names, zip(*rows, strict=True), str))
    return f"[{len(rows):,} rows; {counts}]"[:1_200] if counts else ""
