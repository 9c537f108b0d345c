"""Writing Anthropic content blocks: from blocks that an edit changed, and from neutral parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from foldline.formats.arguments import arguments_object, arguments_text
from foldline.formats.foreign import note
from foldline.formats.media_blocks import media_source
from foldline.values.messages import (
    Content,
    Media,
    Message,
    Omitted,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

SILENT_ERROR = "The tool failed without a message."
"""Content of a failed result that has none: the API rejects an empty one."""

_IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})


def changed_message(message: Message) -> dict[str, Any] | None:
    """
    Write a message of this dialect that an edit changed.

    Its other fields, its untouched blocks and the shape of its content (a string or a list) stay,
    and so does the ``cache_control`` of a block whose text is another one.

    Returns:
        The wire message, or None when nothing of it is left.
    """
    raw: dict[str, Any] = message.raw
    before = raw.get("content")
    old = before if isinstance(before, list) and len(before) == len(message.parts) else None
    blocks = []
    for position, part in enumerate(message.parts):
        block = _own_block(part, old[position] if old else None)
        if block is not None:
            blocks.append(block)
    if not blocks:
        return None
    if isinstance(before, str) and all(block.get("type") == "text" for block in blocks):
        return {**raw, "content": "\n".join(block["text"] for block in blocks)}
    return {**raw, "content": blocks}


def built_blocks(message: Message, numbers: Sequence[str]) -> list[dict[str, Any]]:
    """
    Write the content of a message that was made elsewhere.

    Args:
        message: A message of another dialect, or one that Foldline made.
        numbers: For each part its call id, "" for parts that need none.

    Returns:
        Blocks with the tool results first, none when nothing in the message can be written.
        Reasoning is left out: only the provider that signed it can read it.
    """
    blocks = []
    for part, number in zip(message.parts, numbers, strict=True):
        block = _built_block(part, number)
        if block is not None:
            blocks.append(block)
    return sorted(blocks, key=lambda block: block["type"] != "tool_result")


def _own_block(part: Part, old: Any) -> dict[str, Any] | None:
    raw = part.raw if not isinstance(part, Omitted) and isinstance(part.raw, dict) else None
    if raw is None:
        block = _built_block(part, _number(part))
        marked = isinstance(old, dict) and isinstance(part, Text) and "cache_control" in old
        return {**block, "cache_control": old["cache_control"]} if block and marked else block
    match part:
        case ToolCall():
            if arguments_text(raw.get("input")) != part.arguments:
                raw = {**raw, "input": arguments_object(part.arguments)}
            return raw if raw.get("id") == part.id else {**raw, "id": part.id}
        case ToolResult():
            return _own_result(part, raw)
        case _:
            return raw


def _number(part: Part) -> str:
    match part:
        case ToolCall(id=number) | ToolResult(call_id=number):
            return number or ""
        case _:
            return ""


def _own_result(result: ToolResult, raw: dict[str, Any]) -> dict[str, Any]:
    if raw.get("tool_use_id") != result.call_id:
        raw = {**raw, "tool_use_id": result.call_id}
    before = raw.get("content")
    pieces = before if isinstance(before, list) else [before] if before else []
    if [id(piece) for piece in pieces] == [id(part.raw) for part in result.content]:
        return raw
    content = _result_content(result.content, own=True, listed=isinstance(before, list))
    return {**raw, "content": content or (SILENT_ERROR if result.is_error else "")}


def _result_content(content: Sequence[Content], *, own: bool, listed: bool) -> Any:
    if not listed and all(isinstance(part, Text) for part in content):
        return "\n".join(part.text for part in content if isinstance(part, Text))
    blocks = (
        part.raw if own and isinstance(part.raw, dict) else _content_block(part)
        for part in content
    )
    return [block for block in blocks if block is not None]


def _built_block(part: Part, number: str) -> dict[str, Any] | None:
    match part:
        case ToolCall():
            arguments = arguments_object(part.arguments)
            return {"type": "tool_use", "id": number, "name": part.name, "input": arguments}
        case ToolResult():
            content = _result_content(part.content, own=False, listed=False)
            block = {"type": "tool_result", "tool_use_id": number, "content": content}
            if not part.is_error:
                return block
            return {**block, "content": content or SILENT_ERROR, "is_error": True}
        case Text() | Media() | Opaque():
            return _content_block(part)
        case Thinking() | Omitted():
            return None


def _content_block(part: Content) -> dict[str, Any] | None:
    if isinstance(part, Media):
        return _media_block(part) or _text_block(note(part))
    return _text_block(note(part) if isinstance(part, Opaque) else part.text)


def _text_block(text: str) -> dict[str, Any] | None:
    return {"type": "text", "text": text} if text.strip() else None


def _media_block(part: Media) -> dict[str, Any] | None:
    """Write an image or a PDF whose bytes or address the other wire has at hand."""
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
