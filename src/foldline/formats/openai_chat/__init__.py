"""OpenAI chat completions, and everything that speaks it: messages with ``tool_calls``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foldline.formats.dialect import Dialect
from foldline.formats.fields import expect
from foldline.formats.foreign import write_messages
from foldline.formats.openai_chat.read import NAME, ROLES, read_message
from foldline.formats.openai_chat.rules import violations
from foldline.formats.openai_chat.write import built_messages, changed_message
from foldline.formats.tool_json import tool_schemas
from foldline.values.messages import Message
from foldline.values.transcript import Transcript

_OWN_KEYS = frozenset({"tool_calls", "tool_call_id", "function_call"})


_OWN_BLOCKS = frozenset({"text", "image_url", "input_audio", "file", "refusal"})


_ANTHROPIC_KEYS = frozenset({"system", "anthropic_version", "anthropic_beta", "stop_sequences"})


class OpenAIChatDialect(Dialect):
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

    read = staticmethod(read_message)
    rules = staticmethod(violations)

    def surroundings(self, around: dict[str, Any]) -> tuple[str, tuple[Any, ...]]:
        """Return the tools; the system prompt is a message."""
        return "", tuple(expect(around.get("tools") or [], list, None, "tools"))

    def convert(self, transcript: Transcript, *, own: bool) -> Any:
        """Write a list, or a request body where there are tools; a system prompt comes first."""
        items = self.messages(transcript.messages)
        if own:
            return items
        if transcript.system:
            items.insert(0, {"role": "system", "content": transcript.system})
        tools = [
            {"type": "function", "function": schema.as_object("parameters")}
            for schema in tool_schemas(transcript.tools)
        ]
        return {"messages": items, "tools": tools} if tools else items

    def messages(self, messages: Sequence[Message]) -> list[Any]:
        """Write messages; one that holds several tool results becomes several."""
        return write_messages(messages, NAME, changed_message, built_messages)


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
