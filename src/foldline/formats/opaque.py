"""Blocks and messages that this library does not know: carried along, with the text in them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from foldline.errors import InputError
from foldline.values.messages import Message, Opaque

MAX_DEPTH = 8
"""How deep a block is looked into, in levels."""

_WORDS = frozenset(
    {
        *("text", "title", "url", "name", "description", "content", "context", "source"),
        *("query", "queries", "code", "logs", "stdout", "stderr", "output", "summary"),
        *("reason", "refusal", "error_code", "revised_prompt"),
    }
)
_OBJECTS = frozenset({"input", "arguments", "action", "operation", "tools", "parameters"})


def opaque_text(block: dict[str, Any]) -> str:
    """
    Collect the visible words of a block, in order, joined by line feeds.

    Encrypted values, signatures, ids and base64 data are not words: they are left out, so that
    nobody counts them as text.
    """
    return "\n".join(text for text in _words(block, MAX_DEPTH) if text)


def _words(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, list):
        for item in value:
            yield from _words(item, depth - 1)
    elif depth and isinstance(value, dict):
        for key, item in value.items():
            if key in _OBJECTS:
                yield item if isinstance(item, str) else _json(item)
            elif key in _WORDS or (isinstance(item, (dict, list)) and key != "citations"):
                yield from _words(item, depth - 1)


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=repr)
    except RecursionError:
        return ""


def opaque(wire: dict[str, Any], key: str = "type") -> Opaque:
    """Carry a block along, called what stands under a key."""
    kind = wire.get(key)
    return Opaque(kind if isinstance(kind, str) else "unknown", opaque_text(wire), wire)


ELSEWHERE: Final = frozenset({"tool", "function", "model", "user", "assistant", "developer"})
"""Roles that some dialect knows: in one that does not, the messages are in the wrong format."""


def unknown_role(wire: dict[str, Any], role: str, dialect: str, index: int) -> Message:
    """
    Read a message of an unknown role; see `unknown_message`.

    Raises:
        InputError: It is a role of another dialect.
    """
    if role in ELSEWHERE:
        raise InputError(
            f"unknown role {role!r}",
            index=index,
            field="role",
            hint=f"It belongs to another format than {dialect}; name the right one.",
        )
    return unknown_message(wire, role, dialect)


def unknown_message(wire: dict[str, Any], kind: str, dialect: str) -> Message:
    """
    Read a message or an item of an unknown role or type.

    It may be what the model cannot work without, such as its tools: so it has the role "system",
    which no compaction removes or moves, and a part that none edits.

    Args:
        wire: The message.
        kind: Its role or type.
        dialect: The name of the dialect that it is in.
    """
    return Message("system", (Opaque(kind[:80], opaque_text(wire), raw=wire),), wire, dialect)
