"""Candidate lines: a conversation split into verbatim lines that may be kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from foldline.lazy import lazy_pattern
from foldline.values.call_arguments import parse_arguments
from foldline.values.messages import Media, Omitted, Part, ToolCall, ToolResult

MAX_LINE = 2_000
"""Maximum length of a candidate line, in characters; longer lines are split into pieces."""

NEAR = 200
"""Number of characters at the end of a piece that are searched for a blank to cut at."""

MAX_LINES = 200_000
"""Maximum number of candidate lines of one message; the middle of a longer one is omitted."""

_NUMBERED = lazy_pattern(r"^\d{1,6}(?:→|\t|\s\|\s|[-:](?!\d))\s*")


def call_text(part: Part) -> str:
    """Return a part as readable text; a call as its name and its arguments as key=value."""
    match part:
        case ToolCall():
            return f"{part.name} {arguments_text(part.arguments)}"
        case ToolResult():
            return result_text(part.text)
        case Media():
            return f"[{part.kind}]"
        case Omitted():
            return ""
        case _:
            return part.text


def result_text(text: str) -> str:
    """Return a tool result as readable text, unwrapped if its output is wrapped in JSON."""
    wrapped = text.startswith("{") and "\\n" in text and "\n" not in text.strip()
    return arguments_text(text) if wrapped else text


def arguments_text(arguments: str) -> str:
    """
    Return call arguments without the punctuation of JSON; every word is kept.

    Text that is not a JSON object is unchanged.
    """
    value = parse_arguments(arguments)
    if not isinstance(value, dict):
        return arguments
    return " ".join(f"{key}={_value_text(inner)}" for key, inner in value.items())


def _value_text(value: Any) -> str:
    """Return a value as text; tabs stay escaped, as the model wrote them."""
    if isinstance(value, str):
        return value.replace("\t", "\\t")
    return json.dumps(value, ensure_ascii=False)


def text_lines(text: str) -> list[str]:
    """
    Split a text into its lines with content.

    Returns:
        The lines in order, without indentation and without line numbers added by a file reader.
    """
    lines = [line for line in map(str.lstrip, text.split("\n")) if line]
    bare = [
        _NUMBERED.sub("", line, 1) if line[0].isdigit() else line
        for line in _without_middle(lines)
    ]
    return bounded_lines(list(filter(None, map(str.rstrip, bare))))


def bounded_lines(lines: list[str]) -> list[str]:
    """Omit the middle of too many lines, and split those that are too long into pieces."""
    lines = _without_middle(lines)
    if max(map(len, lines), default=0) <= MAX_LINE:
        return lines
    return [piece for line in lines for piece in line_pieces(line)]


def _without_middle(lines: list[str]) -> list[str]:
    half = MAX_LINES // 2
    return lines if len(lines) <= MAX_LINES else [*lines[:half], *lines[-half:]]


def line_pieces(line: str) -> Iterator[str]:
    """Split a very long line, between words if there is a blank nearby."""
    start = 0
    while start < len(line):
        stop = start + MAX_LINE
        if stop < len(line):
            stop = line.rfind(" ", stop - NEAR, stop) + 1 or stop
        yield line[start:stop]
        start = stop
