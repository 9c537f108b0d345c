"""What a model reads in a block that this library carries along without understanding it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

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
