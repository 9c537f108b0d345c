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
    from foldline.notes.consolidation import Consolidation, UndoReport
    from foldline.notes.consolidation_plan import ConsolidationPlan, LevelSettings
    from foldline.notes.note import (
        KINDS,
        LEVELS,
        RELEVANCE,
        STATUSES,
        BrokenNote,
        CyclicTasks,
        Note,
        NoteConflict,
        NoteMetadata,
        SkippedFile,
        UnknownNote,
    )
    from foldline.notes.note_store import NoteLimits, Version
    from foldline.notes.notes import Notes
    from foldline.notes.search import FoundNote, NotePacket, NoteSummary
    from foldline.notes.task_graph import TaskGraph, TaskState
    from foldline.notes.tasks import NoteTasks, RunReport, Schedule

_HOMES = {
    "BrokenNote": "note",
    "NoteMetadata": "note",
    "Consolidation": "consolidation",
    "CyclicTasks": "note",
    "FoundNote": "search",
    "KINDS": "note",
    "LEVELS": "note",
    "LevelSettings": "consolidation_plan",
    "Note": "note",
    "NoteConflict": "note",
    "NoteLimits": "note_store",
    "NotePacket": "search",
    "NoteSummary": "search",
    "Notes": "notes",
    "ConsolidationPlan": "consolidation_plan",
    "RELEVANCE": "note",
    "RunReport": "tasks",
    "STATUSES": "note",
    "Schedule": "tasks",
    "TaskState": "task_graph",
    "TaskGraph": "task_graph",
    "NoteTasks": "tasks",
    "SkippedFile": "note",
    "UndoReport": "consolidation",
    "UnknownNote": "note",
    "Version": "note_store",
}

__all__ = [
    "KINDS",
    "LEVELS",
    "RELEVANCE",
    "STATUSES",
    "BrokenNote",
    "Consolidation",
    "ConsolidationPlan",
    "CyclicTasks",
    "FoundNote",
    "LevelSettings",
    "Note",
    "NoteConflict",
    "NoteLimits",
    "NoteMetadata",
    "NotePacket",
    "NoteSummary",
    "NoteTasks",
    "Notes",
    "RunReport",
    "Schedule",
    "SkippedFile",
    "TaskGraph",
    "TaskState",
    "UndoReport",
    "UnknownNote",
    "Version",
]


__getattr__, __dir__ = lazily(__name__, _HOMES)
