"""Gemini contents: turns of the roles user and model, made of parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from foldline.errors import InputError
from foldline.formats.dialect import Violation, body, expect
from foldline.formats.foreign import START, adapted, is_own
from foldline.formats.gemini_parts import get, read_part, spelling, write_part
from foldline.formats.gemini_rules import violations
from foldline.formats.nesting import bounded_nesting
from foldline.formats.tool_schemas import ToolSchema, tool_schemas
from foldline.formats.unknown import unknown_role
from foldline.values.messages import Message, Part, Role, ToolCall, ToolResult
from foldline.values.transcript import Transcript

ROLES: dict[str, Role] = {"user": "user", "model": "assistant", "function": "tool"}

SKIP_SIGNATURE = "skip_thought_signature_validator"
"""What Google documents as the signature of function calls that the model did not make so."""


class Gemini:
    """The contents of ``generateContent``."""

    name = "gemini"
    title = "Gemini contents"
    provider = "gemini"

    def recognises(self, wire: Any) -> float:
        """Return how sure it is that this value is in the dialect, from 0 to 1."""
        items = wire.get("contents") if isinstance(wire, dict) else wire
        if not isinstance(items, list) or not items:
            return 0.0
        if isinstance(wire, dict):
            return 1.0
        return 1.0 if any(map(_is_content, items)) else 0.0

    def decode(self, wire: Any) -> Transcript:
        """Read a list of contents, or a request with ``contents``, its system text and tools."""
        items, envelope = body(wire, "contents")
        system, tools = _surroundings(envelope or {})
        with bounded_nesting():
            messages = _identified([_message(item, index) for index, item in enumerate(items)])
            return Transcript.of(
                messages, self.name, system=system, tools=tools, envelope=envelope
            )

    def encode(self, transcript: Transcript) -> Any:
        """
        Write a conversation in the shape in which it came.

        One of another dialect becomes a list of contents, or a request when it has tools or a
        system text, which have no place among contents.
        """
        if transcript.dialect == self.name:
            items = self.messages(transcript.messages)
            envelope = transcript.envelope
            return {**envelope, "contents": items} if isinstance(envelope, dict) else items
        lead, rest = _leading_system(transcript.messages)
        items = self.messages(rest)
        if items and items[0]["role"] == "model":
            items.insert(0, {"role": "user", "parts": [{"text": START}]})
        system = "\n\n".join(filter(None, (transcript.system, *lead)))
        around: dict[str, Any] = {}
        if system:
            around["systemInstruction"] = {"parts": [{"text": system}]}
        declared = [_declaration(schema) for schema in tool_schemas(transcript.tools)]
        if declared:
            around["tools"] = [{"functionDeclarations": declared}]
        return {**around, "contents": items} if around else items

    def messages(self, messages: Sequence[Message]) -> list[Any]:
        """Write messages; results of one turn share a content, what says nothing is left out."""
        out: list[Any] = []
        last: Message | None = None
        for message in adapted(messages, self.name):
            content = _content(message)
            if content is None:
                continue
            if last is not None and _joins(last, message):
                joined = [*out[-1]["parts"], *content["parts"]]
                before = out[-2]["parts"] if len(out) > 1 else []
                out[-1] = {**out[-1], "parts": _in_call_order(joined, before)}
            else:
                out.append(content)
            last = message
        return out

    def validate(self, wire: Any) -> list[Violation]:
        """Check the strict rules of the API."""
        try:
            return violations(body(wire, "contents")[0])
        except InputError as error:
            return [Violation(0, error.field, "type", error.message)]


def _is_content(item: Any) -> bool:
    # Pydantic AI's messages have parts too, and a kind.
    return isinstance(item, dict) and isinstance(item.get("parts"), list) and "kind" not in item


# --- reading -------------------------------------------------------------------------------


def _surroundings(envelope: dict[str, Any]) -> tuple[str, tuple[Any, ...]]:
    """Return the system text and the tools; the Python SDK has both under ``config``."""
    config = envelope.get("config")
    places = [envelope, config] if isinstance(config, dict) else [envelope]
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


def _message(item: Any, index: int) -> Message:
    wire = expect(item, dict, index, "")
    role = ROLES.get(expect(wire.get("role"), str, index, "role"))
    if role is None:
        return unknown_role(wire, wire["role"], Gemini.name, index)
    blocks = expect(wire.get("parts"), (list, type(None)), index, "parts") or []
    parts = tuple(_part(block, index, position) for position, block in enumerate(blocks))
    if role == "user" and parts and all(isinstance(part, ToolResult) for part in parts):
        role = "tool"
    return Message(role, parts, wire, Gemini.name)


def _part(block: Any, index: int, position: int) -> Part:
    field = f"parts[{position}]"
    return read_part(expect(block, dict, index, field), index, field)


def _identified(messages: list[Message]) -> list[Message]:
    """
    Agree on ids where only one side of a pair has one, so that calls and results find each other.

    Clients send results with ids of their own for calls that came without, and the reverse.
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
                part = _agreed(part, waiting.get(part.name, []), known)
            parts.append(part)
        out.append(replace(message, parts=tuple(parts)))
    return out


def _agreed(result: ToolResult, waiting: list[str | None], known: Counter[str]) -> ToolResult:
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


# --- writing -------------------------------------------------------------------------------


def _declaration(schema: ToolSchema) -> dict[str, Any]:
    return {
        "name": schema.name,
        "description": schema.description,
        "parameters": schema.parameters,
    }


def _leading_system(messages: Sequence[Message]) -> tuple[list[str], Sequence[Message]]:
    count = 0
    while count < len(messages) and messages[count].role == "system":
        count += 1
    return [message.text for message in messages[:count]], messages[count:]


def _content(message: Message) -> dict[str, Any] | None:
    own = is_own(message, Gemini.name)
    if own and message.intact:
        content: dict[str, Any] = message.raw
        return content
    written = [write_part(part, own) for part in message.parts]
    parts = [part for part in written if part is not None]
    if not parts:
        return None
    if not own:
        return {"role": "model" if message.role == "assistant" else "user", "parts": parts}
    return {**message.raw, "parts": _signed(parts, message)}


def _signed(parts: list[dict[str, Any]], message: Message) -> list[dict[str, Any]]:
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
        key = spelling(before[0], "thoughtSignature")
        parts[first] = {**parts[first], key: SKIP_SIGNATURE}
    return parts


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


def _joins(before: Message, message: Message) -> bool:
    """Tell whether results belong into the content before, of which some were made here."""
    if message.role != "tool" or not before.results:
        return False
    return not (is_own(before, Gemini.name) and is_own(message, Gemini.name))
