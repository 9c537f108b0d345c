"""Where in its document a passage stands: under which headings, in which class and function."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

LONGEST_TITLE: Final = 120
"""Characters of a heading that are kept."""

SCOPES: Final = 3
"""So many classes and functions around a piece of code are named."""

FARTHEST: Final = 2_000
"""Lines above a piece of code in which they are looked for."""

_HEADING: Final = re.compile(
    r"^ {0,3}(?:(?P<fence>```+|~~~+)(?P<rest>[^\n]*)"
    r"|(?P<marks>#{1,6})(?=[ \t\n])[ \t]*(?P<title>[^\n]*))",
    re.MULTILINE,
)
_SCOPE_END: Final = re.compile(r"[\s{:(]+$")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a Markdown text: where its line begins, its level from 1, its words."""

    at: int
    level: int
    title: str


def headings(text: str, start: int = 0, end: int | None = None) -> Iterator[Heading]:
    """Go through the headings of a Markdown text; lines in fenced code are none."""
    opened = ""
    for found in _HEADING.finditer(text, start, len(text) if end is None else end):
        fence = found["fence"]
        if fence:
            if not opened:
                opened = fence
            elif fence.startswith(opened) and not found["rest"].strip():
                opened = ""
        elif not opened:
            title = found["title"][: 4 * LONGEST_TITLE].strip(" \t\r#")
            yield Heading(found.start(), len(found["marks"]), title[:LONGEST_TITLE])


Places = Callable[[int], tuple[str, ...]]
"""Tells for an offset under which headings it stands, the outermost first."""


def places(text: str, kind: str) -> Places:
    """Return what tells where in a document an offset stands."""
    if kind == "markdown":
        return _under_headings(text)
    return (lambda at: _inside(text, at)) if kind == "code" else (lambda _: ())


def _under_headings(text: str) -> Places:
    starts, paths = list[int](), list[tuple[str, ...]]()
    stack = list[Heading]()
    for heading in headings(text):
        while stack and stack[-1].level >= heading.level:
            stack.pop()
        stack.append(heading)
        starts.append(heading.at)
        paths.append(tuple(one.title for one in stack if one.title))

    def under(at: int) -> tuple[str, ...]:
        found = bisect_right(starts, at)
        return paths[found - 1] if found else ()

    return under


def _inside(text: str, at: int) -> tuple[str, ...]:
    """Name what encloses a piece of code: the nearest lines above that are indented less."""
    place = text.rfind("\n", 0, at)
    indent = _indent(text[place + 1 : at + 1])
    out = list[str]()
    for _ in range(FARTHEST):
        if indent == 0 or place <= 0 or len(out) == SCOPES:
            break
        start = text.rfind("\n", 0, place) + 1
        line = text[start:place]
        if line.strip() and _indent(line) < indent:
            indent = _indent(line)
            words = _SCOPE_END.sub("", line[: 4 * LONGEST_TITLE].strip())
            if words.strip(")]}"):
                out.append(words[:LONGEST_TITLE])
        place = start - 1
    return tuple(reversed(out))


def _indent(line: str) -> int:
    return len(line[: len(line) - len(line.lstrip(" \t"))].expandtabs(4))
