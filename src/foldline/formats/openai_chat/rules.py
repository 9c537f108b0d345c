"""The strict rules of OpenAI chat completions: what a server rejects with status 400."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foldline.formats.dialect import PairingTurn, Violation, pairing_violations

ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})


def violations(messages: Sequence[Any]) -> list[Violation]:
    """
    Check a conversation against the rules.

    There are messages; roles are known; no message is empty; every assistant message with calls
    is followed at once by exactly one tool message for each of its calls (the last one may still
    wait); ids are unique within a message; function arguments are a string. The older
    ``function_call`` is answered by a message of the role function.
    """
    if not messages:
        return [Violation(0, "messages", "empty", "there are no messages")]
    found: list[Violation] = []
    turns: list[PairingTurn] = []
    for index, message in enumerate(messages):
        role = message.get("role") if isinstance(message, dict) else None
        if not isinstance(role, str) or role not in ROLES:
            found.append(Violation(index, "role", "role", f"unknown role {role!r}"))
        elif role == "tool":
            found += _answer(message, index, turns)
        elif role == "function":
            found += _legacy_answer(message, index, turns)
        else:
            found += _spoken(message, role, index, turns)
    return sorted([*found, *pairing_violations(turns)], key=lambda violation: violation.index)


def _spoken(
    message: dict[str, Any], role: str, index: int, turns: list[PairingTurn]
) -> list[Violation]:
    calls, found = _calls(message, index) if role == "assistant" else ((), [])
    turns.append(PairingTurn(index, calls))
    if not calls and not found and not _has_content(message):
        found.append(Violation(index, "content", "empty", "the message says nothing"))
    return found


def _has_content(message: dict[str, Any]) -> bool:
    return any(bool(message.get(key)) for key in ("content", "refusal", "audio"))


def _answer(message: dict[str, Any], index: int, turns: list[PairingTurn]) -> list[Violation]:
    number = message.get("tool_call_id")
    if not isinstance(number, str):
        return [Violation(index, "tool_call_id", "pairing", "the result names no call")]
    turns.append(PairingTurn(index, answers=number))
    if not isinstance(message.get("content"), (str, list)):
        return [Violation(index, "content", "type", "the content must be a string or a list")]
    return []


def _legacy_answer(
    message: dict[str, Any], index: int, turns: list[PairingTurn]
) -> list[Violation]:
    name = message.get("name")
    if not isinstance(name, str):
        return [Violation(index, "name", "pairing", "the result names no function")]
    turns.append(PairingTurn(index, answers=_legacy_id(name)))
    return []


def _legacy_id(name: str) -> str:
    return f"function {name}"


def _calls(
    message: dict[str, Any], index: int
) -> tuple[tuple[tuple[str, str], ...], list[Violation]]:
    """Return the ids of the calls with their fields, and what is wrong with the calls."""
    listed = message.get("tool_calls")
    legacy = message.get("function_call")
    if listed is None and isinstance(legacy, dict) and isinstance(legacy.get("name"), str):
        call = (_legacy_id(legacy["name"]), "function_call")
        return (call,), _function(legacy, index, "function_call")
    if listed is None:
        return (), []
    if not isinstance(listed, list) or not listed:
        text = "tool_calls must be a list that is not empty"
        return (), [Violation(index, "tool_calls", "type", text)]
    found: list[Violation] = []
    calls = []
    for position, call in enumerate(listed):
        field = f"tool_calls[{position}]"
        number = call.get("id") if isinstance(call, dict) else None
        if not isinstance(number, str) or not number:
            found.append(Violation(index, f"{field}.id", "type", "the call has no id"))
            continue
        calls.append((number, f"{field}.id"))
        if call.get("type") != "custom":
            found += _function(call.get("function"), index, f"{field}.function")
    return tuple(calls), found


def _function(function: Any, index: int, field: str) -> list[Violation]:
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        return [Violation(index, field, "type", "the call names no function")]
    if not isinstance(function.get("arguments"), str):
        path = f"{field}.arguments"
        return [Violation(index, path, "arguments", "the arguments are not a string")]
    return []
