"""
Tables: objects with the same keys, written with the keys once; nothing is lost.

The first line names the columns, a nested object's as ``address.city``. A cell is bare where it
cannot be taken for anything else, JSON otherwise, and empty where an object has no such key.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from json.encoder import encode_basestring
from typing import Any, TypeAlias

from foldline.lazy_patterns import lazy_pattern
from foldline.outputs.json_text import JsonNumber, is_object, scan, written

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
    keys = _merged(rows)
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


def _merged(rows: Sequence[Any]) -> tuple[str, ...] | None:
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
        known = dict(known[key]) if isinstance(known, dict) else dict(dict(known)[key])
    return known.get(path[-1], MISSING)


def _cell(value: Any) -> str:
    if value is MISSING:
        return ""
    if isinstance(value, str) and not isinstance(value, JsonNumber):
        bare = _BARE.fullmatch(value) and value not in _CONSTANTS and not _NUMBER.fullmatch(value)
        return value if bare else encode_basestring(value)
    return written(value)


def parse(lines: Sequence[str]) -> list[Any]:
    """
    Read a table again.

    Args:
        lines: The names of the columns, and the rows.

    Returns:
        The objects, as tuples of pairs.

    Raises:
        ValueError: It is no such table.
    """
    paths = _paths(lines[0])
    return [_object(_cells(line), paths) for line in lines[1:]]


def _paths(line: str) -> list[Path]:
    paths: list[Path] = []
    position, path = 0, list[str]()
    while True:
        if line[position : position + 1] == '"':
            key, position = scan(line, position)
        else:
            match = _NAME.match(line, position)
            if match is None:
                raise ValueError(f"no name of a column at {position}")
            key, position = match.group(), match.end()
        path.append(key)
        if line.startswith(".", position):
            position += 1
            continue
        paths.append(tuple(path))
        path = []
        if position >= len(line):
            return paths
        position += 2


def _cells(line: str) -> list[Any]:
    found: list[Any] = []
    position = 0
    while True:
        if line[position : position + 1] in ('"', "[", "{"):
            value, position = scan(line, position)
        else:
            end = line.find(",", position)
            end = len(line) if end < 0 else end
            value, position = _bare(line[position:end]), end
        found.append(value)
        if position >= len(line):
            return found
        position += 2


def _bare(text: str) -> Any:
    if not text:
        return MISSING
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    return JsonNumber(text) if _NUMBER.fullmatch(text) else text


def _object(values: Sequence[Any], paths: Sequence[Path]) -> Any:
    if len(values) != len(paths):
        raise ValueError(f"{len(values)} cells for {len(paths)} columns")
    built: list[tuple[str, Any]] = []
    place = 0
    while place < len(paths):
        key = paths[place][0]
        end = place + 1
        if len(paths[place]) > 1:
            while end < len(paths) and len(paths[end]) > 1 and paths[end][0] == key:
                end += 1
            built.append((key, _object(values[place:end], [p[1:] for p in paths[place:end]])))
        elif values[place] is not MISSING:
            built.append((key, values[place]))
        place = end
    return tuple(built)
