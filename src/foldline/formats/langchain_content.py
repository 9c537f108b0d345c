"""LangChain content: a string, or blocks in the way of any provider."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foldline.formats.dialect import expect
from foldline.formats.foreign import note
from foldline.formats.langchain_calls import BLOCKS, block_wire, in_block
from foldline.formats.media_blocks import media_part, media_source
from foldline.formats.opaque_text import opaque_text
from foldline.values.messages import (
    Content,
    Media,
    Omitted,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

_SIGNATURES = ("signature", "encrypted_content", "data")


def read_content(
    content: Any, calls: Sequence[ToolCall], index: int
) -> tuple[Content | Thinking | ToolCall, ...]:
    """
    Read the content of a message.

    Args:
        content: A string, a list of strings and blocks, or None.
        calls: The calls that stand beside the content; blocks that repeat one become that one.
        index: Position of the message, for errors.

    Raises:
        InputError: A known block has a wrong type.
    """
    if content is None or content == "":
        return ()
    if isinstance(content, str):
        return (Text(content, content),)
    blocks = expect(content, (str, list), index, "content")
    return tuple(_block(block, calls, index, f"content[{i}]") for i, block in enumerate(blocks))


def read_answer(content: Any, index: int) -> tuple[Content, ...]:
    """Read the content of a tool message, in which calls and reasoning mean nothing."""
    return tuple(
        part if isinstance(part, (Text, Media, Opaque)) else Opaque("block", raw=part.raw)
        for part in read_content(content, (), index)
    )


def _block(
    block: Any, calls: Sequence[ToolCall], index: int, field: str
) -> Content | Thinking | ToolCall:
    if isinstance(block, str):
        return Text(block, block)
    wire = expect(block, dict, index, field)
    kind = wire.get("type")
    if kind in ("text", "input_text", "output_text"):
        return Text(expect(wire.get("text"), str, index, f"{field}.text"), wire)
    if kind in ("thinking", "reasoning", "redacted_thinking"):
        signed = any(isinstance(wire.get(key), str) for key in _SIGNATURES)
        return Thinking(_reasoning(wire), signed, wire)
    if isinstance(kind, str) and kind in BLOCKS:
        return in_block(wire, calls, index, field)
    label = kind if isinstance(kind, str) else "unknown"
    return media_part(wire) or Opaque(label, opaque_text(wire), wire)


def _reasoning(wire: dict[str, Any]) -> str:
    for key in ("thinking", "reasoning"):
        if isinstance(wire.get(key), str):
            text: str = wire[key]
            return text
    summary = wire.get("summary")
    items = summary if isinstance(summary, list) else []
    texts = [item.get("text") for item in items if isinstance(item, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def write_content(parts: Sequence[Part], own: bool, *, blocks: bool = False) -> Any:
    """
    Write parts as content.

    Args:
        parts: Parts of a message; calls are written only where a block repeated them.
        own: Whether the ``raw`` of the parts is LangChain's.
        blocks: Whether the content came as a list and has to stay one.

    Returns:
        A string where texts suffice, else a list of blocks.
    """
    written = [wire for part in parts if (wire := _wire(part, own)) is not None]
    if not blocks and all(isinstance(wire, str) for wire in written):
        return "\n".join(written)
    return [_text_block(wire) if isinstance(wire, str) and not own else wire for wire in written]


def _wire(part: Part, own: bool) -> Any:
    match part:
        case ToolCall():
            return block_wire(part) if own else None
        case Thinking(raw=raw):
            return raw if own and isinstance(raw, dict) and "type" in raw else None
        case Omitted() | ToolResult():
            return None
        case _ if own and isinstance(part.raw, (dict, str)):
            return part.raw
        case Text(text):
            return text or None
        case Media():
            return _media(part)
        case Opaque():
            return note(part)


def _text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _media(part: Media) -> Any:
    source = media_source(part.raw)
    if source is None or not source.data_uri:
        return note(part)
    if source.kind == "image":
        return {"type": "image_url", "image_url": {"url": source.data_uri}}
    if not source.data:
        return note(part)
    kind = "file" if source.kind == "document" else source.kind
    return {"type": kind, "mime_type": source.media_type, "base64": source.data}
