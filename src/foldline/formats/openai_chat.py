"""OpenAI chat completions, and everything that speaks it: messages with ``tool_calls``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foldline.errors import InputError
from foldline.formats.arguments import arguments_text
from foldline.formats.call_ids import wire_ids
from foldline.formats.dialect import Violation, body, expect
from foldline.formats.foreign import adapted, is_own
from foldline.formats.media_blocks import KINDS, media_part
from foldline.formats.nesting import bounded_nesting
from foldline.formats.opaque_text import opaque_text
from foldline.formats.openai_chat_rules import violations
from foldline.formats.openai_chat_writing import built_messages, changed_message
from foldline.formats.tool_schemas import tool_schemas
from foldline.formats.unknown import unknown_role
from foldline.values.messages import (
    Content,
    Media,
    Message,
    Opaque,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from foldline.values.transcript import Transcript

NAME = "openai-chat"

ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}

_OWN_KEYS = frozenset({"tool_calls", "tool_call_id", "function_call"})
_OWN_BLOCKS = frozenset({"text", "image_url", "input_audio", "file", "refusal"})
_ANTHROPIC_KEYS = frozenset({"system", "anthropic_version", "anthropic_beta", "stop_sequences"})


class OpenAIChat:
    """The chat completions dialect."""

    name = NAME
    title = "OpenAI chat completions"
    provider = "openai"

    def recognises(self, wire: Any) -> float:
        """Return how sure it is that this value is in the dialect, from 0 to 1."""
        items = wire.get("messages") if isinstance(wire, dict) else wire
        if not isinstance(items, list) or not items or not all(map(_speaks, items)):
            return 0.0
        if any(not _OWN_KEYS.isdisjoint(item) or item["role"] == "tool" for item in items):
            return 1.0
        if not all(_is_own_content(item.get("content")) for item in items):
            return 0.3
        if ROLES[items[0]["role"]] == "system":
            return 0.9
        if isinstance(wire, dict):
            return 0.3 if _is_anthropic_body(wire) else 0.9
        return 0.6

    def decode(self, wire: Any) -> Transcript:
        """Read a list of messages, or a request body with ``messages`` and ``tools``."""
        items, envelope = body(wire, "messages")
        tools = expect((envelope or {}).get("tools") or [], list, None, "tools")
        with bounded_nesting():
            messages = [_message(item, index) for index, item in enumerate(items)]
            return Transcript.of(messages, NAME, tools=tuple(tools), envelope=envelope)

    def encode(self, transcript: Transcript) -> Any:
        """
        Write a conversation in the shape in which it came.

        A conversation of another dialect becomes a list, or a request body when it has tools; its
        system prompt becomes the first message.
        """
        items = self.messages(transcript.messages)
        if transcript.dialect == NAME:
            envelope = transcript.envelope
            return {**envelope, "messages": items} if isinstance(envelope, dict) else items
        if transcript.system:
            items.insert(0, {"role": "system", "content": transcript.system})
        tools = [
            {
                "type": "function",
                "function": {
                    "name": schema.name,
                    "description": schema.description,
                    "parameters": schema.parameters,
                },
            }
            for schema in tool_schemas(transcript.tools)
        ]
        return {"messages": items, "tools": tools} if tools else items

    def messages(self, messages: Sequence[Message]) -> list[Any]:
        """Write messages; one that holds several tool results becomes several."""
        ready = adapted(messages, NAME)
        numbers = wire_ids(ready, NAME)
        out: list[Any] = []
        for index, message in enumerate(ready):
            if not is_own(message, NAME):
                out += built_messages(message, index, numbers)
            elif message.intact:
                out.append(message.raw)
            else:
                out += changed_message(message)
        return out

    def validate(self, wire: Any) -> list[Violation]:
        """Check the strict rules of the API."""
        try:
            return violations(body(wire, "messages")[0])
        except InputError as error:
            return [Violation(0, error.field, "type", error.message)]


def _speaks(item: Any) -> bool:
    if not isinstance(item, dict) or not isinstance(item.get("role"), str):
        return False
    return item["role"] in ROLES and "parts" not in item


def _is_anthropic_body(wire: dict[str, Any]) -> bool:
    tools = wire.get("tools")
    listed = tools if isinstance(tools, list) else []
    schemas = any(isinstance(tool, dict) and "input_schema" in tool for tool in listed)
    return schemas or not _ANTHROPIC_KEYS.isdisjoint(wire)


def _is_own_content(content: Any) -> bool:
    if not isinstance(content, list):
        return True
    kinds = [block.get("type") if isinstance(block, dict) else "text" for block in content]
    return all(isinstance(kind, str) and kind in _OWN_BLOCKS for kind in kinds)


# --- reading -------------------------------------------------------------------------------


def _message(item: Any, index: int) -> Message:
    wire = expect(item, dict, index, "")
    role = ROLES.get(expect(wire.get("role"), str, index, "role"))
    if role is None:
        return unknown_role(wire, wire["role"], NAME, index)
    if role == "tool":
        return Message(role, (_result(wire, index),), wire, NAME)
    parts = (*_thinking(wire), *_content(wire.get("content"), index), *_calls(wire, index))
    name = wire.get("name")
    return Message(role, parts, wire, NAME, name=name if isinstance(name, str) else None)


def _thinking(wire: dict[str, Any]) -> tuple[Part, ...]:
    for key in ("reasoning_content", "reasoning"):
        text = wire.get(key)
        if isinstance(text, str) and text:
            return (Thinking(text, raw={key: text}),)
    return ()


def _content(content: Any, index: int) -> tuple[Content, ...]:
    if content is None or content == "":
        return ()
    if isinstance(content, str):
        return (Text(content, raw=content),)
    blocks = expect(content, (str, list, type(None)), index, "content")
    return tuple(_block(block, index, f"content[{at}]") for at, block in enumerate(blocks))


def _block(block: Any, index: int, field: str) -> Content:
    if isinstance(block, str):
        return Text(block, raw=block)
    wire = expect(block, dict, index, field)
    kind = wire.get("type")
    if kind in ("text", "input_text", "output_text", "refusal"):
        key = "refusal" if "text" not in wire and kind == "refusal" else "text"
        return Text(expect(wire.get(key), str, index, f"{field}.{key}"), raw=wire)
    if kind == "image_url":
        image = wire.get("image_url")
        address = image.get("url") if isinstance(image, dict) else image
        expect(address, str, index, f"{field}.image_url.url")
    media: Media | None = media_part(wire) if isinstance(kind, str) and kind in KINDS else None
    return media or Opaque(kind if isinstance(kind, str) else "unknown", opaque_text(wire), wire)


def _calls(wire: dict[str, Any], index: int) -> tuple[ToolCall, ...]:
    calls = wire.get("tool_calls")
    if calls is None:
        legacy = wire.get("function_call")
        return (_function(legacy, None, wire, index, "function_call"),) if legacy else ()
    listed = expect(calls, list, index, "tool_calls")
    return tuple(_call(item, index, f"tool_calls[{at}]") for at, item in enumerate(listed))


def _call(item: Any, index: int, field: str) -> ToolCall:
    call = expect(item, dict, index, field)
    number = expect(call.get("id"), (str, type(None)), index, f"{field}.id")
    if call.get("type") == "custom":
        custom = expect(call.get("custom"), dict, index, f"{field}.custom")
        name = expect(custom.get("name"), str, index, f"{field}.custom.name")
        text = expect(custom.get("input"), str, index, f"{field}.custom.input")
        return ToolCall(number or None, name, text, raw=call)
    return _function(call.get("function"), number or None, call, index, f"{field}.function")


def _function(function: Any, number: str | None, raw: Any, index: int, field: str) -> ToolCall:
    inner = expect(function, dict, index, field)
    name = expect(inner.get("name"), str, index, f"{field}.name")
    arguments = arguments_text(inner.get("arguments"), index, f"{field}.arguments")
    return ToolCall(number, name, arguments, raw=raw)


def _result(wire: dict[str, Any], index: int) -> ToolResult:
    number = expect(wire.get("tool_call_id"), (str, type(None)), index, "tool_call_id")
    name = wire.get("name")
    if number is None and not isinstance(name, str):
        raise InputError(
            "a tool message without tool_call_id",
            index=index,
            field="tool_call_id",
            hint="Every tool result must name the call that it answers.",
        )
    label = name if isinstance(name, str) else ""
    return ToolResult(number or None, _content(wire.get("content"), index), label, raw=wire)
