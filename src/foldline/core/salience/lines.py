"""Candidate lines: a conversation cut into the verbatim lines that may be kept."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from foldline.core.messages import Media, Message, Omitted, Part, Thinking, ToolCall, ToolResult

MAX_LINE = 2_000
"""Characters of a candidate line; a longer line is offered in pieces of this size."""

MAX_LINES = 200_000
"""Candidate lines taken from one message; the middle of a longer one is not offered."""

_NUMBERED = re.compile(r"^\s*\d{1,6}(?:→|\t|\s\|\s)\s*")


@dataclass(frozen=True, slots=True)
class Line:
    """
    One line of a message.

    ``message`` is the position in the view, ``part`` that of the part, ``number`` the line's place
    in it counted from 0. ``text`` is without indentation and without a reader's line number.
    """

    message: int
    part: int
    number: int
    text: str


def call_text(part: Part) -> str:
    """Write a part as a person reads it; JSON escapes in call arguments become line feeds."""
    match part:
        case ToolCall():
            return f"{part.name} {unescaped(part.arguments)}"
        case ToolResult():
            return part.text
        case Media():
            return f"[{part.kind}]"
        case Omitted():
            return ""
        case _:
            return part.text


def unescaped(arguments: str) -> str:
    """Return call arguments with the line feeds and quotes in their strings made real."""
    if "\\" not in arguments:
        return arguments
    return arguments.replace("\\n", "\n").replace('\\"', '"')


def compact_json(arguments: str) -> str:
    """Return JSON on one line without indentation; other text as it is."""
    if "\n" not in arguments:
        return arguments
    try:
        return json.dumps(json.loads(arguments), ensure_ascii=False)
    except (ValueError, RecursionError):
        return arguments


def lines(message: Message, position: int) -> Iterator[Line]:
    """
    Yield the lines of a message that say something.

    Args:
        message: The original message.
        position: Where it stands in the view.
    """
    for index, part in enumerate(message.parts):
        if isinstance(part, (Thinking, Omitted, Media)):
            continue
        for number, text in text_lines(call_text(part)):
            yield Line(position, index, number, text)


def text_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of the lines that say something."""
    whole = text.split("\n")
    if len(whole) > MAX_LINES:
        half = MAX_LINES // 2
        numbered = [*enumerate(whole[:half]), *enumerate(whole[-half:], len(whole) - half)]
    else:
        numbered = list(enumerate(whole))
    for number, line in numbered:
        bare = _NUMBERED.sub("", line).strip()
        if len(bare) <= MAX_LINE:
            if bare and not bare.isspace():
                yield number, bare
        else:
            for start in range(0, len(bare), MAX_LINE):
                yield number, bare[start : start + MAX_LINE]
