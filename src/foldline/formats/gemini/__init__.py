"""Gemini contents: turns of the roles user and model, made of parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from foldline.formats.blocks import media_source
from foldline.formats.conversion import (
    OPENING_TURN,
    adapt,
    flat_text,
    is_own,
    leading_system,
    placeholder,
)
from foldline.formats.dialect import Dialect, in_body
from foldline.formats.gemini.read import (
    ANSWER_KEYS,
    CALL,
    NAME,
    answer_content,
    answer_key,
    get,
    is_small,
    match_ids,
    read_message,
    read_system_and_tools,
    spelling,
)
from foldline.formats.gemini.rules import violations
from foldline.formats.tool_json import tool_schemas
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
from foldline.values.transcript import Transcript


class GeminiDialect(Dialect):
    """The contents of ``generateContent``."""

    name = NAME
    title = "Gemini contents"
    provider = "gemini"
    key = "contents"

    def recognises(self, wire: Any) -> float:
        """Return the confidence that a value is in this dialect, from 0 to 1."""
        items = wire.get("contents") if isinstance(wire, dict) else wire
        if not isinstance(items, list) or not items:
            return 0.0
        return float(isinstance(wire, dict) or any(map(_is_content, items)))

    read = staticmethod(read_message)
    rules = staticmethod(violations)
    link = staticmethod(match_ids)
    system_and_tools = staticmethod(read_system_and_tools)

    def convert(self, transcript: Transcript, *, own: bool) -> Any:
        """
        Write a list of contents, or a request if there are tools or a system text.

        Contents cannot hold these.
        """
        if own:
            return self.messages(transcript.messages)
        system, rest = leading_system(transcript)
        items = self.messages(rest)
        if items and items[0]["role"] == "model":
            items.insert(0, {"role": "user", "parts": [{"text": OPENING_TURN}]})
        declared = [schema.as_object("parameters") for schema in tool_schemas(transcript.tools)]
        around = {
            "systemInstruction": {"parts": [{"text": system}]} if system else None,
            "tools": [{"functionDeclarations": declared}] if declared else None,
        }
        return in_body(items, self.key, around)

    def messages(self, messages: Sequence[Message]) -> list[Any]:
        """Write messages; results of one turn share a content, empty messages are omitted."""
        out: list[Any] = []
        last: Message | None = None
        for message in adapt(messages, self.name):
            content = write_content(message)
            if content is None:
                continue
            answers = last is not None and bool(last.results) and message.role == "tool"
            # These results belong to the previous content, some of which were made here.
            if last and answers and not (is_own(last, NAME) and is_own(message, NAME)):
                joined = [*out[-1]["parts"], *content["parts"]]
                before = out[-2]["parts"] if len(out) > 1 else []
                out[-1] = {**out[-1], "parts": _in_call_order(joined, before)}
            else:
                out.append(content)
            last = message
        return out


def _is_content(item: Any) -> bool:
    # Pydantic AI's messages have parts too, but also a kind.
    return isinstance(item, dict) and isinstance(item.get("parts"), list) and "kind" not in item


def _in_call_order(parts: list[Any], before: list[Any]) -> list[Any]:
    """Return responses in the order of their calls; anything else as it is."""
    places: dict[tuple[Any, Any], int] = {}
    for part in before:
        call = get(part, "functionCall") if isinstance(part, dict) else None
        if isinstance(call, dict):
            places.setdefault((call.get("name"), call.get("id")), len(places))
    answers = [get(part, "functionResponse") for part in parts]
    if not all(isinstance(answer, dict) for answer in answers):
        return parts
    numbers = [places.get((a.get("name"), a.get("id")), len(places)) for a in answers if a]
    order = sorted(range(len(parts)), key=numbers.__getitem__)
    return [parts[index] for index in order]


SKIP_SIGNATURE = "skip_thought_signature_validator"
"""The signature that Google documents for function calls not made by the model."""


def write_content(message: Message) -> dict[str, Any] | None:
    """Write a message as a content; None if no part of it is sent."""
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
    Keep the first of parallel calls signed, as the API requires if the calls were signed.

    The signature covers the model's output. If the signed call was removed or its arguments
    changed, the first call gets the documented placeholder.
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
        part: The part.
        own: Whether the ``raw`` of the part is a Gemini part.

    Returns:
        The wire part, or None if it is not sent: omitted parts, empty texts, and signed
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
        return {"text": placeholder(part)}
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
    """Replace the text of the answer; short fields such as an exit code are kept."""
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
