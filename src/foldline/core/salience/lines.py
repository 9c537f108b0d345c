"""Candidate lines: a conversation cut into the verbatim lines that may be kept."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from foldline.core.messages import Media, Omitted, Part, ToolCall, ToolResult

MAX_LINE = 2_000
"""Characters of a candidate line; a longer line is offered in pieces of this size."""

MAX_LINES = 200_000
"""Candidate lines taken from one message; the middle of a longer one is not offered."""

_NUMBERED = re.compile(r"^\s*\d{1,6}(?:→|\t|\s\|\s|[-:](?!\d))\s*")


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
    """Write a part as a person reads it; a call as its name and its arguments as key=value."""
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
    """Write a tool result as a person reads it: one that wraps its output in JSON unwrapped."""
    wrapped = text.startswith("{") and "\\n" in text and "\n" not in text.strip()
    return arguments_text(text) if wrapped else text


def arguments_text(arguments: str) -> str:
    """
    Write call arguments without the punctuation of JSON; every word of them stays.

    Text that is not a JSON object stays as it is.
    """
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    if not isinstance(value, dict):
        return arguments
    return " ".join(f"{key}={_value_text(inner)}" for key, inner in value.items())


def _value_text(value: Any) -> str:
    """Write a value; the tabs of code stay escaped, as the model wrote them."""
    if isinstance(value, str):
        return value.replace("\t", "\\t")
    return json.dumps(value, ensure_ascii=False)


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
