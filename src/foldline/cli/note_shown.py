"""Notes as people see them: one whole, many in a table, counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from foldline.cli.output import (
    Voice,
    console,
    counted,
    flexible,
    moment,
    one_line,
    table,
    write_json,
    write_text,
)
from foldline.notes import Note, NoteMetadata, NoteSummary, SkippedFile

if TYPE_CHECKING:
    from rich.text import Text

TAIL = 8
"""Letters at the end of an id that a table shows; they are random, so they tell it apart."""


def show_note(note: Note, voice: Voice) -> None:
    """Show what is known about a note on stderr, and its content on stdout."""
    if voice.json:
        write_json("note/1", {"note": note.to_dict()})
        return
    tags = f", tags {', '.join(note.tags)}" if note.tags else ""
    voice.note(note.title)
    voice.note(f"{note.id}: {note.type}, {note.level}, version {note.version}{tags}")
    if note.status:
        needs = f", needs {', '.join(note.needs)}" if note.needs else ""
        outcome = f": {note.outcome}" if note.outcome else ""
        voice.note(f"task, {note.status}{outcome}{needs}")
    if note.source:
        voice.note(f"from {note.source}")
    write_text(note.content)


def show_list(notes: Sequence[Note], voice: Voice) -> None:
    """Show notes in a table."""
    if voice.json:
        write_json("notes/1", {"notes": [note.to_dict() for note in notes]})
        return
    if notes:
        grid = table("id", "type", "level", "*title", "*tags", ">version", "changed")
        for note in notes:
            grid.add_row(*_cells(note))
        console().print(grid)
    voice.note(f"{counted(len(notes), 'note')}.")


def show_summary(summary: NoteSummary, voice: Voice) -> None:
    """Show how many notes there are of which kind, and those that changed last."""
    if voice.json:
        value = {
            "total": summary.total,
            "by_type": dict(summary.by_type),
            "by_level": dict(summary.by_level),
            "by_status": dict(summary.by_status),
            "recent": [card.to_dict() for card in summary.recent],
            "troubles": [{"name": one.name, "why": one.why} for one in summary.troubles],
        }
        write_json("note-summary/1", value)
        return
    grid = table("what", "*which", ">notes")
    for what, counts in (
        ("type", summary.by_type),
        ("level", summary.by_level),
        ("task", summary.by_status),
    ):
        for name, count in sorted(counts.items()):
            grid.add_row(what, flexible(name), f"{count:,}")
    console().print(grid)
    for card in summary.recent:
        voice.note(f"{card.updated_at:%Y-%m-%d} {card.id[-TAIL:]} {one_line(card.title, 80)}")
    warn_of(summary.troubles, voice)
    voice.note(f"{counted(summary.total, 'note')}.")


def warn_of(troubles: Iterable[SkippedFile], voice: Voice) -> None:
    """Name the files that are no notes, and why; they are left alone."""
    voice.warn(f"{one_line(one.name, 80)} is left alone: {one.why}" for one in troubles)


def _cells(card: NoteMetadata) -> tuple[str | Text, ...]:
    return (
        one_line(card.id[-TAIL:]),
        card.type if card.status is None else card.status,
        card.level,
        flexible(card.title),
        flexible(", ".join(card.tags)),
        str(card.version),
        f"{moment(card.updated_at.timestamp()).astimezone():%Y-%m-%d %H:%M}",
    )
