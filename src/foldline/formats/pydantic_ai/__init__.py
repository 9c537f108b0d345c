"""Pydantic AI: requests and responses, as ``ModelMessagesTypeAdapter`` serializes them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from foldline.formats.blocks import media_source
from foldline.formats.conversion import flat_text, placeholder, write_messages
from foldline.formats.dialect import Dialect
from foldline.formats.pydantic_ai.read import (
    CALL,
    KINDS,
    NAME,
    read_answer,
    read_message,
    read_part,
)
from foldline.formats.pydantic_ai.rules import violations
from foldline.values.messages import (
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


class PydanticAIDialect(Dialect):
    """
    The Pydantic AI dialect: requests that may hold prompts and tool returns, and responses.

    Parts of an unknown kind are kept unchanged.
    """

    name = NAME
    title = "Pydantic AI messages"
    provider = "openai"
    key = ""

    def recognises(self, wire: Any) -> float:
        """Return the confidence that a value is in this dialect, from 0 to 1."""
        if not isinstance(wire, list) or not wire:
            return 0.0
        return 1.0 if all(_is_message(item) for item in wire) else 0.0

    read = staticmethod(read_message)
    rules = staticmethod(violations)

    def convert(self, transcript: Transcript, *, own: bool) -> Any:
        """Write a list; a system prompt of another wire becomes a request at the start."""
        items = self.messages(transcript.messages)
        if not transcript.system or own:
            return items
        part = {"content": transcript.system, "part_kind": "system-prompt"}
        return [{"parts": [part], "kind": "request"}, *items]

    def messages(self, messages: Sequence[Message]) -> list[Any]:
        """
        Write messages.

        Each message of this dialect stays one wire message; adjacent tool messages of another
        dialect are merged into one request, as their calls are in one response.
        """
        joined: tuple[Role, ...] = ("tool",)
        return write_messages(messages, NAME, update_message, build_message, "parts", joined)


def _is_message(item: Any) -> bool:
    match item:
        case {"kind": str(kind), "parts": list()}:
            return kind in KINDS
        case _:
            return False


_URLS = {"image": "image-url", "audio": "audio-url", "video": "video-url"}


def update_message(message: Message) -> list[dict[str, Any]]:
    """
    Write a message of this dialect after an edit.

    Its other fields and its unchanged parts are kept. If reasoning was removed, the other parts
    lose the ids that bind them to it.

    Returns:
        The wire message; an empty list if no content remains.
    """
    raw: dict[str, Any] = message.raw
    before = [read_part(wire, 0, f"parts[{at}]") for at, wire in enumerate(raw["parts"])]
    olds = [part for pieces in before for part in pieces]
    if len(olds) != len(message.parts):
        return build_message(message)
    pairs = zip(olds, message.parts, strict=True)
    unbound = any(isinstance(a, Thinking) and isinstance(b, Omitted) for a, b in pairs)
    parts, left = [], iter(message.parts)
    for wire, pieces in zip(raw["parts"], before, strict=True):
        written = _own(wire, list(islice(left, len(pieces))))
        if written is not None:
            parts.append({**written, "id": None} if unbound and written.get("id") else written)
    return [{**raw, "parts": parts}] if parts else []


def _own(old: dict[str, Any], pieces: Sequence[Part]) -> dict[str, Any] | None:
    """Write a wire part from its pieces; a prompt may have many, or none."""
    if old.get("part_kind") == "user-prompt" and isinstance(old.get("content"), list):
        content = [item for item in map(_item, pieces, old["content"]) if item is not None]
        return {**old, "content": content} if content or not pieces else None
    (part,) = pieces
    match part:
        case Omitted():
            return None
        case ToolCall():
            return CALL.write(part, old)
        case ToolResult():
            return _result(part, old)
        case Text(text) if part.raw is None:
            return _with_text(text, old)
        case _:
            return old


def _with_text(text: str, old: dict[str, Any]) -> dict[str, Any] | None:
    if not text.strip():
        return None
    if isinstance(old.get("content"), str):
        return {**old, "content": text}
    return {"content": text, "part_kind": "text"}


def _item(part: Part, old: Any) -> Any:
    """Write an item of a prompt; None if it was removed."""
    if isinstance(part, Omitted):
        return None
    if isinstance(part, Text) and part.raw is None:
        blocked = isinstance(old, dict) and old.get("kind") == "text-content"
        return {**old, "content": part.text} if blocked else part.text or None
    return old


def _result(result: ToolResult, old: dict[str, Any] | None) -> dict[str, Any]:
    """Write a tool return: the original part with the changes, or a new part."""
    if old is None:
        return {
            "tool_name": result.name or "tool",
            "content": _answer(result),
            "tool_call_id": result.call_id or "",
            "outcome": "failed" if result.is_error else "success",
            "part_kind": "tool-return",
        }
    if result.call_id and old.get("tool_call_id") != result.call_id:
        old = {**old, "tool_call_id": result.call_id}
    if tuple(read_answer(old.get("content"), 0, "")) == result.content:
        return old
    # A typed return requires content of its own shape, and its digests are of the old content.
    kept = {key: value for key, value in old.items() if key != "content_file_digests"}
    if "tool_kind" in kept:
        kept["tool_kind"] = None
    return {**kept, "content": _answer(result)}


def _answer(result: ToolResult) -> Any:
    pieces = [_piece(part) for part in result.content]
    if all(isinstance(piece, str) for piece in pieces):
        return "\n".join(pieces)
    return pieces


def _piece(part: Part) -> Any:
    return (media_item(part) if isinstance(part, Media) else None) or flat_text([part])


def media_item(part: Media) -> dict[str, Any] | None:
    """Write media as content: the original item, or the bytes or URL of another wire."""
    if isinstance(part.raw, dict) and isinstance(part.raw.get("item"), dict):
        item: dict[str, Any] = part.raw["item"]
        return item
    source = media_source(part.raw)
    if source is None:
        return None
    if source.data and source.media_type:
        return {"data": source.data, "media_type": source.media_type, "kind": "binary"}
    if source.url.startswith(("http://", "https://")):
        return {"url": source.url, "kind": _URLS.get(source.kind, "document-url")}
    return None


# --- from neutral parts ----------------------------------------------------------------------


def build_message(message: Message) -> list[dict[str, Any]]:
    """
    Write a message that has no original in this dialect.

    Returns:
        A request with the tool returns first, or a response; an empty list if nothing can be
        written.
    """
    if message.role == "assistant":
        parts = [wire for part in message.parts if (wire := _response_part(part)) is not None]
        return [{"parts": parts, "kind": "response"}] if parts else []
    parts = [*(_result(result, None) for result in message.results), *_prompt_parts(message)]
    return [{"parts": parts, "kind": "request"}] if parts else []


def _response_part(part: Part) -> dict[str, Any] | None:
    match part:
        case ToolCall():
            return CALL.write(part, None)
        case Text(text) if text.strip():
            return {"content": text, "part_kind": "text"}
        case Thinking(text, signed) if text.strip() and not signed:
            return {"content": text, "part_kind": "thinking"}
        case Media() | Opaque():
            return {"content": placeholder(part), "part_kind": "text"}
        case _:
            return None


def _prompt_parts(message: Message) -> list[dict[str, Any]]:
    if message.role == "system":
        return [{"content": message.text, "part_kind": "system-prompt"}] if message.text else []
    items = [_piece(part) for part in message.parts if isinstance(part, (Text, Media, Opaque))]
    items = [item for item in items if not isinstance(item, str) or item.strip()]
    if not items:
        return []
    content = "\n".join(items) if all(isinstance(item, str) for item in items) else items
    return [{"content": content, "part_kind": "user-prompt"}]
