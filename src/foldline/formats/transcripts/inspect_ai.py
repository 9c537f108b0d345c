"""Inspect logs: chat messages with arguments as objects and typed content, also in archives."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from foldline.errors import InputError
from foldline.formats.blocks import media_from_url
from foldline.formats.conversion import envelope, flat_text, write_entries
from foldline.formats.fields import (
    expect,
    prefix_errors,
    read_content,
    read_objects,
    read_role,
    text_or,
)
from foldline.formats.json_document import JsonDocument, JsonFormat, Path
from foldline.formats.recording import Recording
from foldline.formats.source import TranscriptSource, too_large, unpacked_limit
from foldline.formats.tool_json import CallShape
from foldline.frozen import frozen, replace
from foldline.values.messages import (
    Content,
    Media,
    MediaKind,
    Message,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from foldline.values.transcript import Transcript

NAME = "inspect-ai"
CALL = CallShape(name="function", needs_id=True, new={"type": "function"})
_ATTACHMENT = "attachment://"
_SAMPLES = "samples/"


MAX_MEMBERS = 20_000
"""Maximum number of members in an archive."""

# RuntimeError: encrypted; ValueError: invalid names and offsets.
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError)


@frozen
class ZipEntry:
    """One file of an archive, unpacked."""

    info: zipfile.ZipInfo
    data: bytes


@frozen
class InspectArchive:
    """An ``.eval`` file: its members, and one recording per sample."""

    source: TranscriptSource
    members: tuple[ZipEntry, ...]
    samples: tuple[tuple[str, Recording], ...]


class InspectAI(JsonFormat):
    """The log files of Inspect."""

    name = NAME
    title = "Inspect evaluation log (.json, .eval)"
    several = True

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

    def find(self, document: Any) -> Iterator[tuple[str, Path, Any]]:
        """Yield every sample of a log."""
        samples = expect(expect(document, dict, None, "").get("samples"), list, None, "samples")
        if not samples:
            raise InputError("the log holds no samples", field="samples")
        for index, entry in enumerate(samples):
            sample = expect(entry, dict, None, f"samples[{index}]")
            yield _name(sample), ("samples", index, "messages"), sample

    def read(self, wire: Any) -> Transcript:
        """Read the messages of a sample; long texts are stored in its attachments."""
        items = expect(wire.get("messages"), list, None, "messages")
        attachments = wire.get("attachments")
        reader = _Reader(attachments if isinstance(attachments, dict) else {})
        return Transcript.of([reader.message(item, n) for n, item in enumerate(items)], NAME)

    def write(self, messages: Sequence[Message]) -> list[Any]:
        """Write messages as entries of a sample."""
        return list(write_entries(messages, NAME, _result, _entry))

    def decode(self, source: TranscriptSource) -> Recording:
        """Read one conversation for every sample."""
        if not is_archive(source.data):
            return super().decode(source)
        members = unpack(source.data, source.name, source.max_bytes)
        samples = []
        for member in members:
            path = member.info.filename
            if path.startswith(_SAMPLES) and path.endswith(".json"):
                with prefix_errors(path):
                    samples.append((path, _MEMBER.decode(TranscriptSource(member.data, path))))
        if not samples:
            raise InputError(
                f"{source.name} holds no samples", hint="The run may have been cancelled."
            )
        conversations = tuple(sample.conversations[0] for _, sample in samples)
        return Recording(NAME, conversations, InspectArchive(source, members, tuple(samples)))

    def encode(self, recording: Recording) -> bytes:
        """Write the log; an unchanged archive is returned as its original bytes."""
        archive = recording.document
        if not isinstance(archive, InspectArchive):
            return super().encode(recording)
        changes = {}
        for (path, sample), there in zip(archive.samples, recording.conversations, strict=True):
            data = _MEMBER.encode(sample.with_transcript(0, there.transcript))
            inner: JsonDocument = sample.document
            if data is not inner.source.data:
                changes[path] = data
        return pack(archive.members, changes) if changes else archive.source.data


class _Member(InspectAI):
    """A file of an archive, which is one sample."""

    def find(self, document: Any) -> Iterator[tuple[str, Path, Any]]:
        sample = expect(document, dict, None, "")
        yield _name(sample), ("messages",), sample


_MEMBER = _Member()


def _name(sample: dict[str, Any]) -> str:
    return f"sample {sample.get('id')} epoch {sample.get('epoch', 1)}"


# --- reading -------------------------------------------------------------------------------


@frozen
class _Reader:
    """Reads the messages of a sample that refer to ``attachments`` by their hash."""

    attachments: Mapping[str, Any]

    def message(self, item: Any, index: int) -> Message:
        wire = expect(item, dict, index, "")
        role = read_role(wire, index)
        content = wire.get("content")
        content_parts = read_content(content, index, "content", self._block)
        if isinstance(content, str) and content_parts:
            content_parts = (Text(self._resolve(content), raw=content),)
        if role == "tool":
            number = expect(wire.get("tool_call_id"), (str, type(None)), index, "tool_call_id")
            answer = tuple(part for part in content_parts if not isinstance(part, Thinking))
            name, failed = str(wire.get("function") or ""), wire.get("error") is not None
            return Message(role, (ToolResult(number, answer, name, failed, raw=wire),), wire, NAME)
        calls = read_objects(wire.get("tool_calls"), index, "tool_calls", self._call)
        return Message(role, (*content_parts, *calls), wire, NAME)

    def _resolve(self, text: Any) -> Any:
        if not isinstance(text, str) or not text.startswith(_ATTACHMENT):
            return text
        found = self.attachments.get(text.removeprefix(_ATTACHMENT))
        return found if isinstance(found, str) else text

    def _block(self, wire: dict[str, Any], _: int, __: str) -> Content | Thinking:
        kind = str(wire.get("type"))
        text = self._resolve(wire.get(kind))
        value = text if isinstance(text, str) else ""
        if kind == "text":
            return Text(value, raw=wire)
        if kind == "reasoning":
            hidden = bool(wire.get("redacted"))
            signed = hidden or bool(wire.get("signature"))
            return Thinking("" if hidden else value, signed, raw=wire)
        media: MediaKind | None = next((k for k in get_args(MediaKind) if k == kind), None)
        if media is None:
            return Opaque(kind, value, raw=wire)
        return media_from_url(value, wire, kind=media, detail=text_or(wire.get("detail"), None))

    def _call(self, wire: dict[str, Any], index: int, field: str) -> ToolCall:
        given = wire.get("arguments")
        if isinstance(given, dict):
            given = {key: self._resolve(value) for key, value in given.items()}
        return replace(CALL.read({**wire, "arguments": given}, index, field), raw=wire)


# --- writing -------------------------------------------------------------------------------


def _entry(message: Message, rest: Sequence[Part]) -> dict[str, Any]:
    entry = envelope(message, NAME)
    entry["content"] = _content_wire(rest, message)
    entry.pop("tool_calls", None)
    calls = [_call_wire(call, message) for call in message.calls]
    return {**entry, "tool_calls": calls} if calls else entry


def _result(result: ToolResult, message: Message) -> dict[str, Any]:
    content = {"content": _content_wire(result.content, message)}
    if message.dialect == NAME and message.role == "tool":
        return envelope(message, NAME) | content
    names = {"tool_call_id": result.call_id, "function": result.name}
    return {"role": "tool"} | content | names


def _content_wire(parts: Sequence[Part], message: Message) -> Any:
    content = [part for part in parts if isinstance(part, (Text, Thinking, Media, Opaque))]
    if message.dialect != NAME or not any(isinstance(part.raw, dict) for part in content):
        return flat_text(content)
    return [_block_wire(part) for part in content]


def _block_wire(part: Text | Thinking | Media | Opaque) -> Any:
    if isinstance(part, Thinking):
        return part.raw or {"type": "reasoning", "reasoning": part.text}
    return part.raw if isinstance(part.raw, dict) else {"type": "text", "text": flat_text([part])}


def _call_wire(call: ToolCall, message: Message) -> dict[str, Any]:
    if message.dialect != NAME or not isinstance(call.raw, dict):
        return CALL.write(call, None)
    given = call.raw.get("arguments")
    refers = isinstance(given, dict) and any(
        isinstance(value, str) and value.startswith(_ATTACHMENT) for value in given.values()
    )
    # References to attachments were resolved when they were read.
    return CALL.write(call, {**call.raw, "arguments": {}} if refers else call.raw)


# --- archives ------------------------------------------------------------------------------


def is_archive(data: bytes) -> bool:
    """Return True if bytes begin like a zip file."""
    return data[:4] == b"PK\x03\x04"


def entry_names(data: bytes) -> list[str]:
    """Return the names of the members without unpacking; none if it is not an archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return archive.namelist()[:MAX_MEMBERS]
    except _DAMAGED:
        return []


