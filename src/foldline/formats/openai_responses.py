"""OpenAI Responses: a flat list of items, one for each message, thought, call and output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foldline.formats.dialect import Violation, expect
from foldline.formats.media_blocks import media_part
from foldline.formats.media_parts import media_from_url
from foldline.formats.nesting import bounded_nesting
from foldline.formats.opaque_text import opaque_text
from foldline.formats.openai_responses_items import KINDS, OUTPUTS, call_arguments, call_number
from foldline.formats.openai_responses_rules import body_violations
from foldline.formats.openai_responses_writing import NAME, items
from foldline.formats.tool_schemas import tool_schemas
from foldline.formats.unknown import unknown_message, unknown_role
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

ROLES: dict[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
}

_TEXTS = frozenset({"input_text", "output_text", "text", "summary_text", "reasoning_text"})
_BLOCKS = frozenset({"input_text", "output_text", "input_image", "input_file"})
_SERVER = frozenset(
    {
        *("web_search_call", "file_search_call", "image_generation_call", "item_reference"),
        *("code_interpreter_call", "mcp_call", "mcp_list_tools"),
        *("mcp_approval_request", "mcp_approval_response"),
    }
)


class OpenAIResponses:
    """
    The Responses dialect: one message an item.

    Items that the provider made for itself (searches, generated images, references) are carried
    along untouched; those of an unknown type or role, and tools that a client sends as an item,
    stay where they are, too.
    """

    name = NAME
    title = "OpenAI Responses items"
    provider = "openai"

    def recognises(self, wire: Any) -> float:
        """Return how sure it is that this value is in the dialect, from 0 to 1."""
        if isinstance(wire, dict) and "input" in wire and "messages" not in wire:
            wire = wire["input"]
            if isinstance(wire, str):
                return 0.8
            sure = 0.8
        else:
            sure = 0.3
        if not isinstance(wire, list) or not wire:
            return 0.0
        if not all(isinstance(item, dict) for item in wire):
            return 0.0
        if any(_is_own_item(item) for item in wire):
            return 1.0
        plain = all(_is_easy(item) for item in wire)
        return sure if plain else 0.0

    def decode(self, wire: Any) -> Transcript:
        """Read a list of items, or a request body with ``input``, ``instructions``, ``tools``."""
        envelope = wire if isinstance(wire, dict) else None
        around = envelope or {}
        given = expect(
            wire if envelope is None else around.get("input"),
            list if envelope is None else (list, str),
            None,
            "" if envelope is None else "input",
        )
        if isinstance(given, str):
            given = [{"role": "user", "content": given}]
        system = expect(around.get("instructions"), (str, type(None)), None, "instructions")
        tools = around.get("tools")
        with bounded_nesting():
            return Transcript.of(
                [_message(item, index) for index, item in enumerate(given)],
                NAME,
                system=system or "",
                tools=tuple(tools) if isinstance(tools, list) else (),
                envelope=envelope,
            )

    def encode(self, transcript: Transcript) -> Any:
        """
        Write a conversation in the shape in which it came.

        A conversation of another dialect becomes a request body when it has a system prompt
        outside its messages, or tools; else a list.
        """
        written = self.messages(transcript.messages)
        envelope, tools = transcript.envelope, list(transcript.tools)
        if transcript.dialect == NAME:
            if isinstance(envelope, dict) and "input" in envelope:
                return {**envelope, "input": _as_given(envelope["input"], written)}
        else:
            tools = [schema.as_responses() for schema in tool_schemas(tools)]
        if not transcript.system and not tools:
            return written
        named = {"instructions": transcript.system, "tools": tools}
        return {**{key: value for key, value in named.items() if value}, "input": written}

    def messages(self, messages: Sequence[Message]) -> list[Any]:
        """
        Write messages as items; one of another dialect may become several.

        The id of an assistant item binds it to the reasoning before it: where that reasoning was
        left out, or the item itself was changed and no reasoning stands before it, it is written
        without its id.
        """
        return items(messages)

    def validate(self, wire: Any) -> list[Violation]:
        """Check the strict rules of the API."""
        return body_violations(wire)


def _as_given(before: Any, written: list[Any]) -> Any:
    """Return the string that stood for a single user message, while it still says the same."""
    if isinstance(before, str) and written == [{"role": "user", "content": before}]:
        return before
    return written


def _is_own_item(item: dict[str, Any]) -> bool:
    kind, content = item.get("type"), item.get("content")
    if isinstance(kind, str) and (kind in KINDS or kind in OUTPUTS or kind in _SERVER):
        return True
    if kind == "additional_tools" or (kind == "reasoning" and "summary" in item):
        return True
    blocks = content if isinstance(content, list) and kind in ("message", None) else ()
    kinds = [block.get("type") for block in blocks if isinstance(block, dict)]
    return any(isinstance(block, str) and block in _BLOCKS for block in kinds)


def _is_easy(item: dict[str, Any]) -> bool:
    role, foreign = item.get("role"), item.keys() & {"tool_calls", "tool_call_id", "parts"}
    typed = item.get("type", "message") == "message"
    return typed and not foreign and isinstance(role, str) and role in ROLES


# --- reading -------------------------------------------------------------------------------


def _message(item: Any, index: int) -> Message:
    wire = expect(item, dict, index, "")
    kind = wire.get("type")
    if kind is None and "role" not in wire and isinstance(wire.get("id"), str):
        kind = "item_reference"
    if kind is None or kind == "message":
        return _spoken(wire, index)
    kind = expect(kind, str, index, "type")
    paired = kind in KINDS or kind in OUTPUTS
    if paired and not (kind.startswith("tool_search") and wire.get("call_id") is None):
        return _call(wire, index) if kind in KINDS else _output(wire, index)
    if kind == "reasoning":
        part: Part = _thinking(wire, index)
    elif kind in _SERVER or paired:
        part = Opaque(kind, opaque_text(wire), raw=wire)
    else:
        return unknown_message(wire, kind, NAME)
    return Message("user" if kind == "mcp_approval_response" else "assistant", (part,), wire, NAME)


def _spoken(wire: dict[str, Any], index: int) -> Message:
    named = expect(wire.get("role"), str, index, "role")
    role = ROLES.get(named)
    if role is None:
        return unknown_role(wire, named, NAME, index)
    content = expect(wire.get("content"), (str, list, type(None)), index, "content")
    return Message(role, _content(content, index, "content"), wire, NAME)


def _thinking(wire: dict[str, Any], index: int) -> Thinking:
    texts = []
    for key in ("summary", "content"):
        for block in expect(wire.get(key), (list, type(None)), index, key) or ():
            text = block.get("text") if isinstance(block, dict) else None
            texts += [text] if isinstance(text, str) and text else []
    signed = bool(wire.get("encrypted_content") or wire.get("id"))
    return Thinking("\n".join(texts), signed=signed, raw=wire)


def _call(wire: dict[str, Any], index: int) -> Message:
    number = expect(call_number(wire), str, index, "call_id")
    name = KINDS[wire["type"]].name or expect(wire.get("name"), str, index, "name")
    call = ToolCall(number, name, call_arguments(wire, index), raw=wire)
    return Message("assistant", (call,), wire, NAME)


def _output(wire: dict[str, Any], index: int) -> Message:
    number = expect(call_number(wire), str, index, "call_id")
    if wire["type"] == "tool_search_output":
        content: tuple[Content, ...] = (Opaque("tools", opaque_text(wire), raw=wire),)
    else:
        value = expect(wire.get("output"), (str, list, dict, type(None)), index, "output")
        content = _content([value] if isinstance(value, dict) else value, index, "output")
    failed = wire.get("status") == "failed"
    result = ToolResult(number, content, is_error=failed, raw=wire)
    return Message("tool", (result,), wire, NAME)


def _content(content: Any, index: int, field: str) -> tuple[Content, ...]:
    if isinstance(content, str):
        return (Text(content, raw=content),) if content else ()
    blocks = enumerate(content or ())
    return tuple(_block(block, index, f"{field}[{position}]") for position, block in blocks)


def _block(block: Any, index: int, field: str) -> Content:
    wire = expect(block, dict, index, field)
    kind = wire.get("type")
    if isinstance(kind, str) and kind in _TEXTS:
        return Text(expect(wire.get("text"), str, index, f"{field}.text"), raw=wire)
    if kind == "refusal":
        return Text(expect(wire.get("refusal"), str, index, f"{field}.refusal"), raw=wire)
    if kind == "computer_screenshot":
        url = wire.get("image_url")
        return media_from_url(url if isinstance(url, str) else "", wire)
    if isinstance(wire.get("stdout"), str):
        errors = wire.get("stderr")
        shown = [wire["stdout"], errors if isinstance(errors, str) else ""]
        return Text("\n".join(text for text in shown if text), raw=wire)
    media: Media | None = media_part(wire)
    return media or Opaque(
        kind if isinstance(kind, str) else "unknown", opaque_text(wire), raw=wire
    )
