"""Writing Gemini contents and parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foldline.formats.blocks import media_source
from foldline.formats.foreign import flat_text, is_own, note
from foldline.formats.gemini.read import (
    ANSWER_KEYS,
    CALL,
    NAME,
    answer_content,
    answer_key,
    get,
    is_small,
    spelling,
)
from foldline.values.messages import (
    Media,
    Message,
    Omitted,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

SKIP_SIGNATURE = "skip_thought_signature_validator"
"""What Google documents as the signature of function calls that the model did not make so."""


def write_content(message: Message) -> dict[str, Any] | None:
    """Write a message as a content; None when nothing of it is sent."""
    own = is_own(message, NAME)
    if own and message.intact:
        content: dict[str, Any] = message.raw
        return content
    written = [write_part(part, own) for part in message.parts]
    parts = [part for part in written if part is not None]
    if not parts:
        return None
    if not own:
        return {"role": "model" if message.role == "assistant" else "user", "parts": parts}
    return {**message.raw, "parts": _keep_signed(parts, message)}


def _keep_signed(parts: list[dict[str, Any]], message: Message) -> list[dict[str, Any]]:
    """
    Keep the first of parallel calls signed, as the API demands where calls came signed.

    The signature covers what the model wrote. Where the signed call was left out or its arguments
    were changed, the first call gets the documented placeholder instead.
    """
    calls = [i for i, part in enumerate(parts) if get(part, "functionCall") is not None]
    before = [p for p in message.raw.get("parts") or [] if get(p, "functionCall") is not None]
    if not calls or not before or get(before[0], "thoughtSignature") is None:
        return parts
    first = calls[0]
    if parts[first] != before[0]:
        parts[first] = {**parts[first], spelling(before[0], "thoughtSignature"): SKIP_SIGNATURE}
    return parts


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
        function = CALL.write(call, None)
        return {"functionCall": {k: v for k, v in function.items() if v or k != "id"}}
    key = spelling(wire, "functionCall")
    function = CALL.write(call, wire[key])
    return wire if function is wire[key] else {**wire, key: function}


def _result_wire(result: ToolResult, wire: Any) -> dict[str, Any]:
    if not isinstance(wire, dict):
        return _foreign_result(result)
    key = spelling(wire, "functionResponse")
    answer = wire[key]
    if answer_content(answer, None, "response") == result.content:
        return wire
    changed = {**answer, "response": _response(answer.get("response") or {}, result)}
    if isinstance(answer.get("parts"), list):
        kept = [part.raw for part in result.content if isinstance(part, Media)]
        changed["parts"] = [part for part in answer["parts"] if part in kept]
    return {**wire, key: changed}


def _response(response: Mapping[str, Any], result: ToolResult) -> dict[str, Any]:
    """Put other text where the answer stood; short fields such as an exit code stay."""
    key = answer_key(response)
    if key is not None:
        return {**response, key: result.text}
    beside = {k: v for k, v in response.items() if is_small(v) and k not in ANSWER_KEYS}
    return {**beside, "error" if result.is_error else "output": result.text}


def _foreign_result(result: ToolResult) -> dict[str, Any]:
    number = {"id": result.call_id} if result.call_id else {}
    response = {"error" if result.is_error else "output": flat_text(result.content)}
    name = result.name or result.call_id or "unknown"
    return {"functionResponse": {**number, "name": name, "response": response}}
