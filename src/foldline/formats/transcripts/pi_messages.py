"""Messages of pi: their neutral parts, and the way back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from foldline.formats.arguments import arguments_object, arguments_text
from foldline.formats.dialect import expect
from foldline.formats.flat_text import flat_text
from foldline.formats.media_blocks import media_source
from foldline.formats.media_parts import media_from_base64
from foldline.formats.opaque_text import opaque_text
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
    Usage,
)

NAME = "pi"

ROLES: dict[str, Role] = {
    "user": "user",
    "custom": "user",
    "hookMessage": "user",
    "assistant": "assistant",
    "toolResult": "tool",
    "bashExecution": "user",
    "compactionSummary": "user",
    "branchSummary": "user",
}

_SUMMARIES = ("compactionSummary", "branchSummary")


# --- reading -------------------------------------------------------------------------------


def message(wire: dict[str, Any], index: int) -> Message:
    """
    Read a message.

    Raises:
        InputError: A field has a wrong type, or the role is unknown.
    """
    named = expect(wire.get("role"), str, index, "role")
    role = ROLES.get(named, "user")
    if named == "bashExecution":
        parts: tuple[Part, ...] = (Text(_command_text(wire), raw=wire),)
    elif named in _SUMMARIES:
        parts = (Text(expect(wire.get("summary"), str, index, "summary"), raw=wire),)
    elif named == "toolResult":
        parts = (_result(wire, index),)
    else:
        parts = _parts(wire.get("content"), index)
    return Message(role, parts, wire, NAME, usage=_usage(wire.get("usage")))


def is_shown(wire: dict[str, Any]) -> bool:
    """Tell whether pi sends a message: a command can be excluded, an answer broken off."""
    if wire.get("role") in _SUMMARIES:
        return bool(wire.get("summary"))
    if wire.get("role") == "assistant":
        return bool(wire.get("content"))
    return not wire.get("excludeFromContext")


def _command_text(wire: dict[str, Any]) -> str:
    """Say what a shell command did, in the words of pi."""
    output = wire.get("output")
    shown = f"```\n{output}\n```" if output else "(no output)"
    text = f"Ran `{wire.get('command')}`\n{shown}"
    if wire.get("cancelled"):
        text += "\n\n(command cancelled)"
    elif wire.get("exitCode"):
        text += f"\n\nCommand exited with code {wire['exitCode']}"
    if wire.get("truncated") and wire.get("fullOutputPath"):
        text += f"\n\n[Output truncated. Full output: {wire['fullOutputPath']}]"
    return text


def _result(wire: dict[str, Any], index: int) -> ToolResult:
    number = expect(wire.get("toolCallId"), (str, type(None)), index, "toolCallId")
    name = wire.get("toolName")
    content = tuple(
        part
        for part in _parts(wire.get("content"), index)
        if isinstance(part, (Text, Media, Opaque))
    )
    failed = wire.get("isError") is True
    return ToolResult(number, content, name if isinstance(name, str) else "", failed, raw=wire)


def _parts(content: Any, index: int) -> tuple[Part, ...]:
    content = expect(content, (str, list, type(None)), index, "content")
    if isinstance(content, str):
        return (Text(content, raw=content),) if content else ()
    blocks = enumerate(content or ())
    return tuple(_part(block, index, f"content[{at}]") for at, block in blocks)


def _part(block: Any, index: int, field: str) -> Part:
    wire = expect(block, dict, index, field)
    match wire.get("type"):
        case "text":
            return Text(expect(wire.get("text"), str, index, f"{field}.text"), raw=wire)
        case "thinking":
            text = expect(wire.get("thinking"), (str, type(None)), index, f"{field}.thinking")
            return Thinking(text or "", bool(wire.get("thinkingSignature")), raw=wire)
        case "toolCall":
            number = expect(wire.get("id"), (str, type(None)), index, f"{field}.id")
            name = expect(wire.get("name"), str, index, f"{field}.name")
            arguments = arguments_text(wire.get("arguments"), index, f"{field}.arguments")
            return ToolCall(number, name, arguments, bool(wire.get("thoughtSignature")), raw=wire)
        case "image":
            data = expect(wire.get("data"), str, index, f"{field}.data")
            return media_from_base64(data, str(wire.get("mimeType") or "image/png"), wire)
        case kind:
            return Opaque(kind if isinstance(kind, str) else "unknown", opaque_text(wire), wire)


def _usage(value: Any) -> Usage | None:
    if not isinstance(value, dict):
        return None
    counts = [value.get(key) for key in ("input", "output", "cacheRead", "cacheWrite")]
    numbers = [n if isinstance(n, int) and n > 0 else 0 for n in counts]
    return Usage(*numbers) if any(numbers) else None


# --- writing -------------------------------------------------------------------------------


def wires(changed: Message) -> list[dict[str, Any]]:
    """Write a message that was changed or made elsewhere; one without anything left is none."""
    own = changed.raw if changed.dialect == NAME and isinstance(changed.raw, dict) else {}
    if changed.intact and own:
        return [own]
    out = [_result_wire(result, own) for result in changed.results]
    rest = [part for part in changed.parts if not isinstance(part, (ToolResult, Omitted))]
    if rest:
        out.append(_spoken_wire(changed, rest, own))
    return out


def _result_wire(result: ToolResult, own: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in own.items() if key != "details"}
    if own.get("role") != "toolResult":
        kept = {"role": "toolResult", "toolCallId": result.call_id, "toolName": result.name}
    return {**kept, "content": _blocks(result.content), "isError": result.is_error}


def _spoken_wire(changed: Message, parts: Sequence[Part], own: dict[str, Any]) -> dict[str, Any]:
    role = own.get("role")
    if role in _SUMMARIES:
        return {**own, "summary": flat_text(parts)}
    if role == "bashExecution":
        stamp = {"timestamp": own["timestamp"]} if "timestamp" in own else {}
        return {"role": "user", "content": _blocks(parts), **stamp}
    if isinstance(own.get("content"), str) and all(isinstance(part, Text) for part in parts):
        return {**own, "content": flat_text(parts)}
    spoken = "assistant" if changed.role == "assistant" else "user"
    return {"role": spoken, **own, "content": _blocks(parts)}


def _blocks(parts: Iterable[Part | Content]) -> list[dict[str, Any]]:
    return [block for part in parts for block in _block(part)]


def _block(part: Part | Content) -> list[dict[str, Any]]:
    own = part.raw if not isinstance(part, Omitted) and isinstance(part.raw, dict) else {}
    if isinstance(part, ToolCall):
        return [_call(part, own)]
    if own.get("type") in ("text", "thinking", "image") or (own and isinstance(part, Opaque)):
        return [own]
    match part:
        case Text(text):
            return [{"type": "text", "text": text}] if text else []
        case Media():
            return [_image(part)]
        case Opaque():
            return [{"type": "text", "text": flat_text([part])}]
        case _:
            return []


def _call(call: ToolCall, own: dict[str, Any]) -> dict[str, Any]:
    if own.get("type") != "toolCall":
        own = {"type": "toolCall", "id": call.id or f"call_{call.name}", "name": call.name}
    elif arguments_text(own.get("arguments"), None, "arguments") == call.arguments:
        return own
    kept = {key: value for key, value in own.items() if key != "partialJson"}
    return {**kept, "arguments": arguments_object(call.arguments)}


def _image(part: Media) -> dict[str, Any]:
    source = media_source(part.raw)
    if part.kind == "image" and source is not None and source.data:
        return {"type": "image", "data": source.data, "mimeType": source.media_type}
    return {"type": "text", "text": flat_text([part])}
