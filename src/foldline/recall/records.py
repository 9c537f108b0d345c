"""Lines as they are read: numbered, and one-line JSON taken apart into its values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

MOST_VALUES: Final = 20_000
"""Values that are taken out of one line; a line with more stands as it is."""

_NESTED: Final = 100
"""How deep values may be nested."""


@dataclass(frozen=True, slots=True)
class Line:
    """
    One line of a text.

    Args:
        number: Counted from 1; the lines of a JSON value all have that of their record.
        text: What stands there.
        path: The JSON path of the value that it is part of, "" for a plain line.
    """

    number: int
    text: str
    path: str = ""


def read_lines(text: str, wide: int) -> Iterator[Line]:
    """
    Yield the lines of a text.

    Args:
        text: The text; only line feeds part lines.
        wide: Lines longer than this, in characters, that are JSON are taken apart.
    """
    for number, line in enumerate(text.split("\n"), 1):
        values = json_values(line) if len(line) > wide else None
        if values is None:
            yield Line(number, line)
            continue
        for path, value in values:
            for piece in value.split("\n"):
                yield Line(number, piece, path)


def json_values(line: str) -> list[tuple[str, str]] | None:
    """Return path and text of each value in a line of JSON; None where it is not JSON."""
    bare = line.strip()
    if bare[:1] not in ("{", "[") or bare[-1:] not in ("}", "]"):
        return None
    try:
        out = list[tuple[str, str]]()
        for found in _walk(json.loads(bare), "$", 0):
            out.append(found)
            if len(out) > MOST_VALUES:
                return None
    except (ValueError, RecursionError):
        return None
    return out


def _walk(value: Any, path: str, depth: int) -> Iterator[tuple[str, str]]:
    if depth < _NESTED and isinstance(value, dict) and value:
        for key, inner in value.items():
            step = f".{key}" if key.isidentifier() else f"[{json.dumps(key, ensure_ascii=False)}]"
            yield from _walk(inner, path + step, depth + 1)
    elif depth < _NESTED and isinstance(value, list) and value:
        for index, inner in enumerate(value):
            yield from _walk(inner, f"{path}[{index}]", depth + 1)
    else:
        yield path, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
