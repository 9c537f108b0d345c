"""Writing OpenAI Responses items: from items that an edit changed, and from neutral parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from foldline.formats.blocks import media_source
from foldline.formats.foreign import adapt, is_own, note
from foldline.formats.openai_responses.items import (
    KINDS,
    OUTPUTS,
    CallKind,
    changed_call,
    new_call,
    output_item,
)
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

NAME = "openai-responses"


def items(messages: Sequence[Message]) -> list[Any]:
    """Write messages as items; see ``OpenAIResponses.messages``."""
    if all(message.intact and is_own(message, NAME) for message in messages):
        return [message.raw for message in messages]
    ready = adapt(messages, NAME)
    writer = _Writer(_kinds_by_id(ready))
    for message in ready:
        writer.write(message)
    return writer.out


def _kinds_by_id(messages: Sequence[Message]) -> dict[str, CallKind]:
    """Map the ids of calls to what was called, so that an answer gets the right type."""
    return {
        call.id: KINDS[call.raw["type"]]
        for message in messages
        if is_own(message, NAME)
        for call in message.calls
        if call.id and isinstance(call.raw, dict)
    }


@dataclass(slots=True)
class _Writer:
    """
    Writes items one after the other.

    ``thought`` is what became of the reasoning that the coming assistant items belong to.
    """

    called: dict[str, CallKind]
    out: list[Any] = field(default_factory=list)
    thought: Literal["none", "kept", "left out"] = "none"

    def write(self, message: Message) -> None:
        if message.role != "assistant":
            self.thought = "none"
        if not is_own(message, NAME):
            self._build(message)
        elif _item_type(message) == "reasoning":
            kept = message.intact or any(isinstance(part, Thinking) for part in message.parts)
            self.thought = "kept" if kept else "left out"
            self.out += [message.raw] if kept else []
        else:
            self.out += [self._drop_lonely_id(item, message) for item in self._own(message)]

    def _drop_lonely_id(self, item: Any, message: Message) -> Any:
        """Take the id from an item whose reasoning is gone."""
        lonely = self.thought == "left out" or (self.thought == "none" and not message.intact)
        if message.role != "assistant" or not lonely or "id" not in item:
            return item
        if item.get("type") == "item_reference":
            return item
        return {key: value for key, value in item.items() if key != "id"}

    def _own(self, message: Message) -> list[Any]:
        if message.intact:
            return [message.raw]
        if _item_type(message) == "message":
            blocks = [_block(p, message.role, own=True) for p in message.parts if _is_content(p)]
            return [_with_content(message.raw, blocks, message.parts)] if blocks else []
        return [item for part in message.parts for item in self._own_item(part, message)]

    def _own_item(self, part: Part, message: Message) -> list[Any]:
        match part:
            case ToolCall(raw=dict()):
                return [changed_call(part.raw, part)]
            case ToolResult():
                return [self._answer(part, own=True)]
            case Opaque(raw=dict()):
                return [part.raw]
            case Text() if part.text.strip():
                return [_message_item(message.role, [_block(part, message.role, own=False)])]
            case _:
                return []

    def _answer(self, result: ToolResult, *, own: bool) -> dict[str, Any]:
        raw = result.raw if own and isinstance(result.raw, dict) else {}
        kind = OUTPUTS.get(raw.get("type", "")) or self.called.get(result.call_id or "")
        blocks = [_block(part, "tool", own=own) for part in result.content]
        return output_item(kind or KINDS["function_call"], result, blocks)

    def _build(self, message: Message) -> None:
        """Write a message that was made elsewhere: results, then what was said, in order."""
        blocks_so_far: list[Any] = []
        later: list[Any] = []
        for part in message.parts:
            if isinstance(part, ToolResult):
                self.out.append(self._answer(part, own=False))
            elif isinstance(part, ToolCall):
                later += [*_write_spoken(message, blocks_so_far), new_call(part)]
                blocks_so_far = []
            elif _is_content(part):
                blocks_so_far.append(_block(part, message.role, own=False))
        self.out += [*later, *_write_spoken(message, blocks_so_far)]
        if message.role == "assistant":
            self.thought = "none"


def _item_type(message: Message) -> Any:
    return message.raw.get("type", "message")


def _is_content(part: Part) -> bool:
    if isinstance(part, Text):
        return bool(part.text.strip())
    return not isinstance(part, (Omitted, Thinking, ToolCall, ToolResult))


def _write_spoken(message: Message, blocks: list[Any]) -> list[Any]:
    return [_message_item(message.role, blocks)] if blocks else []


def _message_item(role: str, blocks: list[Any]) -> dict[str, Any]:
    return {"type": "message", "role": "user" if role == "tool" else role, "content": blocks}


def _with_content(raw: dict[str, Any], blocks: list[Any], parts: Sequence[Part]) -> dict[str, Any]:
    """Put other content in a message item; a string stays a string while it can."""
    texts = [part.text for part in parts if isinstance(part, Text)]
    if isinstance(raw.get("content"), str) and len(texts) == len(blocks):
        return {**raw, "content": "\n".join(texts)}
    return {**raw, "content": blocks}


def _block(part: Any, role: str, *, own: bool) -> dict[str, Any]:
    """Write content; ``role`` decides what text is called and whether media may stand there."""
    if own and isinstance(part.raw, dict):
        block: dict[str, Any] = part.raw
        return block
    if isinstance(part, Media) and role != "assistant":
        media = _media_block(part)
        if media is not None:
            return media
    text = part.text if isinstance(part, Text) else note(part)
    return {"type": "output_text" if role == "assistant" else "input_text", "text": text}


def _media_block(part: Content) -> dict[str, Any] | None:
    """Write an image or a document whose bytes or address the other wire has at hand."""
    source = media_source(part.raw)
    if source is None or not source.data_uri.startswith(("data:", "https://")):
        return None
    if source.kind == "image":
        return {
            "type": "input_image",
            "image_url": source.data_uri,
            "detail": source.detail or "auto",
        }
    if source.kind != "document":
        return None
    if source.url:
        return {"type": "input_file", "file_url": source.url}
    return {"type": "input_file", "filename": "document.pdf", "file_data": source.data_uri}