def unpack(data: bytes, name: str, max_bytes: int | None = None) -> tuple[ZipEntry, ...]:
    """
    Unpack an archive in memory.

    Args:
        data: The archive.
        name: Its name in messages.
        max_bytes: Maximum total size of its members, in bytes; None for `unpacked_limit`.

    Raises:
        InputError: Damaged, encrypted, compressed by an unknown method, or too large.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
            if len(infos) > MAX_MEMBERS:
                raise InputError(f"{name} has more than {MAX_MEMBERS:,} members")
            out, total, limit = [], 0, unpacked_limit(len(data), max_bytes)
            for info in infos:
                out.append(ZipEntry(info, _read(archive, info, limit - total)))
                total += len(out[-1].data)
                if total > limit:
                    raise too_large(name, limit)
            return tuple(out)
    except _DAMAGED as error:
        raise InputError(
            f"{name} is not a readable zip file: {error}",
            hint="Dump the log as JSON and give that file.",
        ) from error


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, left: int) -> bytes:
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise zipfile.BadZipFile(f"{info.filename} is not compressed with deflate")
    # The sizes in the directory are untrusted: the read itself is bounded.
    with archive.open(info) as stream:
        return stream.read(left + 1)


def pack(members: tuple[ZipEntry, ...], changes: Mapping[str, bytes]) -> bytes:
    """Write an archive: the same members in the same order, some with new content."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for member in members:
            info = zipfile.ZipInfo(member.info.filename, member.info.date_time)
            info.compress_type = member.info.compress_type
            info.external_attr = member.info.external_attr
            info.create_system = member.info.create_system
            archive.writestr(info, changes.get(member.info.filename, member.data))
    return out.getvalue()
