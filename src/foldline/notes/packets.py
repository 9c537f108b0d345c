"""Notes for a context: what they say, and how much that matters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from foldline.notes.note import RELEVANCE, Note
from foldline.relevance.language import CHINESE, language
from foldline.tokens.estimate import estimate

WORDS: Final = {True: ("笔记", "类型"), False: ("Note", "Type")}
"""What a note and its type are called, in Chinese and in English."""


@dataclass(frozen=True, slots=True)
class NotePacket:
    """
    A note as a piece of context.

    ``timestamp`` is when it was changed last, ``token_count`` an estimate of what ``content``
    takes, ``relevance_score`` from 0 to 1. ``metadata`` names the note: ``type`` is "note",
    ``note_type``, ``note_id``, ``title``, ``level``, ``tags``, and ``strength`` where it was
    searched for.
    """

    content: str = field(repr=False)
    timestamp: datetime
    token_count: int
    relevance_score: float
    metadata: Mapping[str, Any]


def packet(note: Note, strength: float | None = None) -> NotePacket:
    """
    Return a note as a piece of context.

    Args:
        note: The note.
        strength: How well it was found, from 0 to 1; None where it was not searched for.
    """
    named, typed = WORDS[language((note.title, note.content)) == CHINESE]
    content = f"[{named}: {note.title}]\n{typed}: {note.type}\n\n{note.content}"
    metadata: dict[str, Any] = {
        "type": "note",
        "note_type": note.type,
        "note_id": note.id,
        "title": note.title,
        "level": note.level,
        "tags": note.tags,
    }
    if note.status is not None:
        metadata["status"] = note.status
    if strength is not None:
        metadata["strength"] = strength
    return NotePacket(content, note.updated_at, estimate(content), RELEVANCE[note.type], metadata)
