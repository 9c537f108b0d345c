"""Parts of a text: lines, search hits, a JSON path, and pages of a bounded size."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Any, Final, TypeAlias

from foldline.core.errors import RecallError

Lines: TypeAlias = list[tuple[int, str]]
"""Lines with their numbers, counted from 1."""

MAX_HITS: Final = 100
MAX_PATTERN: Final = 500
MAX_MATCHES: Final = 1_000
MAX_VISITS: Final = 100
"""How often a JSON path may visit one value, as its unions multiply."""

SECONDS: Final = 1.0
"""How long one search may take."""

WIDE: Final = 600
"""Lines longer than this are shown around their hit only, in characters."""

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


# --- search --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Hits:
    """Search hits as text with line numbers; ``count`` is how many lines matched."""

    text: str
    count: int
    complete: bool


def search(lines: Lines, pattern: str, context: int) -> Hits:
    """
    Search lines for a regular expression.

    Args:
        lines: Where to search.
        pattern: In the syntax of the module ``regex``, at most 500 characters.
        context: How many lines around a hit are shown too.

    Returns:
        The hits in the manner of grep: ``12:`` before a hit, ``13-`` before a line of context,
        ``--`` between places; at most 100 hits.

    Raises:
        RecallError: The pattern is wrong, or takes longer than a second.
    """
    spans: dict[int, tuple[int, int]] = {}
    complete = True
    for position, span in _matches(lines, pattern):
        if len(spans) == MAX_HITS:
            complete = False
            break
        spans[position] = span
    around = _around(spans, max(0, context), len(lines))
    return Hits("\n".join(_printed(lines, around, spans)), len(spans), complete)


def _around(hits: Iterable[int], context: int, size: int) -> Iterator[int]:
    """Yield the positions of hits, in order, and those around them, each once."""
    done = 0
    for position in hits:
        start, stop = max(done, position - context), min(size, position + context + 1)
        yield from range(start, stop)
        done = max(done, stop)


def _matches(lines: Lines, pattern: str) -> Iterator[tuple[int, tuple[int, int]]]:
    import regex  # type: ignore[import-untyped]  # it ships no types

    if len(pattern) > MAX_PATTERN:
        raise RecallError(f"The pattern is longer than {MAX_PATTERN} characters.")
    deadline = time.monotonic() + SECONDS
    try:
        wanted = regex.compile(pattern)
        for position, (_, line) in enumerate(lines):
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            hit = wanted.search(line, timeout=left)
            if hit is not None:
                yield position, hit.span()
    except regex.error as error:
        raise RecallError(
            f"{pattern[:80]!r} is not a regular expression: {error}.",
            hint="Escape what is meant literally with a backslash.",
        ) from error
    except (TimeoutError, MemoryError, RecursionError) as error:
        raise RecallError(
            f"The search took longer than {SECONDS:g} second, or more memory than there is.",
            hint="Give a simpler pattern, or fewer lines.",
        ) from error


def _printed(
    lines: Lines, around: Iterable[int], spans: dict[int, tuple[int, int]]
) -> Iterator[str]:
    before = None
    for position in around:
        if before is not None and position != before + 1:
            yield "--"
        number, line = lines[position]
        span = spans.get(position)
        yield f"{number}{'-' if span is None else ':'} {_narrowed(line, span)}"
        before = position


def _narrowed(line: str, span: tuple[int, int] | None) -> str:
    if len(line) <= WIDE:
        return line
    start, end = span or (0, 0)
    left = max(0, min(start, (start + end - WIDE) // 2))
    right = left + WIDE
    head = f"[… {left:,} characters] " if left else ""
    tail = f" [{len(line) - right:,} characters …]" if right < len(line) else ""
    return f"{head}{line[left:right]}{tail}"


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


# --- pages ---------------------------------------------------------------------------------


def page_end(text: str, start: int, fits: Callable[[str], bool]) -> int:
    """
    Return where a page that begins at ``start`` ends, behind a line where that costs little.

    Args:
        text: The whole text.
        start: Where the page begins, in characters.
        fits: Tells whether a page is small enough; longer ones must never fit better.
    """
    rest = text[start:]
    if fits(rest):
        return len(text)
    low, high = 0, len(rest)
    while high - low > max(1, low // 50):
        middle = (low + high) // 2
        low, high = (middle, high) if fits(rest[:middle]) else (low, middle)
    line = rest.rfind("\n", low // 2, low) + 1
    return start + max(1, line or low)
