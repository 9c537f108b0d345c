"""Gemini parts: one neutral part each, in camelCase (REST) and snake_case (Python SDK)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foldline.formats.arguments import arguments_object, arguments_text, json_text
from foldline.formats.dialect import expect
from foldline.formats.foreign import note
from foldline.formats.media_blocks import media_part, media_source
from foldline.values.messages import (
    Content,
    Media,
    Omitted,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

SNAKE: Mapping[str, str] = {
    "functionCall": "function_call",
    "functionResponse": "function_response",
    "thoughtSignature": "thought_signature",
    "executableCode": "executable_code",
    "codeExecutionResult": "code_execution_result",
    "inlineData": "inline_data",
    "fileData": "file_data",
    "systemInstruction": "system_instruction",
}
"""Both spellings of the fields that are read here."""

ANSWER_KEYS = ("output", "error", "result", "content")
"""Keys of a function response that hold the text, in the order in which they are looked for."""

SMALL = 200
"""Longest text, in characters, of a field that counts as a note beside the answer (exit codes)."""


def spelling(wire: Mapping[str, Any], field: str) -> str:
    """Return the key under which ``wire`` has a field, in its own spelling."""
    return field if wire.get(field) is not None else SNAKE[field]


def get(wire: Mapping[str, Any], field: str) -> Any:
    """Return a field in either spelling; None where it is missing."""
    return wire.get(spelling(wire, field))


# --- reading -------------------------------------------------------------------------------


def read_part(wire: dict[str, Any], index: int, field: str) -> Part:
    """
    Read one part.

    Raises:
        InputError: A known field has a wrong type.
    """
    signed = get(wire, "thoughtSignature") is not None
    if get(wire, "functionCall") is not None:
        return _call(wire, signed, index, f"{field}.functionCall")
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
            return Opaque(field, _text(inner.get(key)), wire)
    told = [key for key, value in wire.items() if value is not None]
    if signed and set(told) <= {"thought", "thoughtSignature", "thought_signature"}:
        return Thinking("", True, wire)
    return Opaque(told[0] if told and isinstance(told[0], str) else "empty", raw=wire)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _call(wire: dict[str, Any], signed: bool, index: int, field: str) -> ToolCall:
    call = expect(get(wire, "functionCall"), dict, index, field)
    number = expect(call.get("id"), (str, type(None)), index, f"{field}.id")
    name = expect(call.get("name"), str, index, f"{field}.name")
    arguments = arguments_text(call.get("args"), index, f"{field}.args")
    return ToolCall(number or None, name, arguments, signed, wire)


def _result(wire: dict[str, Any], index: int, field: str) -> ToolResult:
    answer = expect(get(wire, "functionResponse"), dict, index, field)
    number = expect(answer.get("id"), (str, type(None)), index, f"{field}.id")
    name = expect(answer.get("name"), (str, type(None)), index, f"{field}.name")
    response = expect(answer.get("response"), (dict, type(None)), index, f"{field}.response")
    failed = isinstance(response, dict) and response.get("error") is not None
    content = _answer_content(answer, index, f"{field}.response")
    return ToolResult(number or None, content, name or "", failed, wire)


def _answer_content(answer: dict[str, Any], index: int | None, field: str) -> tuple[Content, ...]:
    response = answer.get("response") or {}
    key = _answer_key(response)
    value = response if key is None else response[key]
    text = value if isinstance(value, str) else json_text(value, index, field)
    attached = answer.get("parts")
    media = [media_part(part) for part in attached] if isinstance(attached, list) else []
    return (Text(text), *(part for part in media if part is not None))


def _answer_key(response: Mapping[str, Any]) -> str | None:
    """Return the key that holds the answer, None when all of the response is the answer."""
    key = next((key for key in ANSWER_KEYS if response.get(key) is not None), None)
    if key is None or not all(_is_small(v) for k, v in response.items() if k != key):
        return None
    return key


def _is_small(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= SMALL
    return value is None or isinstance(value, (int, float))


# --- writing -------------------------------------------------------------------------------


def write_part(part: Part, own: bool) -> dict[str, Any] | None:
    """
    Write one part.

    Args:
        part: What to write.
        own: Whether the ``raw`` of the part is a Gemini part.

    Returns:
        The wire part, or None for what is not sent: omitted parts, empty texts, and signed
        reasoning of another provider.
    """
    wire = part.raw if own and not isinstance(part, Omitted) else None
    match part:
        case ToolCall():
            return _call_wire(part, wire)
        case ToolResult():
            return _result_wire(part, wire)
        case Omitted():
            return None
        case _ if isinstance(wire, dict):
            return wire
        case Text(text):
            return {"text": text} if text else None
        case Thinking():
            return {"text": part.text, "thought": True} if part.text and not part.signed else None
        case Media() | Opaque():
            return _foreign_media(part)


def _foreign_media(part: Media | Opaque) -> dict[str, Any]:
    source = media_source(part.raw)
    if source is None or not source.data or not source.media_type:
        return {"text": note(part)}
    return {"inlineData": {"mimeType": source.media_type, "data": source.data}}


def _call_wire(call: ToolCall, wire: Any) -> dict[str, Any]:
    if not isinstance(wire, dict):
        number = {"id": call.id} if call.id else {}
        args = arguments_object(call.arguments)
        return {"functionCall": {**number, "name": call.name, "args": args}}
    key = spelling(wire, "functionCall")
    if arguments_text(wire[key].get("args"), None, "args") == call.arguments:
        return wire
    return {**wire, key: {**wire[key], "args": arguments_object(call.arguments)}}


def _result_wire(result: ToolResult, wire: Any) -> dict[str, Any]:
    if not isinstance(wire, dict):
        return _foreign_result(result)
    key = spelling(wire, "functionResponse")
    answer = wire[key]
    if _answer_content(answer, None, "response") == result.content:
        return wire
    changed = {**answer, "response": _response(answer.get("response") or {}, result)}
    if isinstance(answer.get("parts"), list):
        kept = [part.raw for part in result.content if isinstance(part, Media)]
        changed["parts"] = [part for part in answer["parts"] if part in kept]
    return {**wire, key: changed}


def _response(response: Mapping[str, Any], result: ToolResult) -> dict[str, Any]:
    """Put other text where the answer stood; short fields such as an exit code stay."""
    key = _answer_key(response)
    if key is not None:
        return {**response, key: result.text}
    beside = {k: v for k, v in response.items() if _is_small(v) and k not in ANSWER_KEYS}
    return {**beside, "error" if result.is_error else "output": result.text}


def _foreign_result(result: ToolResult) -> dict[str, Any]:
    number = {"id": result.call_id} if result.call_id else {}
    texts = [note(p) if isinstance(p, (Media, Opaque)) else p.text for p in result.content]
    response = {"error" if result.is_error else "output": "\n".join(texts)}
    name = result.name or result.call_id or "unknown"
    return {"functionResponse": {**number, "name": name, "response": response}}
