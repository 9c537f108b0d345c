"""Replacements of parts: stubs of cleared results, and shortened call arguments, still JSON."""

from __future__ import annotations

import json
from typing import Any

from foldline.core.strategy import CompactionContext
from foldline.values.call_arguments import parse_arguments
from foldline.values.edits import Rewrite, rewrite_text
from foldline.values.handles import part_handle
from foldline.values.messages import ToolCall, ToolResult
from foldline.values.view import View

CLEARED = "[Cleared: "
DEPTH = 8
"""Levels of nested argument values that are shortened; deeper ones are unchanged."""


def is_stub(text: str) -> bool:
    """Return True if a text is a stub that an earlier edit left."""
    return text.startswith(CLEARED)


def write_stub(result: ToolResult, tokens: int, handle: str, why: str) -> str:
    """Write the stub of a cleared tool result of ``tokens`` tokens."""
    tool = f" of {result.name}" if result.name else ""
    failed = ", which reported an error" if result.is_error else ""
    return f"{CLEARED}{tokens:,} tokens{tool}{failed}, {why}; recall {handle}]"


def clear(
    view: View, context: CompactionContext, index: int, part: int, kind: str, why: str
) -> Rewrite | None:
    """
    Propose to clear one tool result.

    Returns:
        The edit; None if the result is a stub already or would not become smaller.
    """
    message = view.messages[index]
    result = message.parts[part]
    if not isinstance(result, ToolResult) or is_stub(result.text) or message.origin:
        return None
    tokens = view.counter.part(result)
    handle = part_handle(context.handles.get(message.id, message.id), message, part)
    edit = Rewrite(message.id, part, write_stub(result, tokens, handle, why), kind, handle)
    shorter = view.counter.part(rewrite_text(result, edit))
    return edit if shorter < tokens else None


def short_arguments(call: ToolCall, share: float, handle: str) -> str:
    """
    Shorten the long strings in call arguments.

    Args:
        call: The call.
        share: The fraction of each long string to keep.
        handle: The handle that recalls the whole arguments.

    Returns:
        JSON of the same shape, or shortened free text where the arguments are not JSON; the
        same string where nothing in it is long.
    """
    value = parse_arguments(call.arguments)
    if value is None:
        return _short(call.arguments, share, handle)
    short = _shorten(value, share, handle, DEPTH)
    return call.arguments if short == value else json.dumps(short, ensure_ascii=False)


def _shorten(value: Any, share: float, handle: str, depth: int) -> Any:
    if isinstance(value, str):
        return _short(value, share, handle)
    if depth and isinstance(value, dict):
        return {key: _shorten(inner, share, handle, depth - 1) for key, inner in value.items()}
    if depth and isinstance(value, list):
        return [_shorten(inner, share, handle, depth - 1) for inner in value]
    return value


def _short(text: str, share: float, handle: str) -> str:
    keep = int(len(text) * share)
    note = f"[… {len(text) - keep:,} characters; recall {handle} …]"
    if len(text) < 200 or keep + len(note) >= len(text):
        return text
    head = keep * 2 // 5
    return f"{text[:head]}{note}{text[len(text) - (keep - head) :]}"
