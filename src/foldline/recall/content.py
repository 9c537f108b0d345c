"""The original of a message as text that people and models read."""

from __future__ import annotations

from foldline.errors import RecallError
from foldline.values.identity import canonical_json
from foldline.values.messages import (
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


def message_text(message: Message) -> str:
    """Return everything that a message says; a single part stands as it is, several are headed."""
    if len(message.parts) == 1:
        return part_text(message.parts[0])
    return "\n".join(_headed(part) for part in message.parts)


def part_text(part: Part) -> str:
    """Return what one part says: its text, arguments or result; media are described."""
    match part:
        case Text(text) | Thinking(text):
            return text
        case ToolCall():
            return part.arguments
        case ToolResult():
            return "\n".join(part_text(piece) for piece in part.content)
        case Media():
            size = f", {part.size:,} bytes" if part.size else ""
            return f"[{part.kind} {part.media_type}{size}]"
        case Opaque():
            return part.text or canonical_json(part.raw)
        case Omitted():
            return ""


def part_raw(message: Message, index: int) -> object:
    """Return the wire original of one part; where it has none of its own, that of its message."""
    part = part_of(message, index)
    raw = None if isinstance(part, Omitted) else part.raw
    return message.raw if raw is None else raw


def part_of(message: Message, index: int) -> Part:
    """
    Return a part by its position.

    Raises:
        RecallError: The message has fewer parts.
    """
    if index >= len(message.parts):
        raise RecallError(
            f"The message {message.id[:8]} has no part {index}.",
            hint=f"It has {len(message.parts)}, counted from 0.",
        )
    return message.parts[index]


def _headed(part: Part) -> str:
    match part:
        case ToolCall():
            return f"[call {part.name}]\n{part.arguments}"
        case ToolResult():
            return f"[result {part.name or part.call_id or ''}]\n{part_text(part)}"
        case Thinking():
            return f"[reasoning]\n{part.text}"
        case _:
            return part_text(part)
