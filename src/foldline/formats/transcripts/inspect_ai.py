"""
Inspect evaluation logs: ``.json`` with samples, or ``.eval``, a zip file with one JSON a sample.

Every sample and epoch is a conversation. Long texts stand under ``attachments`` and are put in
place of ``attachment://<hash>``; an untouched message keeps its reference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from foldline.errors import InputError
from foldline.formats.dialect import expect
from foldline.formats.json_document import Document, reading, recorded, rewritten
from foldline.formats.recording import Conversation, Recording
from foldline.formats.source import Source
from foldline.formats.transcripts.inspect_messages import NAME, read_messages, write_messages
from foldline.formats.zip_archive import Member, is_archive, names, packed, unpack
from foldline.values.transcript import Transcript

_SAMPLES = "samples/"


@dataclass(frozen=True, slots=True)
class Archive:
    """An ``.eval`` file: its members, and each sample as a recording of its own."""

    source: Source
    members: tuple[Member, ...]
    samples: tuple[tuple[str, Recording], ...]


class InspectAI:
    """The log files of Inspect."""

    name = NAME
    title = "Inspect evaluation log (.json, .eval)"

    def recognises(self, source: Source) -> float:
        """Look for ``eval`` beside ``samples``, in a document or in an archive."""
        if is_archive(source.data):
            found = names(source.data)
            sampled = any(name.startswith(_SAMPLES) for name in found)
            return float(sampled and ("header.json" in found or "_journal/start.json" in found))
        log = source.document
        if not isinstance(log, dict) or not isinstance(log.get("samples"), list):
            return 0.0
        return float(isinstance(log.get("eval"), dict))

    def decode(self, source: Source) -> Recording:
        """Read one conversation for every sample."""
        if is_archive(source.data):
            return _unpacked(source)
        log = expect(source.document, dict, None, "")
        samples = expect(log.get("samples"), list, None, "samples")
        if not samples:
            raise InputError("the log holds no samples", field="samples")
        found = [
            (*_sample(sample, f"samples[{index}]"), ("samples", index, "messages"))
            for index, sample in enumerate(samples)
        ]
        return recorded(NAME, source, [(name, path, there) for name, there, path in found])

    def encode(self, recording: Recording) -> bytes:
        """Write the log again; an archive without changes is the very bytes that came."""
        if isinstance(recording.document, Archive):
            return _repacked(recording, recording.document)
        return _written(recording)


def _sample(entry: Any, field: str) -> tuple[str, Transcript]:
    sample = expect(entry, dict, None, field)
    name = f"sample {sample.get('id')} epoch {sample.get('epoch', 1)}"
    attachments = sample.get("attachments")
    with reading(name):
        items = expect(sample.get("messages"), list, None, "messages")
        messages = read_messages(items, attachments if isinstance(attachments, dict) else {})
    return name, Transcript.of(messages, NAME)


def _written(recording: Recording) -> bytes:
    return rewritten(recording, lambda _, __, there: write_messages(there.messages))


def _unpacked(source: Source) -> Recording:
    members = unpack(source.data, source.name, source.max_bytes)
    samples = []
    for member in members:
        path = member.info.filename
        if path.startswith(_SAMPLES) and path.endswith(".json"):
            inner = Source(member.data, path)
            name, there = _sample(inner.document, path)
            samples.append((path, recorded(NAME, inner, [(name, ("messages",), there)])))
    if not samples:
        raise InputError(
            f"{source.name} holds no samples", hint="The run may have been cancelled."
        )
    conversations = tuple(sample.conversations[0] for _, sample in samples)
    return Recording(NAME, conversations, Archive(source, members, tuple(samples)))


def _repacked(recording: Recording, archive: Archive) -> bytes:
    changes = {}
    for (path, sample), there in zip(archive.samples, recording.conversations, strict=True):
        data = _sample_bytes(sample, there)
        inner: Document = sample.document
        if data is not inner.source.data:
            changes[path] = data
    return packed(archive.members, changes) if changes else archive.source.data


def _sample_bytes(sample: Recording, there: Conversation) -> bytes:
    return _written(sample.with_transcript(0, there.transcript))
