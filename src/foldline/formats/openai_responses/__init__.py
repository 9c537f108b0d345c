"""OpenAI Responses: a flat list of items, one for each message, thought, call and output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from foldline.formats.dialect import Dialect, Violation, in_body
from foldline.formats.fields import expect
from foldline.formats.openai_responses.read import ROLES, SERVER_ITEMS, read_message
from foldline.formats.openai_responses.rules import violations
from foldline.formats.openai_responses.write import KINDS, NAME, OUTPUTS, items
from foldline.formats.tool_json import tool_schemas
from foldline.values.messages import Message
from foldline.values.transcript import Transcript

_BLOCKS = frozenset({"input_text", "output_text", "input_image", "input_file"})


class OpenAIResponsesDialect(Dialect):
    """
    The Responses dialect: one message an item.

    Items that the provider made for itself (searches, generated images, references) are carried
    along untouched; those of an unknown type or role, and tools that a client sends as an item,
    stay where they are, too.
    """

    name = NAME
    title = "OpenAI Responses items"
    provider = "openai"
    key = "input"

    def recognises(self, wire: Any) -> float:
        """Return how sure it is that this value is in the dialect, from 0 to 1."""
        if isinstance(wire, dict) and "input" in wire and "messages" not in wire:
            wire = wire["input"]
            if isinstance(wire, str):
                return 0.8
            sure = 0.8
        else:
            sure = 0.3
        if not isinstance(wire, list) or not wire or not all(isinstance(i, dict) for i in wire):
            return 0.0
        if any(_is_own_item(item) for item in wire):
            return 1.0
        return sure if all(map(_is_easy, wire)) else 0.0

    read = staticmethod(read_message)
    rules = staticmethod(violations)

    def surroundings(self, around: dict[str, Any]) -> tuple[str, tuple[Any, ...]]:
        """Return the instructions and the tools."""
        system = expect(around.get("instructions"), (str, type(None)), None, "instructions")
        return system or "", super().surroundings(around)[1]

    def decode(self, wire: Any) -> Transcript:
        """Read a list of items, or a request body, whose input may be a text of the user."""
        if not isinstance(wire, dict):
            return super().decode(wire)
        given = expect(wire.get("input"), (list, str), None, "input")
        if isinstance(given, str):
            given = [{"role": "user", "content": given}]
        return replace(super().decode({**wire, "input": given}), envelope=wire)

    def encode(self, transcript: Transcript) -> Any:
        """Write a conversation in the shape in which it came; see `Dialect.encode`."""
        written = super().encode(transcript)
        own = transcript.dialect == self.name and isinstance(transcript.envelope, dict)
        before = transcript.envelope.get("input") if own else None
        if isinstance(before, str) and written["input"] == [{"role": "user", "content": before}]:
            return {**written, "input": before}
        return written

    def convert(self, transcript: Transcript, *, own: bool) -> Any:
        """Write a list, or a request body where there are tools or a system prompt."""
        tools = list(transcript.tools)
        if not own:
            more = {"strict": False}
            schemas = tool_schemas(tools)
            tools = [{"type": "function", **s.as_object("parameters"), **more} for s in schemas]
        around = {"instructions": transcript.system, "tools": tools}
        return in_body(self.messages(transcript.messages), self.key, around)

    def messages(self, messages: Sequence[Message]) -> list[Any]:
        """
        Write messages as items; one of another dialect may become several.

        The id of an assistant item binds it to the reasoning before it: where that reasoning was
        left out, or the item itself was changed and no reasoning stands before it, it is written
        without its id.
        """
        return items(messages)

    def validate(self, wire: Any) -> list[Violation]:
        """Check the strict rules of the API; a value that is no conversation breaks one."""
        around = wire if isinstance(wire, dict) else {self.key: wire}
        given = around.get(self.key)
        if isinstance(given, str) and isinstance(wire, dict):
            return [] if given.strip() else [Violation(0, "input", "empty", "the input is blank")]
        if not isinstance(given, list):
            name = "input" if isinstance(wire, dict) else ""
            return [Violation(0, name, "type", "the input is not a list of items")]
        return self.rules(given)


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
