"""OpenAI chat completions, and everything that speaks it: messages with ``tool_calls``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foldline.errors import InputError
from foldline.formats.dialect import Violation, body, bounded_nesting, expect
from foldline.formats.foreign import adapt, is_own, wire_ids
from foldline.formats.openai_chat.read import NAME, ROLES, read_message
from foldline.formats.openai_chat.rules import violations
from foldline.formats.openai_chat.write import built_messages, changed_message
from foldline.formats.tool_json import tool_schemas
from foldline.values.messages import Message
from foldline.values.transcript import Transcript

_OWN_KEYS = frozenset({"tool_calls", "tool_call_id", "function_call"})


_OWN_BLOCKS = frozenset({"text", "image_url", "input_audio", "file", "refusal"})


_ANTHROPIC_KEYS = frozenset({"system", "anthropic_version", "anthropic_beta", "stop_sequences"})


class OpenAIChatDialect:
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
            messages = [read_message(item, index) for index, item in enumerate(items)]
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
        ready = adapt(messages, NAME)
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
