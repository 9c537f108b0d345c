"""Messages of pi: reading them as neutral parts, and writing them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any

from foldline.formats.arrangement import LineTree, text_column
from foldline.formats.blocks import media_from_base64, media_source, opaque_text
from foldline.formats.conversion import flat_text
from foldline.formats.fields import bounded_nesting, expect, read_content, text_or, token_counts
from foldline.formats.jsonl import Lines, SessionSegment, at_line, read_lines
from foldline.formats.source import TranscriptSource
from foldline.formats.tool_json import CallShape
from foldline.frozen import frozen, replace
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
from foldline.values.transcript import Transcript

NAME = "pi"

CALL = CallShape(new={"type": "toolCall"})

ROLES: dict[str, Role] = {"assistant": "assistant", "toolResult": "tool"}
"""The roles of pi's messages; any other role is read as user."""

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
        parts = read_content(wire.get("content"), index, "content", _part)
    return Message(role, parts, wire, NAME, usage=_usage(wire.get("usage")))


def _usage(value: Any) -> Usage | None:
    usage = Usage(*token_counts(value, "input", "output", "cacheRead", "cacheWrite"))
    return usage if usage.total else None


def is_visible(wire: dict[str, Any]) -> bool:
    """Return True if pi sends a message; it skips excluded commands and aborted answers."""
    if wire.get("role") in _SUMMARIES:
        return bool(wire.get("summary"))
    if wire.get("role") == "assistant":
        return bool(wire.get("content"))
    return not wire.get("excludeFromContext")


def _command_text(wire: dict[str, Any]) -> str:
    """Describe a shell command and its output in the wording of pi."""
    output = wire.get("output")
    output_block = f"```\n{output}\n```" if output else "(no output)"
    text = f"Ran `{wire.get('command')}`\n{output_block}"
    if wire.get("cancelled"):
        text += "\n\n(command cancelled)"
    elif wire.get("exitCode"):
        text += f"\n\nCommand exited with code {wire['exitCode']}"
    if wire.get("truncated") and wire.get("fullOutputPath"):
        text += f"\n\n[Output truncated. Full output: {wire['fullOutputPath']}]"
    return text


def _result(wire: dict[str, Any], index: int) -> ToolResult:
    number = expect(wire.get("toolCallId"), (str, type(None)), index, "toolCallId")
    parts = read_content(wire.get("content"), index, "content", _part)
    content = tuple(part for part in parts if isinstance(part, (Text, Media, Opaque)))
    name = text_or(wire.get("toolName"), "")
    return ToolResult(number, content, name, wire.get("isError") is True, raw=wire)


def _part(wire: dict[str, Any], index: int, field: str) -> Part:
    match wire.get("type"):
        case "text":
            return Text(expect(wire.get("text"), str, index, f"{field}.text"), raw=wire)
        case "thinking":
            text = expect(wire.get("thinking"), (str, type(None)), index, f"{field}.thinking")
            return Thinking(text or "", bool(wire.get("thinkingSignature")), raw=wire)
        case "toolCall":
            signed = bool(wire.get("thoughtSignature"))
            return replace(CALL.read(wire, index, field), signed=signed)
        case "image":
            data = expect(wire.get("data"), str, index, f"{field}.data")
            return media_from_base64(data, str(wire.get("mimeType") or "image/png"), wire)
        case kind:
            return Opaque(kind if isinstance(kind, str) else "unknown", opaque_text(wire), wire)


# --- writing -------------------------------------------------------------------------------


def wires(changed: Message) -> list[dict[str, Any]]:
    """Write a changed or new message; an empty one gives an empty list."""
    own = changed.raw if changed.dialect == NAME and isinstance(changed.raw, dict) else {}
    if changed.intact and own:
        return [own]
    out = [_result_wire(result, own) for result in changed.results]
    rest = [part for part in changed.parts if not isinstance(part, (ToolResult, Omitted))]
    if rest:
        out.append(_message_wire(changed, rest, own))
    return out


def _result_wire(result: ToolResult, own: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in own.items() if key != "details"}
    if own.get("role") != "toolResult":
        kept = {"role": "toolResult", "toolCallId": result.call_id, "toolName": result.name}
    return {**kept, "content": _blocks(result.content), "isError": result.is_error}


def _message_wire(changed: Message, parts: Sequence[Part], own: dict[str, Any]) -> dict[str, Any]:
    role = own.get("role")
    if role in _SUMMARIES:
        return {**own, "summary": flat_text(parts)}
    if role == "bashExecution":
        stamp = {"timestamp": own["timestamp"]} if "timestamp" in own else {}
        return {"role": "user", "content": _blocks(parts), **stamp}
    if isinstance(own.get("content"), str) and all(isinstance(part, Text) for part in parts):
        return {**own, "content": flat_text(parts)}
    wire_role = "assistant" if changed.role == "assistant" else "user"
    return {"role": wire_role, **own, "content": _blocks(parts)}


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
        return CALL.write(replace(call, id=call.id or f"call_{call.name}"), None)
    written = CALL.write(call, own)
    return own if written is own else {k: v for k, v in written.items() if k != "partialJson"}


