"""
Structured notes: Markdown files that people edit, with levels, a search, and a graph of tasks.

    from foldline.notes import Notes
    notes = Notes.open("project_notes")
    notes.create("Login fails", "Since 1.4 …", type="blocker")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.lazy_names import lazily

if TYPE_CHECKING:
    from foldline.notes.consolidating import Consolidation, Undoing
    from foldline.notes.front import Notes
    from foldline.notes.graph import Standing, TaskGraph
    from foldline.notes.levels import LevelSettings, Plan
    from foldline.notes.note import KINDS, LEVELS, RELEVANCE, STATUSES, Card, Note
    from foldline.notes.packets import NotePacket
    from foldline.notes.problems import (
        BrokenNote,
        CyclicTasks,
        NoteConflict,
        Trouble,
        UnknownNote,
    )
    from foldline.notes.scheduling import RunReport, Schedule
    from foldline.notes.searching import Found
    from foldline.notes.selecting import NoteSummary
    from foldline.notes.shelf import NoteLimits, Version
    from foldline.notes.tasks import Tasks

_HOMES = {
    "BrokenNote": "problems",
    "Card": "note",
    "Consolidation": "consolidating",
    "CyclicTasks": "problems",
    "Found": "searching",
    "KINDS": "note",
    "LEVELS": "note",
    "LevelSettings": "levels",
    "Note": "note",
    "NoteConflict": "problems",
    "NoteLimits": "shelf",
    "NotePacket": "packets",
    "NoteSummary": "selecting",
    "Notes": "front",
    "Plan": "levels",
    "RELEVANCE": "note",
    "RunReport": "scheduling",
    "STATUSES": "note",
    "Schedule": "scheduling",
    "Standing": "graph",
    "TaskGraph": "graph",
    "Tasks": "tasks",
    "Trouble": "problems",
    "Undoing": "consolidating",
    "UnknownNote": "problems",
    "Version": "shelf",
}

__all__ = [
    "KINDS",
    "LEVELS",
    "RELEVANCE",
    "STATUSES",
    "BrokenNote",
    "Card",
    "Consolidation",
    "CyclicTasks",
    "Found",
    "LevelSettings",
    "Note",
    "NoteConflict",
    "NoteLimits",
    "NotePacket",
    "NoteSummary",
    "Notes",
    "Plan",
    "RunReport",
    "Schedule",
    "Standing",
    "TaskGraph",
    "Tasks",
    "Trouble",
    "Undoing",
    "UnknownNote",
    "Version",
]


__getattr__, __dir__ = lazily(__name__, _HOMES)
