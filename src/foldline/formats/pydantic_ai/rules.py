"""Provider rules for Pydantic AI messages: known kinds, no empty message, paired calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from foldline.formats.dialect import (
    FieldCheck,
    PairingTurn,
    Violation,
    check_fields,
    check_pairing,
    is_a,
    is_filled,
)

_TEXT = (("content", is_a(str), "type", "the content has the wrong type"),)
_CALL: tuple[FieldCheck, ...] = (
    ("tool_call_id", is_filled, "type", "the call has no id"),
    ("tool_name", is_filled, "type", "the call names no tool"),
    ("args", is_a(str, dict, type(None)), "arguments", "they are not an object or a text"),
)
_CHECKS: Mapping[str, tuple[FieldCheck, ...]] = {
    "text": _TEXT,
    "system-prompt": _TEXT,
    "user-prompt": (("content", is_a(str, list), "type", "the content has the wrong type"),),
}
"""The checks for each kind of part with content."""


def violations(messages: Sequence[Any]) -> list[Violation]:
    """
    Check a conversation against the rules.

    Messages are requests or responses with parts; texts are not empty; every tool call has a
    name, an id and arguments, and is answered exactly once in the request after its response
    (the last ones may be pending).
    """
    return check_pairing(f for index, one in enumerate(messages) for f in _message(one, index))


def _message(message: Any, index: int) -> Iterator[Violation | PairingTurn]:
    """Check the parts of a message and yield its turns: results first, then the other parts."""
    kind = message.get("kind") if isinstance(message, dict) else None
    parts = message.get("parts") if isinstance(message, dict) else None
    if kind not in ("request", "response") or not isinstance(parts, list):
        yield Violation(index, "kind", "type", f"unknown kind {str(kind)[:40]!r}")
        return
    if not parts:
        yield Violation(index, "parts", "empty", "the message is empty")
    calls: list[tuple[str, str]] = []
    has_content = kind == "response"
    for position, part in enumerate(parts):
        field = f"parts[{position}]"
        part_kind = part.get("part_kind") if isinstance(part, dict) else None
        if not isinstance(part_kind, str):
            yield Violation(index, f"{field}.part_kind", "type", "the part has no kind")
        elif part_kind == "tool-call":
            yield from check_fields(part, _CALL, index, field)
            if is_filled(part.get("tool_call_id")):
                calls.append((part["tool_call_id"], f"{field}.tool_call_id"))
        elif part_kind == "tool-return" or (part_kind == "retry-prompt" and part.get("tool_name")):
            yield from _answer(part, index, field)
        else:
            has_content = True
            wrong = list(check_fields(part, _CHECKS.get(part_kind, ()), index, field))
            yield from wrong
            if part_kind in _CHECKS and not wrong and not part["content"]:
                yield Violation(index, f"{field}.content", "empty", "the part is empty")
    if has_content:
        yield PairingTurn(index, tuple(calls))


def _answer(part: dict[str, Any], index: int, field: str) -> Iterator[Violation | PairingTurn]:
    number = part.get("tool_call_id")
    if not is_filled(number):
        yield Violation(index, f"{field}.tool_call_id", "pairing", "the result names no call")
        return
    yield PairingTurn(index, answers=number)
    if not isinstance(part.get("tool_name"), str):
        yield Violation(index, f"{field}.tool_name", "type", "the result names no tool")
