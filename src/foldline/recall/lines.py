"""Lines of a text: numbered, selected by range or JSON path, without repeated prefixes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from math import prod
from typing import Any, Final

from foldline.errors import RecallError
from foldline.frozen import frozen

MOST_VALUES: Final = 20_000
"""Maximum number of values of one line; a line with more is not split."""

_NESTED: Final = 100
"""Maximum depth of nested values that are split."""


@frozen
class Line:
    """
    One line of a text.

    Args:
        number: Counted from 1; lines of JSON values have the number of their record.
        text: The text of the line.
        path: The JSON path of the value that it belongs to, "" for a plain line.
    """

    number: int
    text: str
    path: str = ""


def read_lines(text: str, wide: int) -> Iterator[Line]:
    """
    Yield the lines of a text.

    Args:
        text: The text; only line feeds separate lines.
        wide: Lines of JSON longer than this, in characters, are split into values.
    """
    for line in number_lines(text):
        yield from (json_lines(line) if len(line.text) > wide else []) or [line]


def json_lines(line: Line) -> list[Line]:
    """Split a line of JSON into the lines of its values; none if it is not JSON."""
    return [
        Line(line.number, piece, path)
        for path, value in json_values(line.text) or ()
        for piece in value.split("\n")
    ]


def json_values(line: str) -> list[tuple[str, str]] | None:
    """Return path and text of each value in a line of JSON; None if it is not JSON."""
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


MAX_PATTERN: Final = 500
MAX_MATCHES: Final = 1_000
MAX_VISITS: Final = 100
"""Maximum visits of a JSON path to one value; its unions multiply."""

_RANGE: Final = re.compile(r"(-?\d{1,9})?(?:(:)(-?\d{1,9})?)?")
_QUOTED: Final = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")


def number_lines(text: str) -> list[Line]:
    """Split a text into numbered lines; only line feeds separate lines."""
    return [Line(number, line) for number, line in enumerate(text.split("\n"), 1)]


def choose_lines(lines: list[Line], line_range: str) -> list[Line]:
    """
    Select lines by number.

    Args:
        lines: All lines.
        line_range: ``A:B``, both ends included and counted from 1; negative numbers count from the
            end (-1 is the last line), a missing end is open, ``A`` alone is one line.

    Raises:
        RecallError: The range is invalid, or contains no line.
    """
    found = _RANGE.fullmatch(line_range.strip())
    if found is None or not any(found.groups()):
        raise RecallError(
            f"{line_range[:40]!r} is not a range of lines.",
            hint='Give "A:B" such as "10:20", "-50:" for the last 50, or one number.',
        )
    first, colon, last = found.groups()
    start = _position(first, len(lines), 1)
    end = _position(last, len(lines), len(lines)) if colon else start
    picked = lines[max(0, start - 1) : max(0, end)]
    if not picked:
        raise RecallError(
            f"No line is in {line_range.strip()!r}.", hint=f"There are {len(lines):,} lines."
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
    Select values from a JSON text.

    Args:
        text: A JSON text.
        path: A JSON path of RFC 9535 without ``match`` and ``search``; ``$.`` may be omitted.

    Returns:
        A string unchanged; another value, or the list of several matches, as indented JSON.

    Raises:
        RecallError: The text is not JSON, or the path is invalid, too costly, or matches nothing.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RecallError(
            f"The content is not JSON, so that it has no paths: {error}.",
            hint="Use lines or grep.",
        ) from error
    found = _values(value, _check_path(path))
    if not found:
        raise RecallError(f"The path {path[:80]!r} matches nothing.", hint=_keys(value))
    chosen_value = found[0] if len(found) == 1 else found
    if isinstance(chosen_value, str):
        return chosen_value
    return json.dumps(chosen_value, ensure_ascii=False, indent=2)


def _check_path(path: str) -> str:
    """Return the full path; refuse paths whose cost is more than proportional to the text."""
    full = path if path.startswith("$") else f"${path}" if path[:1] in "[." else f"$.{path}"
    bare = _QUOTED.sub("", full)
    # Each further selector in brackets visits all descendants once more.
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


_NUMBER: Final = re.compile(r"\s*\d{1,7}\s*[:|→\t-]")

_LISTED: Final = re.compile(r"\s*\d{1,7}[→\t]")

_LOCATED: Final = re.compile(r"(?P<path>[^\s:]{0,200}[./][^\s:]{0,200}[:-])(?=\d{1,7}[:-])")


def merge_prefixes(lines: Iterable[str]) -> list[str]:
    """Return lines of ``path:line:text`` with a shared path once, before the lines."""
    out = list[str]()
    for path, run in groupby(lines, path_prefix):
        same = list(run)
        if not path or len(same) == 1:
            out += same
            continue
        out.append(path)
        out += [line.lstrip()[len(path) :] for line in same]
    return out


def path_prefix(line: str) -> str:
    """Return the path, with its colon, at the start of a line of search output, else ""."""
    found = _LOCATED.match(line.lstrip()[:420])
    return found["path"] if found else ""


def dedent(lines: Sequence[str]) -> list[str]:
    """Return lines without shared indentation, and without blanks before a line number."""
    lines = [line.lstrip() if _LISTED.match(line[:40]) else line.rstrip() for line in lines]
    blanks = (len(line) - len(line.lstrip(" \t")) for line in lines if line.strip())
    shared = min(blanks, default=0)
    return [line[shared:] for line in lines]


def essence(line: str) -> str:
    """Return the text of a line without a line number and surrounding blanks."""
    found = _NUMBER.match(line[:40])
    return line[found.end() if found else 0 :].strip()
