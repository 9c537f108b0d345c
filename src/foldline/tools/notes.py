"""
Notes as a tool: create, read, update, search and count notes, and manage dependent tasks.

    notes = NoteTool(workspace="./project_notes")
    notes.run({"action": "create", "title": "Login fails", "content": "…", "note_type": "blocker"})
    Toolbox([notes.tool])
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from foldline.errors import FoldlineError, InputError
from foldline.notes import (
    Note,
    NoteConflict,
    NoteLimits,
    Notes,
    TaskState,
    UnknownNote,
)
from foldline.tools.arguments import check_arguments
from foldline.tools.description import describe_tool
from foldline.tools.output import ErrorCode, ToolOutput
from foldline.tools.spec import Tool

Given: TypeAlias = Mapping[str, Any]

PREVIEW: Final = 2_000
"""The length in characters of each note in a list; a model reads the rest by its id."""

NOTE: Final = describe_tool("note")

NAMES: Final = {"note_type": "type"}
"""The names of arguments in `Notes`, where they differ."""


class NoteTool:
    """
    Notes in a folder, with a tool for models.

    Args:
        workspace: The folder; it is created if it is missing.
        max_notes: The maximum number of notes.

    Raises:
        StoreError: The folder cannot be used.
    """

    def __init__(
        self, workspace: str | os.PathLike[str] = "./notes", *, max_notes: int | None = None
    ) -> None:
        limits = NoteLimits() if max_notes is None else NoteLimits(most=max_notes)
        self.notes = Notes.open(workspace, limits=limits)

    @property
    def tool(self) -> Tool:
        """The tool ``note``."""
        return NOTE.tool(self._run_for_model)

    def run(self, parameters: Given) -> Any:
        """
        Run an action.

        Args:
            parameters: ``action`` and its arguments; see the schema of `tool`.

        Returns:
            For "create" and "task" the id; for "read" and "progress" the note as a mapping, its
            front matter also under ``metadata``; for "search", "list" and "tasks" a list of
            mappings; for "summary" a mapping; for the others a sentence.

        Raises:
            InputError: An argument is missing or invalid, or there is no such note.
            StoreError: Notes cannot be written, or were changed concurrently.
        """
        if not isinstance(parameters, Mapping):
            raise InputError("a call must be a mapping with an action")
        # Models and programs send empty values for arguments they do not need.
        arguments = {name: value for name, value in parameters.items() if value is not None}
        given, problems = check_arguments(NOTE.parameters, arguments)
        if problems:
            raise InputError("; ".join(problems[:5]), hint="Correct the call.")
        action = given["action"]
        takes = NOTE.actions[action].split()
        known = {NAMES.get(name, name): given[name] for name in takes if name in given}
        if "note_id" in takes:
            known["note_id"] = str(known.get("note_id", "")).strip()
            if not known["note_id"]:
                raise InputError(f"{action} needs the id of a note", field="note_id")
        return getattr(self, f"_{action}")(**known)

    def execute(self, action: str, **parameters: Any) -> Any:
        """Run an action; see `run`."""
        return self.run({**parameters, "action": action})

    # --- actions --------------------------------------------------------------------------

    def _create(self, title: str = "", **fields: Any) -> str:
        return self.notes.create(title, **fields).id

    def _read(self, note_id: str) -> dict[str, Any]:
        return _whole(self.notes.read(note_id))

    def _update(self, note_id: str, **fields: Any) -> str:
        note = self.notes.update(note_id, **fields)
        return f"Updated {note.title!r} ({note.id}), now version {note.version}."

    def _delete(self, note_id: str) -> str:
        metadata = self.notes.delete(note_id)
        return f"Deleted {metadata.title!r} ({metadata.id}); restore brings it back."

    def _restore(self, note_id: str) -> str:
        note = self.notes.restore(note_id)
        return f"Restored {note.title!r} ({note.id})."

    def _search(self, query: str = "", **filters: Any) -> list[dict[str, Any]]:
        if not query.strip():
            raise InputError("search needs a query", field="query")
        found = self.notes.search(query, **filters)
        return [_whole(one.note) | {"score": one.score, "strength": one.strength} for one in found]

    def _list(self, **filters: Any) -> list[dict[str, Any]]:
        return [_whole(note) for note in self.notes.list(**filters)]

    def _summary(self) -> dict[str, Any]:
        summary = self.notes.summary()
        keys = ("id", "title", "type", "updated_at")
        return {
            "total_notes": summary.total,
            "type_distribution": dict(summary.by_type),
            "level_distribution": dict(summary.by_level),
            "task_status": dict(summary.by_status),
            "recent_notes": [{k: one.to_dict()[k] for k in keys} for one in summary.recent],
            "unreadable_files": [{"name": one.name, "why": one.why} for one in summary.troubles],
        }

    def _task(self, title: str = "", **fields: Any) -> str:
        return self.notes.tasks.add(title, **fields).id

    def _progress(self, note_id: str, status: Any = "", outcome: str = "") -> dict[str, Any]:
        one = self.notes.resolve(note_id)
        if not status:
            raise InputError("progress needs the new status of the task", field="status")
        return _whole(self.notes.tasks.progress(one, status, outcome))

    def _tasks(self, limit: int = 100, start: int = 0) -> list[dict[str, Any]]:
        graph = self.notes.tasks.graph()
        ids = [*graph.order, *(graph.tasks.keys() - set(graph.order))][start : start + limit]
        return [_task_fields(graph.states[one]) for one in ids]

    def _run_for_model(self, arguments: dict[str, Any]) -> ToolOutput:
        """Return the output for a model as text, with long notes cut."""
        try:
            result = self.run(arguments)
        except FoldlineError as error:
            code = next(code for kind, code in ERRORS.items() if isinstance(error, kind))
            return ToolOutput.error(code, str(error))
        if isinstance(result, list):
            result = [_cut(one) for one in result]
        text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
        return ToolOutput(text, data={"result": result})


def _whole(note: Note) -> dict[str, Any]:
    known = note.to_dict()
    content = known.pop("content")
    return {**known, "metadata": known, "content": content}


def _task_fields(one: TaskState) -> dict[str, Any]:
    metadata = one.metadata
    named = {"note_id": metadata.id, "title": metadata.title, "state": one.state}
    extra = {"why": one.why, "attempts": metadata.attempts, "outcome": metadata.outcome}
    given = {name: value for name, value in extra.items() if value}
    return {**named, "needs": [*metadata.needs], **given}


def _cut(note: dict[str, Any]) -> dict[str, Any]:
    out = {name: value for name, value in note.items() if name not in ("metadata", "id")}
    content = out.get("content", "")
    if len(content) > PREVIEW:
        more = len(content) - PREVIEW
        out["content"] = f"{content[:PREVIEW]}… [{more:,} characters more: read it by its note_id]"
    return out


ERRORS: Final = {
    UnknownNote: ErrorCode.NOT_FOUND,
    NoteConflict: ErrorCode.CONFLICT,
    InputError: ErrorCode.INVALID_ARGUMENTS,
    FoldlineError: ErrorCode.UNAVAILABLE,
}
"""The code of an error; the first matching class counts."""
