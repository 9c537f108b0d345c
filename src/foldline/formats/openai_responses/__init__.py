"""OpenAI Responses: a flat list of items, one for each message, thought, call and output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foldline.formats.dialect import Violation, bounded_nesting, expect
from foldline.formats.openai_responses.items import KINDS, OUTPUTS
from foldline.formats.openai_responses.read import ROLES, SERVER_ITEMS, read_message
from foldline.formats.openai_responses.rules import body_violations
from foldline.formats.openai_responses.write import NAME, items
from foldline.formats.tool_json import tool_schemas
from foldline.values.messages import Message
from foldline.values.transcript import Transcript

_BLOCKS = frozenset({"input_text", "output_text", "input_image", "input_file"})


class OpenAIResponsesDialect:
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
                [read_message(item, index) for index, item in enumerate(given)],
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
    if isinstance(kind, str) and (kind in KINDS or kind in OUTPUTS or kind in SERVER_ITEMS):
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
