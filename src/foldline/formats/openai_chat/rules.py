"""The strict rules of OpenAI chat completions, whose violation is rejected with status 400."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from foldline.formats.dialect import PairingTurn, Violation, check_fields, check_pairing, is_a
from foldline.formats.openai_chat.read import ROLES

CallPlace: TypeAlias = tuple[str, str]
"""The id of a call, and the field that holds it."""

_CONTENT = (("content", is_a(str, list), "type", "the content must be a string or a list"),)
_ARGUMENTS = (("arguments", is_a(str), "arguments", "the arguments are not a string"),)


def violations(messages: Sequence[Any]) -> list[Violation]:
    """
    Check a conversation against the rules.

    There are messages; roles are known; no message is empty; every assistant message with calls
    is followed directly by exactly one tool message for each of its calls (those of the last one
    may be pending); ids are unique within a message; function arguments are a string. The older
    ``function_call`` is answered by a message of the role function.
    """
    if not messages:
        return [Violation(0, "messages", "empty", "there are no messages")]
    return check_pairing(f for index, one in enumerate(messages) for f in _message(one, index))


def _message(message: Any, index: int) -> Iterator[Violation | PairingTurn]:
    role = message.get("role") if isinstance(message, dict) else None
    if not isinstance(role, str) or role not in ROLES:
        yield Violation(index, "role", "role", f"unknown role {role!r}")
    elif role == "tool":
        number = message.get("tool_call_id")
        if isinstance(number, str):
            yield PairingTurn(index, answers=number)
            yield from check_fields(message, _CONTENT, index)
        else:
            yield Violation(index, "tool_call_id", "pairing", "the result names no call")
    elif role == "function":
        name = message.get("name")
        if isinstance(name, str):
            yield PairingTurn(index, answers=_legacy_id(name))
        else:
            yield Violation(index, "name", "pairing", "the result names no function")
    else:
        found = list(_calls(message, index)) if role == "assistant" else []
        yield PairingTurn(index, tuple(one for one in found if isinstance(one, tuple)))
        yield from (one for one in found if isinstance(one, Violation))
        has_content = any(message.get(key) for key in ("content", "refusal", "audio"))
        if not found and not has_content:
            yield Violation(index, "content", "empty", "the message is empty")


def _legacy_id(name: str) -> str:
    return f"function {name}"


def _calls(message: dict[str, Any], index: int) -> Iterator[CallPlace | Violation]:
    """Yield the ids of the calls with their fields, and the violations of the calls."""
    listed, legacy = message.get("tool_calls"), message.get("function_call")
    if listed is None and isinstance(legacy, dict) and isinstance(legacy.get("name"), str):
        yield _legacy_id(legacy["name"]), "function_call"
        yield from _function(legacy, index, "function_call")
    elif listed is not None and (not isinstance(listed, list) or not listed):
        text = "tool_calls must be a list that is not empty"
        yield Violation(index, "tool_calls", "type", text)
    for position, call in enumerate(listed if isinstance(listed, list) else ()):
        field = f"tool_calls[{position}]"
        number = call.get("id") if isinstance(call, dict) else None
        if not isinstance(number, str) or not number:
            yield Violation(index, f"{field}.id", "type", "the call has no id")
            continue
        yield number, f"{field}.id"
        if call.get("type") != "custom":
            yield from _function(call.get("function"), index, f"{field}.function")


def _function(function: Any, index: int, field: str) -> Iterator[Violation]:
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        yield Violation(index, field, "type", "the call names no function")
    else:
        yield from check_fields(function, _ARGUMENTS, index, field)
