"""What providers demand of Pydantic AI messages: known kinds, something said, paired calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from foldline.formats.dialect import PairingTurn, Violation, pairing_violations


def violations(wire: Any) -> list[Violation]:
    """
    Check a conversation against the rules.

    Messages are requests or responses with parts; texts are not empty; every tool call has a
    name, an id and arguments, and is answered in the request behind its response, exactly once
    (the last ones may still wait).
    """
    if not isinstance(wire, list):
        return [Violation(0, "", "type", "the messages are no list")]
    found: list[Violation] = []
    turns: list[PairingTurn] = []
    for index, message in enumerate(wire):
        kind = message.get("kind") if isinstance(message, dict) else None
        parts = message.get("parts") if isinstance(message, dict) else None
        if kind not in ("request", "response") or not isinstance(parts, list):
            found.append(Violation(index, "kind", "type", f"unknown kind {str(kind)[:40]!r}"))
            continue
        if not parts:
            found.append(Violation(index, "parts", "empty", "the message says nothing"))
        found += _parts(parts, index, turns, calling=kind == "response")
    return sorted([*found, *pairing_violations(turns)], key=lambda violation: violation.index)


def _parts(
    parts: list[Any], index: int, turns: list[PairingTurn], *, calling: bool
) -> Iterator[Violation]:
    """Check the parts of a message and note its turns: results first come, then what is said."""
    calls: list[tuple[str, str]] = []
    said = False
    for position, part in enumerate(parts):
        field = f"parts[{position}]"
        kind = part.get("part_kind") if isinstance(part, dict) else None
        if not isinstance(kind, str):
            yield Violation(index, f"{field}.part_kind", "type", "the part has no kind")
        elif kind == "tool-call":
            number, broken = _call(part, index, field)
            yield from broken
            calls += [(number, f"{field}.tool_call_id")] if number else []
        elif kind == "tool-return" or (kind == "retry-prompt" and part.get("tool_name")):
            yield from _answer(part, index, field, turns)
        else:
            said = True
            yield from _text(part, kind, index, field)
    if calling or said:
        turns.append(PairingTurn(index, tuple(calls)))


def _call(part: dict[str, Any], index: int, field: str) -> tuple[str, list[Violation]]:
    found = []
    number, args = part.get("tool_call_id"), part.get("args")
    if not isinstance(number, str) or not number:
        found.append(Violation(index, f"{field}.tool_call_id", "type", "the call has no id"))
        number = ""
    if not isinstance(part.get("tool_name"), str) or not part["tool_name"]:
        found.append(Violation(index, f"{field}.tool_name", "type", "the call names no tool"))
    if not isinstance(args, (str, dict, type(None))):
        text = "the arguments are no object and no text"
        found.append(Violation(index, f"{field}.args", "arguments", text))
    return number, found


def _answer(
    part: dict[str, Any], index: int, field: str, turns: list[PairingTurn]
) -> Iterator[Violation]:
    number = part.get("tool_call_id")
    if not isinstance(number, str) or not number:
        yield Violation(index, f"{field}.tool_call_id", "pairing", "the result names no call")
        return
    turns.append(PairingTurn(index, answers=number))
    if not isinstance(part.get("tool_name"), str):
        yield Violation(index, f"{field}.tool_name", "type", "the result names no tool")


def _text(part: dict[str, Any], kind: str, index: int, field: str) -> Iterator[Violation]:
    if kind not in ("text", "user-prompt", "system-prompt"):
        return
    content = part.get("content")
    allowed = (str, list) if kind == "user-prompt" else (str,)
    if not isinstance(content, allowed):
        yield Violation(index, f"{field}.content", "type", "the content has the wrong type")
    elif not content:
        yield Violation(index, f"{field}.content", "empty", "the part says nothing")
