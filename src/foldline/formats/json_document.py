"""Transcript files that are one JSON document holding one list of messages or several."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from foldline.errors import InputError
from foldline.formats.json_text import Path, replaced
from foldline.formats.recording import Conversation, Recording
from foldline.formats.source import Source
from foldline.values.messages import Message
from foldline.values.transcript import Transcript


@dataclass(frozen=True, slots=True)
class Place:
    """Where a conversation stands in a document, and its messages as they were read."""

    path: Path
    messages: tuple[Message, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON document with the places of its conversations, one for each of them."""

    source: Source
    places: tuple[Place, ...]


def at(value: Any, path: Path) -> Any:
    """Return what stands at a path of a JSON value, or None."""
    for step in path:
        if isinstance(step, str) and isinstance(value, dict):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def recorded(
    name: str, source: Source, found: Sequence[tuple[str, Path, Transcript]]
) -> Recording:
    """
    Build the recording of a document.

    Args:
        name: Name of the file format.
        source: The file.
        found: Name, path of the list of messages, and transcript of each conversation.
    """
    places = tuple(Place(path, transcript.messages) for _, path, transcript in found)
    conversations = tuple(Conversation(title, transcript) for title, _, transcript in found)
    return Recording(name, conversations, Document(source, places))


def rewritten(
    recording: Recording, write: Callable[[Sequence[Any], Place, Transcript], Any]
) -> bytes:
    """
    Write a document again; an unchanged one is the very bytes that came.

    Args:
        recording: What ``recorded`` built, with conversations changed or not.
        write: Given the old list, its place and the changed transcript, returns the new list.
            Entries that are the same objects as before keep their text.
    """
    document: Document = recording.document
    changes = {
        place.path: write(at(document.source.document, place.path), place, there.transcript)
        for place, there in zip(document.places, recording.conversations, strict=True)
        if not unchanged(place.messages, there.transcript.messages)
    }
    if not changes:
        return document.source.data
    return as_bytes(
        document.source, replaced(document.source.text, document.source.document, changes)
    )


def as_bytes(source: Source, text: str) -> bytes:
    """Encode changed text in the way of its file, with a byte order mark if it had one."""
    mark = "\ufeff".encode(source.encoding)
    data = text.encode(source.encoding, "surrogatepass")
    return mark + data if source.data.startswith(mark) else data


def unchanged(before: Sequence[Message], after: Sequence[Message]) -> bool:
    """Tell whether messages are still what was read: the same ones, in order, untouched."""
    return len(before) == len(after) and all(
        new is old or (new.intact and new.raw is old.raw and new.id == old.id)
        for old, new in zip(before, after, strict=True)
    )


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Name the conversation in errors about one of its messages."""
    try:
        yield
    except InputError as error:
        named = InputError(f"{name}, {error.message}", hint=error.hint)
        named.index, named.field = error.index, error.field
        raise named from error
