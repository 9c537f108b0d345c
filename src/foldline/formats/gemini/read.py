"""Reading Gemini contents and parts, in camelCase (REST) and snake_case (Python SDK)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Any

from foldline.formats.blocks import media_part, unknown_role
from foldline.formats.fields import expect, read_objects, role_name, text_or
from foldline.formats.tool_json import CallShape, json_text
from foldline.frozen import replace
from foldline.values.messages import (
    Content,
    Message,
    Opaque,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

NAME = "gemini"

CALL = CallShape("args")


ROLES: dict[str, Role] = {"user": "user", "model": "assistant", "function": "tool"}


def read_system_and_tools(around: dict[str, Any]) -> tuple[str, tuple[Any, ...]]:
    """Return the system text and the tools; the Python SDK puts both under ``config``."""
    config = around.get("config")
    places = [around, config] if isinstance(config, dict) else [around]
    system = next((_system(p) for p in places if get(p, "systemInstruction") is not None), "")
    tools: Any = next((p["tools"] for p in places if p.get("tools") is not None), [])
    return system, tuple(expect(tools, list, None, "tools"))


def _system(place: dict[str, Any]) -> str:
    value = get(place, "systemInstruction")
    if isinstance(value, str):
        return value
    field = spelling(place, "systemInstruction")
    parts = expect(value, dict, None, field).get("parts")
    parts = [parts] if isinstance(parts, dict) else expect(parts or [], list, None, field)
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def read_message(item: Any, index: int) -> Message:
    """
    Read one message.

    Raises:
        InputError: Naming the message index and the field.
    """
    wire = expect(item, dict, index, "")
    role = ROLES.get(role_name(wire, index))
    if role is None:
        return unknown_role(wire, wire["role"], NAME, index)
    parts = tuple(read_objects(wire.get("parts"), index, "parts", read_part))
    if role == "user" and parts and all(isinstance(part, ToolResult) for part in parts):
        role = "tool"
    return Message(role, parts, wire, NAME)


def match_ids(messages: list[Message]) -> list[Message]:
    """
    Match ids if only one side of a pair has one, so that calls and results are paired.

    Clients send results with their own ids for calls that have none, and the reverse.
    """
    waiting: dict[str, list[str | None]] = {}
    known: Counter[str] = Counter()
    out = []
    for message in messages:
        parts: list[Part] = []
        for part in message.parts:
            if isinstance(part, ToolCall):
                waiting.setdefault(part.name, []).append(part.id)
                known.update([part.id] if part.id else [])
            elif isinstance(part, ToolResult):
                part = _match_id(part, waiting.get(part.name, []), known)
            parts.append(part)
        out.append(replace(message, parts=tuple(parts)))
    return out


def _match_id(result: ToolResult, waiting: list[str | None], known: Counter[str]) -> ToolResult:
    if result.call_id in waiting:
        waiting.remove(result.call_id)
        return result
    if not waiting or (result.call_id and known[result.call_id]):
        return result
    if result.call_id is None:
        return replace(result, call_id=waiting.pop(0))
    if None in waiting:
        waiting.remove(None)
        return replace(result, call_id=None)
    return result


ANSWER_KEYS = ("output", "error", "result", "content")
"""Keys of a function response that may hold the text, in order of preference."""


SMALL = 200
"""Longest field, in characters, that counts as metadata beside the answer, such as exit codes."""


def spelling(wire: Mapping[str, Any], field: str) -> str:
    """Return the key of a field in the spelling that ``wire`` uses."""
    return field if wire.get(field) is not None else _snake_case(field)


@cache
def _snake_case(field: str) -> str:
    return re.sub("(?=[A-Z])", "_", field).lower()


def get(wire: Mapping[str, Any], field: str) -> Any:
    """Return a field in either spelling; None if it is missing."""
    return wire.get(spelling(wire, field))


def read_part(wire: dict[str, Any], index: int, field: str) -> Part:
    """
    Read one part.

    Raises:
        InputError: A known field has a wrong type.
    """
    signed = get(wire, "thoughtSignature") is not None
    if get(wire, "functionCall") is not None:
        path = f"{field}.functionCall"
        call = CALL.read(expect(get(wire, "functionCall"), dict, index, path), index, path)
        return replace(call, signed=signed, raw=wire)
    if get(wire, "functionResponse") is not None:
        return _result(wire, index, f"{field}.functionResponse")
    if wire.get("text") is not None:
        text = expect(wire["text"], str, index, f"{field}.text")
        if wire.get("thought") or (signed and not text):
            return Thinking(text, signed, wire)
        return Text(text, wire)
    return media_part(wire) or _other(wire, signed)


def _other(wire: dict[str, Any], signed: bool) -> Part:
    for field, key in (("executableCode", "code"), ("codeExecutionResult", "output")):
        inner = get(wire, field)
        if isinstance(inner, dict):
            return Opaque(field, text_or(inner.get(key), ""), wire)
    named = [key for key, value in wire.items() if value is not None]
    if signed and set(named) <= {"thought", "thoughtSignature", "thought_signature"}:
        return Thinking("", True, wire)
    return Opaque(named[0] if named and isinstance(named[0], str) else "empty", raw=wire)


def _result(wire: dict[str, Any], index: int, field: str) -> ToolResult:
    answer = expect(get(wire, "functionResponse"), dict, index, field)
    number = expect(answer.get("id"), (str, type(None)), index, f"{field}.id")
    name = expect(answer.get("name"), (str, type(None)), index, f"{field}.name")
    response = expect(answer.get("response"), (dict, type(None)), index, f"{field}.response")
    failed = isinstance(response, dict) and response.get("error") is not None
    content = answer_content(answer, index, f"{field}.response")
    return ToolResult(number or None, content, name or "", failed, wire)


def answer_content(answer: dict[str, Any], index: int | None, field: str) -> tuple[Content, ...]:
    """Read the answer of a function response, and the media beside it."""
    response = answer.get("response") or {}
    key = answer_key(response)
    value = response if key is None else response[key]
    text = value if isinstance(value, str) else json_text(value, index, field)
    attached = answer.get("parts")
    media = [media_part(part) for part in attached] if isinstance(attached, list) else []
    return (Text(text), *(part for part in media if part is not None))


def answer_key(response: Mapping[str, Any]) -> str | None:
    """Return the key that holds the answer, None if the whole response is the answer."""
    key = next((key for key in ANSWER_KEYS if response.get(key) is not None), None)
    if key is None or not all(is_small(v) for k, v in response.items() if k != key):
        return None
    return key


def is_small(value: Any) -> bool:
    """Return True for a value that counts as metadata beside the answer."""
    if isinstance(value, str):
        return len(value) <= SMALL
    return value is None or isinstance(value, (int, float))
