"""Messages of an Inspect sample: chat messages with arguments as objects and typed content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foldline.errors import InputError
from foldline.formats.dialect import expect
from foldline.formats.foreign import envelope, flat_text
from foldline.formats.json_document import JsonDocument, read_recording, reading, write_recording
from foldline.formats.media import media_from_url
from foldline.formats.recording import RecordedConversation, Recording
from foldline.formats.source import TranscriptSource
from foldline.formats.tool_json import arguments_object, arguments_text
from foldline.formats.zip_archive import ZipEntry, entry_names, is_archive, pack, unpack
from foldline.values.messages import (
    Content,
    Media,
    MediaKind,
    Message,
    Opaque,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from foldline.values.transcript import Transcript

NAME = "inspect-ai"
_ATTACHMENT = "attachment://"
_ROLES: dict[str, Role] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}
_MEDIA: dict[str, MediaKind] = {
    "image": "image",
    "audio": "audio",
    "video": "video",
    "document": "document",
}


def read_messages(items: Sequence[Any], attachments: Mapping[str, Any]) -> list[Message]:
    """
    Read the messages of a sample.

    Args:
        items: The entries as they stand in the log.
        attachments: The long texts that entries refer to as ``attachment://<hash>``.

    Raises:
        InputError: Naming the message index and the field.
    """
    return [_message(item, index, attachments) for index, item in enumerate(items)]


def write_messages(messages: Sequence[Message]) -> list[Any]:
    """Write messages as entries of a sample; untouched ones are the entries that came."""
    return [entry for message in messages for entry in _written(message)]


# --- reading -------------------------------------------------------------------------------


def _message(item: Any, index: int, attachments: Mapping[str, Any]) -> Message:
    wire = expect(item, dict, index, "")
    role = _ROLES.get(expect(wire.get("role"), str, index, "role"))
    if role is None:
        raise InputError(f"unknown role {wire['role']!r}", index=index, field="role")
    said = _content(wire.get("content"), index, attachments)
    if role == "tool":
        number = expect(wire.get("tool_call_id"), (str, type(None)), index, "tool_call_id")
        content = tuple(part for part in said if not isinstance(part, Thinking))
        failed = wire.get("error") is not None
        parts: tuple[Part, ...] = (
            ToolResult(number, content, str(wire.get("function") or ""), failed, raw=wire),
        )
    else:
        parts = (*said, *_calls(wire, index, attachments))
    return Message(role, parts, wire, NAME)


def _resolve(text: str, attachments: Mapping[str, Any]) -> str:
    if not text.startswith(_ATTACHMENT):
        return text
    found = attachments.get(text.removeprefix(_ATTACHMENT))
    return found if isinstance(found, str) else text


def _content(
    content: Any, index: int, attachments: Mapping[str, Any]
) -> tuple[Content | Thinking, ...]:
    if not expect(content, (str, list, type(None)), index, "content"):
        return ()
    if isinstance(content, str):
        return (Text(_resolve(content, attachments), raw=content),)
    return tuple(
        _block(expect(item, dict, index, f"content[{position}]"), attachments)
        for position, item in enumerate(content)
    )


def _block(wire: dict[str, Any], attachments: Mapping[str, Any]) -> Content | Thinking:
    kind = str(wire.get("type"))
    text = wire.get(kind)
    value = _resolve(text, attachments) if isinstance(text, str) else ""
    if kind == "text":
        return Text(value, raw=wire)
    if kind == "reasoning":
        hidden = bool(wire.get("redacted"))
        return Thinking("" if hidden else value, hidden or bool(wire.get("signature")), raw=wire)
    if kind in _MEDIA:
        detail = wire.get("detail")
        detail = detail if isinstance(detail, str) else None
        return media_from_url(value, wire, kind=_MEDIA[kind], detail=detail)
    return Opaque(kind, value, raw=wire)


def _calls(
    wire: dict[str, Any], index: int, attachments: Mapping[str, Any]
) -> tuple[ToolCall, ...]:
    calls = expect(wire.get("tool_calls"), (list, type(None)), index, "tool_calls") or []
    out = []
    for position, item in enumerate(calls):
        field = f"tool_calls[{position}]"
        call = expect(item, dict, index, field)
        number = expect(call.get("id"), str, index, f"{field}.id")
        name = expect(call.get("function"), str, index, f"{field}.function")
        given = call.get("arguments")
        if isinstance(given, dict):
            given = {
                key: _resolve(value, attachments) if isinstance(value, str) else value
                for key, value in given.items()
            }
        out.append(ToolCall(number, name, arguments_text(given), raw=call))
    return tuple(out)


# --- writing -------------------------------------------------------------------------------


def _written(message: Message) -> list[Any]:
    if message.intact and message.dialect == NAME:
        return [message.raw]
    out = [_result(result, message) for result in message.results]
    rest = [part for part in message.parts if not isinstance(part, ToolResult)]
    if out and not rest:
        return out
    entry = envelope(message, NAME)
    entry["content"] = _content_wire(rest, message)
    calls = [_call(call, message) for call in message.calls]
    if calls:
        entry["tool_calls"] = calls
    else:
        entry.pop("tool_calls", None)
    return [*out, entry]


def _result(result: ToolResult, message: Message) -> dict[str, Any]:
    own = message.dialect == NAME and message.role == "tool"
    entry = envelope(message, NAME) if own else {"role": "tool"}
    fields = {"tool_call_id": result.call_id, "function": result.name} if not own else {}
    return entry | {"content": _content_wire(result.content, message)} | fields


def _content_wire(parts: Sequence[Part], message: Message) -> Any:
    spoken = [part for part in parts if isinstance(part, (Text, Thinking, Media, Opaque))]
    if message.dialect != NAME or not any(isinstance(part.raw, dict) for part in spoken):
        return flat_text(spoken)
    return [_block_wire(part) for part in spoken]


def _block_wire(part: Text | Thinking | Media | Opaque) -> dict[str, Any]:
    if isinstance(part.raw, dict):
        own: dict[str, Any] = part.raw
        return own
    if isinstance(part, Thinking):
        return {"type": "reasoning", "reasoning": part.text}
    return {"type": "text", "text": flat_text([part])}


def _call(call: ToolCall, message: Message) -> dict[str, Any]:
    raw = call.raw if message.dialect == NAME and isinstance(call.raw, dict) else None
    if raw is None:
        given = arguments_object(call.arguments)
        return {"id": call.id, "function": call.name, "arguments": given, "type": "function"}
    if _same_arguments(raw, call):
        return raw
    return {**raw, "arguments": arguments_object(call.arguments)}


def _same_arguments(raw: dict[str, Any], call: ToolCall) -> bool:
    given = raw.get("arguments")
    refers = isinstance(given, dict) and any(
        isinstance(value, str) and value.startswith(_ATTACHMENT) for value in given.values()
    )
    return not refers and arguments_text(given) == call.arguments


_SAMPLES = "samples/"


@dataclass(frozen=True, slots=True)
class InspectArchive:
    """An ``.eval`` file: its members, and each sample as a recording of its own."""

    source: TranscriptSource
    members: tuple[ZipEntry, ...]
    samples: tuple[tuple[str, Recording], ...]


class InspectAI:
    """The log files of Inspect."""

    name = NAME
    title = "Inspect evaluation log (.json, .eval)"

    def recognises(self, source: TranscriptSource) -> float:
        """Look for ``eval`` beside ``samples``, in a document or in an archive."""
        if is_archive(source.data):
            found = entry_names(source.data)
            sampled = any(name.startswith(_SAMPLES) for name in found)
            return float(sampled and ("header.json" in found or "_journal/start.json" in found))
        log = source.document
        if not isinstance(log, dict) or not isinstance(log.get("samples"), list):
            return 0.0
        return float(isinstance(log.get("eval"), dict))

    def decode(self, source: TranscriptSource) -> Recording:
        """Read one conversation for every sample."""
        if is_archive(source.data):
            return _read_archive(source)
        log = expect(source.document, dict, None, "")
        samples = expect(log.get("samples"), list, None, "samples")
        if not samples:
            raise InputError("the log holds no samples", field="samples")
        found = [
            (*_sample(sample, f"samples[{index}]"), ("samples", index, "messages"))
            for index, sample in enumerate(samples)
        ]
        return read_recording(NAME, source, [(name, path, there) for name, there, path in found])

    def encode(self, recording: Recording) -> bytes:
        """Write the log again; an archive without changes is the very bytes that came."""
        if isinstance(recording.document, InspectArchive):
            return _write_archive(recording, recording.document)
        return _write_document(recording)


def _sample(entry: Any, field: str) -> tuple[str, Transcript]:
    sample = expect(entry, dict, None, field)
    name = f"sample {sample.get('id')} epoch {sample.get('epoch', 1)}"
    attachments = sample.get("attachments")
    with reading(name):
        items = expect(sample.get("messages"), list, None, "messages")
        messages = read_messages(items, attachments if isinstance(attachments, dict) else {})
    return name, Transcript.of(messages, NAME)


def _write_document(recording: Recording) -> bytes:
    return write_recording(recording, lambda _, __, there: write_messages(there.messages))


def _read_archive(source: TranscriptSource) -> Recording:
    members = unpack(source.data, source.name, source.max_bytes)
    samples = []
    for member in members:
        path = member.info.filename
        if path.startswith(_SAMPLES) and path.endswith(".json"):
            inner = TranscriptSource(member.data, path)
            name, there = _sample(inner.document, path)
            samples.append((path, read_recording(NAME, inner, [(name, ("messages",), there)])))
    if not samples:
        raise InputError(
            f"{source.name} holds no samples", hint="The run may have been cancelled."
        )
    conversations = tuple(sample.conversations[0] for _, sample in samples)
    return Recording(NAME, conversations, InspectArchive(source, members, tuple(samples)))


def _write_archive(recording: Recording, archive: InspectArchive) -> bytes:
    changes = {}
    for (path, sample), there in zip(archive.samples, recording.conversations, strict=True):
        data = _sample_bytes(sample, there)
        inner: JsonDocument = sample.document
        if data is not inner.source.data:
            changes[path] = data
    return pack(archive.members, changes) if changes else archive.source.data


def _sample_bytes(sample: Recording, there: RecordedConversation) -> bytes:
    return _write_document(sample.with_transcript(0, there.transcript))
