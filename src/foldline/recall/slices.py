"""Parts of a text: lines, and what a JSON path names."""

from __future__ import annotations

import json
import re
from math import prod
from typing import Any, Final, TypeAlias

from foldline.errors import RecallError

Lines: TypeAlias = list[tuple[int, str]]
"""Lines with their numbers, counted from 1."""

MAX_PATTERN: Final = 500
MAX_MATCHES: Final = 1_000
MAX_VISITS: Final = 100
"""How often a JSON path may visit one value, as its unions multiply."""

_RANGE: Final = re.compile(r"(-?\d{1,9})?(?:(:)(-?\d{1,9})?)?")
_QUOTED: Final = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")


def numbered(text: str) -> Lines:
    """Split a text into numbered lines; only line feeds part lines."""
    return list(enumerate(text.split("\n"), 1))


def chosen(lines: Lines, wanted: str) -> Lines:
    """
    Choose lines by number.

    Args:
        lines: All lines.
        wanted: ``A:B``, both ends included and counted from 1; negative numbers count from the
            end (-1 is the last line), a missing end is open, ``A`` alone is one line.

    Raises:
        RecallError: This is no range, or no line is in it.
    """
    found = _RANGE.fullmatch(wanted.strip())
    if found is None or not any(found.groups()):
        raise RecallError(
            f"{wanted[:40]!r} is not a range of lines.",
            hint='Give "A:B" such as "10:20", "-50:" for the last 50, or one number.',
        )
    first, colon, last = found.groups()
    start = _position(first, len(lines), 1)
    end = _position(last, len(lines), len(lines)) if colon else start
    picked = lines[max(0, start - 1) : max(0, end)]
    if not picked:
        raise RecallError(
            f"No line is in {wanted.strip()!r}.", hint=f"There are {len(lines):,} lines."
        )
    return picked


def _position(number: str | None, size: int, default: int) -> int:
    if number is None:
        return default
    value = int(number)
    return value + size + 1 if value < 0 else value


# --- JSON path -----------------------------------------------------------------------------


def at_path(text: str, path: str) -> str:
    """
    Choose values from a JSON text.

    Args:
        text: A JSON text.
        path: A JSON path of RFC 9535 without ``match`` and ``search``; ``$.`` may be left out.

    Returns:
        A string as it is; another value, or the list of several matches, as indented JSON.

    Raises:
        RecallError: The text is no JSON, the path is wrong, too costly, or matches nothing.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RecallError(
            f"The content is not JSON, so that it has no paths: {error}.",
            hint="Use lines or grep.",
        ) from error
    found = _values(value, _bounded(path))
    if not found:
        raise RecallError(f"The path {path[:80]!r} matches nothing.", hint=_keys(value))
    chosen_value = found[0] if len(found) == 1 else found
    if isinstance(chosen_value, str):
        return chosen_value
    return json.dumps(chosen_value, ensure_ascii=False, indent=2)


def _bounded(path: str) -> str:
    """Refuse paths whose cost is more than proportional to the text."""
    full = path if path.startswith("$") else f"${path}" if path[:1] in "[." else f"$.{path}"
    bare = _QUOTED.sub("", full)
    # Each further selector in brackets visits everything below once more.
    visits = prod(segment.count(",") + 1 for segment in bare.split("]"))
    dear = visits > MAX_VISITS or bare.count("..") > 1 or bare.count("$") > 1
    if len(full) > MAX_PATTERN or dear:
        raise RecallError(
            f"The path {path[:80]!r} may take too long.",
            hint='Use at most one "..", "$" only at the beginning, and few commas.',
        )
    return full


def _values(value: Any, path: str) -> list[Any]:
    from itertools import islice

    from jsonpath import JSONPathEnvironment, JSONPathError

    engine = JSONPathEnvironment(strict=True)
    # Both run regular expressions without a timeout.
    for name in ("match", "search"):
        engine.function_extensions.pop(name, None)
    try:
        return [match.obj for match in islice(engine.finditer(path, value), MAX_MATCHES)]
    except (JSONPathError, RecursionError) as error:
        first = str(error).partition("\n")[0]
        raise RecallError(f"The path {path[:80]!r} cannot be followed: {first}.") from error


def _keys(value: Any) -> str:
    if isinstance(value, dict):
        return f"The top level has: {', '.join(map(str, list(value)[:20]))}."
    size = f" of {len(value)}" if isinstance(value, list) else ""
    return f"The top level is a {type(value).__name__}{size}."
