"""Content-hash ids, the same in every process, and common prefixes of sequences."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from foldline.blake2 import blake2b
from foldline.values.messages import (
    Media,
    Message,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

ID_BYTES = 16
HANDLE_LENGTH = 6


def canonical_json(value: Any) -> str:
    """Write a JSON value in canonical form, the same for equal values."""
    return json.dumps(
        value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=repr
    )


def content_hash(message: Message) -> str:
    """
    Hash the content of a message: role, name and parts, not the envelope around them.

    Returns:
        32 hexadecimal digits (BLAKE2b, 128 bits).
    """
    pieces: list[bytes] = []
    for field in (message.role, message.name or "", *_fields(message.parts)):
        data = field.encode("utf-8", "surrogatepass")
        pieces += (len(data).to_bytes(8, "big"), data)
    return blake2b(b"".join(pieces), digest_size=ID_BYTES).hexdigest()


def _fields(parts: Iterable[Part]) -> Iterable[str]:
    for part in parts:
        yield type(part).__name__
        if isinstance(part, Text):
            yield part.text
        elif isinstance(part, ToolCall):
            yield from (part.id or "", part.name, part.arguments)
        elif isinstance(part, ToolResult):
            yield from (part.call_id or "", part.name, "error" if part.is_error else "")
            yield from _fields(part.content)
            yield "end"
        elif isinstance(part, Thinking):
            yield part.text
            yield canonical_json(part.raw) if part.signed else ""
        elif isinstance(part, (Media, Opaque)):
            yield canonical_json(part.raw)


def identify(messages: Iterable[Message], taken: Iterable[str] = ()) -> tuple[Message, ...]:
    """
    Return messages with ids; repeated messages get distinct ids by occurrence.

    Args:
        messages: Messages, with or without ids; existing ids are replaced.
        taken: Ids of preceding messages.

    Returns:
        The same messages with unique ids of 32 hexadecimal digits.
    """
    seen = set(taken)
    occurrences: dict[str, int] = {}
    out = []
    for message in messages:
        first = content_hash(message)
        unique = first
        while unique in seen:
            occurrences[first] = occurrences.get(first, 1) + 1
            repeated = f"{first}#{occurrences[first]}".encode()
            unique = blake2b(repeated, digest_size=ID_BYTES).hexdigest()
        seen.add(unique)
        out.append(message.with_id(unique))
    return tuple(out)


def derived_id(*ids: str) -> str:
    """Return the id of an object derived from others, such as a snapshot of messages."""
    data = "/".join(ids).encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=ID_BYTES).hexdigest()


def _are_equal(one: Any, other: Any) -> bool:
    return one is other or bool(one == other)


def shared_length(
    left: Iterable[Any],
    right: Iterable[Any],
    are_same: Callable[[Any, Any], bool] = _are_equal,
) -> int:
    """
    Return the length of the common prefix of two sequences.

    Args:
        left: One sequence.
        right: The other sequence.
        are_same: Compares two items, one of each.
    """
    count = 0
    for one, other in zip(left, right, strict=False):
        if not are_same(one, other):
            break
        count += 1
    return count
