"""Anthropic Messages: user and assistant turns made of content blocks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from foldline.formats.anthropic.read import CALL, NAME, ROLES, read_message, system_text
from foldline.formats.anthropic.rules import SYSTEM, violations
from foldline.formats.blocks import media_source
from foldline.formats.conversion import OPENING_TURN, leading_system, placeholder, write_messages
from foldline.formats.dialect import Dialect, Violation, check_fields, in_body
from foldline.formats.tool_json import tool_schemas
from foldline.values.messages import (
    Content,
    Media,
    Message,
    Omitted,
    Opaque,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from foldline.values.transcript import Transcript

_OWN_KEYS = frozenset({"anthropic_version", "anthropic_beta", "max_tokens", "stop_sequences"})


class AnthropicDialect(Dialect):
    """
    The Messages dialect.

    A user message that holds only tool results is read with the role "tool"; with any other
    content it is a user message.
    """

    name = NAME
    title = "Anthropic Messages"
    provider = "anthropic"

    def recognises(self, wire: Any) -> float:
        """Return the confidence that a value is in this dialect, from 0 to 1."""
        items = wire.get("messages") if isinstance(wire, dict) else wire
        if not isinstance(items, list) or not items:
            return 0.0
        if not all(isinstance(item, dict) and _is_message(item) for item in items):
            return 0.0
        contents = [item.get("content") for item in items]
        if any(_is_own_block(one) for c in contents if isinstance(c, list) for one in c):
            return 1.0
        if isinstance(wire, dict) and ("system" in wire or not _OWN_KEYS.isdisjoint(wire)):
            return 0.8
        return 0.45

    read = staticmethod(read_message)
    rules = staticmethod(violations)

    def system_and_tools(self, around: dict[str, Any]) -> tuple[str, tuple[Any, ...]]:
        """Return the text of the system prompt, and the tools."""
        return system_text(around.get("system")), super().system_and_tools(around)[1]

    def convert(self, transcript: Transcript, *, own: bool) -> Any:
        """
        Write a list, or a request body if there are tools or a system prompt.

        Anthropic takes the system prompt outside the messages, and the first message is a user's.
        """
        if own:
            items = self.messages(transcript.messages)
            around = {"system": transcript.system, "tools": list(transcript.tools)}
            return in_body(items, self.key, around)
        system, conversation = leading_system(transcript)
        items = self.messages(conversation)
        if items and items[0]["role"] == "assistant":
            items.insert(0, {"role": "user", "content": OPENING_TURN})
        tools = [schema.as_object("input_schema") for schema in tool_schemas(transcript.tools)]
        return in_body(items, self.key, {"system": system, "tools": tools})

    def messages(self, messages: Sequence[Message]) -> list[Any]:
        """
        Write messages.

        Each message of this dialect stays one wire message, so that the prefix of a prompt is
        stable; a message without any remaining part is not written. Adjacent assistant messages,
        and adjacent tool messages, of another dialect are merged into one wire message. System
        messages after the start, which this wire does not support, become user text.
        """
        joined: tuple[Role, ...] = ("assistant", "tool")
        return write_messages(messages, NAME, update_message, build_message, "content", joined)

    def body_rules(self, around: dict[str, Any]) -> Iterable[Violation]:
        """Check the system prompt."""
        return check_fields(around, SYSTEM, 0)


def _is_message(item: dict[str, Any]) -> bool:
    role = item.get("role")
    foreign = "tool_calls" in item or "tool_call_id" in item or "parts" in item
    return isinstance(role, str) and role in ROLES and not foreign


def _is_own_block(block: Any) -> bool:
    match block:
        case {"type": "tool_use" | "tool_result" | "thinking" | "redacted_thinking"}:
            return True
        case {"type": "image" | "document", "source": dict()}:
            return True
        case _:
            return False


SILENT_ERROR = "The tool failed without a message."
"""Content of a failed result without content: the API rejects an empty one."""

_IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})


def update_message(message: Message) -> list[dict[str, Any]]:
    """
    Write a message of this dialect after an edit.

    Its other fields, its unchanged blocks and the shape of its content (a string or a list) are
    kept, and so is the ``cache_control`` of a block with new text.

    Returns:
        The wire message; an empty list if no content remains.
    """
    raw: dict[str, Any] = message.raw
    before = raw.get("content")
    olds: list[Any] = before if isinstance(before, list) else []
    if len(olds) != len(message.parts):
        olds = [None] * len(message.parts)
    blocks = []
    for part, old in zip(message.parts, olds, strict=True):
        block = _block(part, own=True)
        if block is None:
            continue
        moved = isinstance(part, Text) and part.raw is None and isinstance(old, dict)
        if moved and "cache_control" in old:
            block = {**block, "cache_control": old["cache_control"]}
        blocks.append(block)
    if isinstance(before, str) and all(block.get("type") == "text" for block in blocks):
        return [{**raw, "content": "\n".join(block["text"] for block in blocks)}][: len(blocks)]
    return [{**raw, "content": blocks}] if blocks else []


def build_message(message: Message) -> list[dict[str, Any]]:
    """
    Write a message that has no original in this dialect.

    Returns:
        A message with the tool results first, or an empty list if nothing can be written.
        Reasoning is omitted: only the provider that signed it can read it.
    """
    written = (_block(part, own=False) for part in message.parts)
    blocks = [block for block in written if block is not None]
    blocks.sort(key=lambda block: block["type"] != "tool_result")
    role = "assistant" if message.role == "assistant" else "user"
    return [{"role": role, "content": blocks}] if blocks else []


def _block(part: Part, *, own: bool) -> dict[str, Any] | None:
    """Write one part: its original block with the changes, or a new block; None for no content."""
    raw = part.raw if own and not isinstance(part, Omitted) else None
    raw = raw if isinstance(raw, dict) else None
    match part:
        case ToolCall():
            return CALL.write(part, raw)
        case ToolResult():
            return _result(part, raw)
        case Thinking() | Omitted():
            return raw
        case _:
            return raw or _content_block(part)


def _result(result: ToolResult, raw: dict[str, Any] | None) -> dict[str, Any]:
    number = result.call_id or ""
    wire = raw or {"type": "tool_result", "tool_use_id": number, "content": ""}
    if wire.get("tool_use_id") != number:
        wire = {**wire, "tool_use_id": number}
    before = wire.get("content")
    pieces = before if isinstance(before, list) else [before] if before else []
    if raw and [id(piece) for piece in pieces] == [id(part.raw) for part in result.content]:
        return wire
    content = _result_content(
        result.content, own=raw is not None, listed=isinstance(before, list)
    ) or (SILENT_ERROR if result.is_error else "")
    failed = {"is_error": True} if raw is None and result.is_error else {}
    return {**wire, "content": content, **failed}


def _result_content(content: Sequence[Content], *, own: bool, listed: bool) -> Any:
    if not listed and all(isinstance(part, Text) for part in content):
        return "\n".join(part.text for part in content if isinstance(part, Text))
    blocks = (
        part.raw if own and isinstance(part.raw, dict) else _content_block(part)
        for part in content
    )
    return [block for block in blocks if block is not None]


def _content_block(part: Content) -> dict[str, Any] | None:
    if isinstance(part, Media):
        return _media_block(part) or _text_block(placeholder(part))
    return _text_block(placeholder(part) if isinstance(part, Opaque) else part.text)


def _text_block(text: str) -> dict[str, Any] | None:
    return {"type": "text", "text": text} if text.strip() else None


def _media_block(part: Media) -> dict[str, Any] | None:
    """Write an image or a PDF from the bytes or the URL in another wire's block."""
    source = media_source(part.raw)
    if source is None or part.kind not in ("image", "document"):
        return None
    if source.data:
        accepted: Iterable[str] = _IMAGES if part.kind == "image" else ("application/pdf",)
        if source.media_type not in accepted:
            return None
        described = {"type": "base64", "media_type": source.media_type, "data": source.data}
        return {"type": part.kind, "source": described}
    if not source.url.startswith("https://"):
        return None
    return {"type": part.kind, "source": {"type": "url", "url": source.url}}
