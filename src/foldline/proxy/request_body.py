"""A request body whose messages can be sent again byte for byte, and its cache marks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from foldline.errors import InputError
from foldline.frozen import frozen

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_DECODER: Final = json.JSONDecoder()


@frozen
class Body:
    """
    A request body.

    ``fields`` are the top-level values except the messages, ``places`` their positions in
    ``text``; ``messages`` are the parsed messages, ``spans`` their positions.
    """

    text: str
    fields: dict[str, Any]
    places: dict[str, tuple[int, int]]
    messages: list[Any]
    spans: list[tuple[int, int]]

    def field(self, name: str) -> str:
        """Return the source text of a field, "" if there is none."""
        start, end = self.places.get(name, (0, 0))
        return self.text[start:end]

    def source(self, position: int) -> str:
        """Return the source text of a message."""
        start, end = self.spans[position]
        return self.text[start:end]

    def with_messages(self, pieces: Sequence[int | str]) -> bytes:
        """
        Return the body with new messages; text between two adjacent kept ones is kept too.

        Args:
            pieces: Positions of messages that are sent unchanged, and the JSON of others.
        """
        start, end = self.spans[0][0], self.spans[-1][1]
        written = [self.text[:start], *self._join(pieces), self.text[end:]]
        # A lone surrogate, which JSON may hold as an escape, is escaped again.
        return "".join(written).encode("utf-8", "backslashreplace")

    def _join(self, pieces: Sequence[int | str]) -> Iterator[str]:
        usual = self.text[self.spans[0][1] : self.spans[1][0]] if len(self.spans) > 1 else ","
        for number, piece in enumerate(pieces):
            before = pieces[number - 1] if number else None
            if isinstance(piece, int) and isinstance(before, int) and piece == before + 1:
                yield self.text[self.spans[before][1] : self.spans[piece][0]]
            elif number:
                yield usual
            yield self.source(piece) if isinstance(piece, int) else piece


def read_body(data: bytes, key: str) -> Body:
    """
    Read a request body.

    Args:
        data: The bytes as they came, UTF-8.
        key: The field that holds the messages.

    Raises:
        InputError: It is not a JSON object with a list of messages, or repeats a field.
    """
    try:
        return _read(data.decode("utf-8"), key)
    except RecursionError:
        raise InputError("The body is nested too deeply") from None
    except (ValueError, IndexError) as error:
        raise InputError(f"The body cannot be read: {type(error).__name__}") from None


def _read(text: str, key: str) -> Body:
    fields: dict[str, Any] = {}
    places: dict[str, tuple[int, int]] = {}
    messages: list[Any] | None = None
    spans: list[tuple[int, int]] = []
    at = _skip_sign(text, 0, "{")
    while text[at] != "}":
        name, at = _DECODER.raw_decode(text, at)
        at = _skip_sign(text, at, ":")
        if not isinstance(name, str) or name in fields or (name == key and messages is not None):
            raise InputError("a field occurs twice, or has no name")
        start = at
        if name == key == TEXT_KEY and text[at] == '"':
            text = _with_listed_text(text, at)
        if name == key and text[at] == "[":
            messages, spans, at = _read_list(text, at)
        else:
            fields[name], at = _DECODER.raw_decode(text, at)
            places[name] = (start, at)
        at = _next_member(text, at, "}")
    if _skip_space(text, at + 1) != len(text):
        raise InputError("something follows the body")
    if not messages:
        raise InputError("the body has no list of messages", field=key)
    return Body(text, fields, places, messages, spans)


TEXT_KEY: Final = "input"
"""The field of messages that may hold the words of a user instead of a list."""


def _with_listed_text(text: str, at: int) -> str:
    """Return a body that has, in the place of a text, a list of the message that it stands for."""
    _, end = _DECODER.raw_decode(text, at)
    item = '{"role":"user","content":' + text[at:end] + "}"
    return f"{text[:at]}[{item}]{text[end:]}"


def _read_list(text: str, at: int) -> tuple[list[Any], list[tuple[int, int]], int]:
    """Read the list at a position; return its items, their spans, and its end."""
    values: list[Any] = []
    spans: list[tuple[int, int]] = []
    at = _skip_sign(text, at, "[")
    while text[at] != "]":
        value, end = _DECODER.raw_decode(text, at)
        values.append(value)
        spans.append((at, end))
        at = _next_member(text, end, "]")
    return values, spans, at + 1


def _skip_space(text: str, at: int) -> int:
    if text[at : at + 1] > " ":
        return at
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _skip_sign(text: str, at: int, sign: str) -> int:
    """Return the position after a sign and white space."""
    at = _skip_space(text, at)
    if text[at] != sign:
        raise InputError(f"{sign} is missing")
    return _skip_space(text, at + 1)


def _next_member(text: str, at: int, closing: str) -> int:
    """Return the position of the next member, or of the closing sign."""
    at = _skip_space(text, at)
    if text[at] == closing:
        return at
    at = _skip_sign(text, at, ",")
    if text[at] == closing:
        raise InputError("a member is missing")
    return at


def write_message(wire: Any) -> str:
    """Write a message made by an edit, deterministically."""
    return json.dumps(wire, ensure_ascii=False, separators=(",", ":"))


MARK: Final = "cache_control"


def strip_cache_marks(wire: Any) -> Any:
    """Return a message without its cache marks; the same object if it has none."""
    if not isinstance(wire, dict):
        return wire
    bare = {name: value for name, value in wire.items() if name != MARK}
    if isinstance(bare.get("content"), list):
        bare["content"] = list(map(strip_cache_marks, bare["content"]))
    return wire if bare == wire else bare


def cache_mark(wire: Any) -> Any:
    """Return the last cache mark in a message, None if it has none."""
    if not isinstance(wire, dict):
        return None
    content = wire.get("content")
    blocks = content if isinstance(content, list) else []
    marks = (block.get(MARK) for block in reversed(blocks) if isinstance(block, dict))
    return wire.get(MARK) or next((mark for mark in marks if mark), None)


def add_cache_mark(wire: Any, mark: Any) -> Any:
    """Return a message with a cache mark on its last block, if it can have one."""
    content = wire.get("content") if isinstance(wire, dict) else None
    if isinstance(content, str) and content:
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list) or not content or not isinstance(content[-1], dict):
        return wire
    if content[-1].get("type") in ("thinking", "redacted_thinking"):
        return wire
    return {**wire, "content": [*content[:-1], {**content[-1], MARK: mark}]}