def _image(part: Media) -> dict[str, Any]:
    source = media_source(part.raw)
    if part.kind == "image" and source is not None and source.data:
        return {"type": "image", "data": source.data, "mimeType": source.media_type}
    return {"type": "text", "text": flat_text([part])}


MAX_SEGMENTS = 100
"""Maximum number of segments that are read; each may repeat everything kept of earlier ones."""


@frozen
class PiSegment(SessionSegment):
    """A segment that begins with the summary of the line ``compaction``, if there is one."""

    compaction: int | None = None


@frozen
class PiSession:
    """
    A parsed session file, with all that is needed to write it.

    ``entries`` are the lines that are JSON objects, ``path`` those from the root to the last one,
    ``kept`` the first line kept by each compaction.
    """

    id: str
    lines: Lines
    tree: LineTree
    entries: tuple[int, ...]
    path: frozenset[int]
    kept: dict[int, int]
    segments: tuple[PiSegment, ...]


def read(source: TranscriptSource) -> tuple[PiSession, tuple[str, ...]]:
    """
    Read a session file.

    Returns:
        The session, its current segment last, and warnings.

    Raises:
        InputError: A message is malformed; the error names line and field.
    """
    lines, values, warnings = read_lines(source)
    records = [value or {} for value in values]
    entries = tuple(number for number, value in enumerate(values) if value is not None)
    tree = LineTree.of(text_column(records, "id"), text_column(records, "parentId"))
    linked = bool(entries) and tree.keys[entries[-1]] is not None
    path = tree.path(entries[-1]) if linked else frozenset(entries)
    cuts = [number for number in sorted(path) if records[number].get("type") == "compaction"]
    kept = {cut: _first_kept(records[cut], cut, entries, tree) for cut in cuts}
    visible = [number for number in sorted(path) if is_message(records[number])]
    found = []
    edges = list(zip([None, *cuts], [*cuts, len(records)], strict=True))
    if len(edges) > MAX_SEGMENTS:
        warnings = (*warnings, f"only the newest {MAX_SEGMENTS} of {len(edges)} segments are read")
    for before, end in edges[-MAX_SEGMENTS:]:
        start = 0 if before is None else kept[before]
        seen = visible[bisect_left(visible, start) : bisect_left(visible, end)]
        found.append(_segment(records, before, seen))
    segments = tuple(segment for segment in found if segment.messages) or (PiSegment(),)
    name = text_or(records[0].get("id") if records else None, "session")
    return PiSession(name, lines, tree, entries, path, kept, segments), warnings


def wire_of(record: dict[str, Any]) -> dict[str, Any] | None:
    """Return the message of an entry in pi's shape, None if it has none."""
    match record:
        case {"type": "message", "message": dict(wire)}:
            return wire
        case {"type": "custom_message"}:
            return {"role": "custom", "content": record.get("content")}
        case {"type": "compaction"}:
            return {"role": "compactionSummary", "summary": record.get("summary") or ""}
        case {"type": "branch_summary"}:
            return {"role": "branchSummary", "summary": record.get("summary") or ""}
        case _:
            return None


def is_message(record: dict[str, Any]) -> bool:
    """Return True if an entry that is not a compaction is sent to the model."""
    wire = wire_of(record) if record.get("type") != "compaction" else None
    return wire is not None and is_visible(wire)


def _segment(
    records: Sequence[dict[str, Any]], compaction: int | None, seen: Sequence[int]
) -> PiSegment:
    summary = None if compaction is None else wire_of(records[compaction])
    lead = [compaction] if compaction is not None and summary and summary["summary"] else []
    numbers = [*lead, *seen]
    with at_line(numbers), bounded_nesting():
        wires = [wire_of(records[number]) or {} for number in numbers]
        decoded = [message(wire, index) for index, wire in enumerate(wires)]
        messages = Transcript.of(decoded, NAME).messages
    body = zip(messages[len(lead) :], seen, strict=True)
    return PiSegment(messages, {message.id: (line,) for message, line in body}, compaction)


def _first_kept(record: dict[str, Any], line: int, entries: Sequence[int], tree: LineTree) -> int:
    """Return the first line that a compaction kept; its own line if it kept none."""
    index = record.get("firstKeptEntryIndex")
    if isinstance(index, int) and 0 <= index < len(entries):
        return min(entries[index], line)
    key = record.get("firstKeptEntryId")
    if isinstance(key, str):
        return min(tree.lines.get(key, line), line)
    return line
