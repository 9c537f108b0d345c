"""
Notes for a model: made, read, changed, found and counted, and tasks that need each other.

    notes = NoteTool(workspace="./project_notes")
    notes.run({"action": "create", "title": "Login fails", "content": "…", "note_type": "blocker"})
    Toolbox([notes.tool])
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from foldline.errors import FoldlineError, InputError
from foldline.notes import (
    KINDS,
    LEVELS,
    STATUSES,
    Note,
    NoteConflict,
    NoteLimits,
    Notes,
    TaskState,
    UnknownNote,
)
from foldline.tools.arguments import check_arguments, object_schema, text_schema
from foldline.tools.output import ErrorCode, ToolOutput
from foldline.tools.spec import Tool

Given: TypeAlias = Mapping[str, Any]

SHOWN: Final = 2_000
"""Characters of each note that a model sees in a list; it reads the rest by its id."""

MOST_LISTED: Final = 100

DESCRIPTION: Final = (
    "Keep notes that outlive this conversation: task_state, conclusion, blocker, action, "
    "reference or general, in Markdown. Search before you create, and update what is there "
    "instead of noting it twice. Write a blocker only for what really stops the work, and turn it "
    "into a conclusion when it is solved. A note that matters only for the moment has the level "
    "temporary. Actions: create, read, update, delete, restore, search, list, summary; task makes "
    "a task that may need others, progress says what became of one, tasks lists how they stand."
)

TEXT: Final = {"type": "string"}
PROPERTIES: Final[dict[str, Any]] = {
    "action": {"type": "string", "enum": []},
    "note_id": text_schema("Which note; for read, update, delete, restore, progress."),
    "title": text_schema("What it is about, on one line."),
    "content": text_schema("Markdown; update sets all of it."),
    "note_type": {"type": "string", "enum": list(KINDS)},
    "level": {"type": "string", "enum": list(LEVELS)},
    "tags": {"type": "array", "items": TEXT, "maxItems": 64},
    "source": text_schema("Where it comes from, such as a file and line."),
    "query": text_schema("What to search for."),
    "limit": {"type": "integer", "minimum": 0, "maximum": MOST_LISTED},
    "start": {"type": "integer", "minimum": 0, "description": "How many to pass over in a list."},
    "version": {"type": "integer", "description": "The version that an update is made for."},
    "needs": {"type": "array", "items": TEXT, "description": "Ids of tasks that come first."},
    "status": {"type": "string", "enum": list(STATUSES)},
    "outcome": text_schema("What came of a task, or why it failed."),
}


class NoteTool:
    """
    Notes in a folder, and the tool with which a model keeps them.

    Args:
        workspace: The folder; it is made where it is missing.
        max_notes: The most that it may hold.

    Raises:
        StoreError: The folder cannot be used.
    """

    def __init__(
        self, workspace: str | os.PathLike[str] = "./notes", *, max_notes: int | None = None
    ) -> None:
        limits = NoteLimits() if max_notes is None else NoteLimits(most=max_notes)
        self.notes = Notes.open(workspace, limits=limits)
        self._actions: dict[str, Callable[[Given], Any]] = {
            "create": self._create,
            "read": self._read,
            "update": self._update,
            "delete": self._delete,
            "restore": self._restore,
            "search": self._search,
            "list": self._list,
            "summary": self._summary,
            "task": self._task,
            "progress": self._progress,
            "tasks": self._tasks,
        }
        action = PROPERTIES["action"] | {"enum": list(self._actions)}
        self._schema = object_schema("action", **(PROPERTIES | {"action": action}))

    @property
    def tool(self) -> Tool:
        """The tool ``note``."""
        return Tool("note", DESCRIPTION, self._schema, self._run_for_model)

    def run(self, parameters: Given) -> Any:
        """
        Do what a call asks for.

        Args:
            parameters: ``action``, and what it takes; see the schema of `tool`.

        Returns:
            For "create" and "task" the id; for "read" and "progress" the note as a mapping, its
            front matter also under ``metadata``; for "search", "list" and "tasks" a list of
            mappings; for "summary" a mapping; for the others a sentence.

        Raises:
            InputError: An argument is missing or makes no sense, or there is no such note.
            StoreError: Notes cannot be written, or somebody else changed one.
        """
        given, problems = check_arguments(self._schema, _without_nothing(parameters))
        if problems:
            raise InputError("; ".join(problems[:5]), hint="Correct the call.")
        return self._actions[given["action"]](given)

    def execute(self, action: str, **parameters: Any) -> Any:
        """Do one action; see `run`."""
        return self.run({**parameters, "action": action})

    # --- actions --------------------------------------------------------------------------

    def _create(self, given: Given) -> str:
        wanted = _rename(given, "title", "content", "note_type", "tags", "level", "source")
        return self.notes.create(wanted.pop("title", ""), **wanted).id

    def _read(self, given: Given) -> dict[str, Any]:
        return _whole(self.notes.read(_id(given)))

    def _update(self, given: Given) -> str:
        wanted = _rename(
            given, "title", "content", "note_type", "tags", "level", "source", "version"
        )
        note = self.notes.update(_id(given), **wanted)
        return f"Updated {note.title!r} ({note.id}), now version {note.version}."

    def _delete(self, given: Given) -> str:
        metadata = self.notes.delete(_id(given))
        return f"Deleted {metadata.title!r} ({metadata.id}); restore brings it back."

    def _restore(self, given: Given) -> str:
        note = self.notes.restore(_id(given))
        return f"Restored {note.title!r} ({note.id})."

    def _search(self, given: Given) -> list[dict[str, Any]]:
        if not str(given.get("query", "")).strip():
            raise InputError("search needs what to look for", field="query")
        wanted = _rename(given, "note_type", "level", "tags", "limit")
        found = self.notes.search(given["query"], **wanted)
        return [_whole(one.note) | {"score": one.score, "strength": one.strength} for one in found]

    def _list(self, given: Given) -> list[dict[str, Any]]:
        wanted = _rename(given, "note_type", "level", "tags", "status", "limit", "start")
        return [_whole(note) for note in self.notes.list(**wanted)]

    def _summary(self, given: Given) -> dict[str, Any]:  # noqa: ARG002  # like the others
        summary = self.notes.summary()
        shown = ("id", "title", "type", "updated_at")
        return {
            "total_notes": summary.total,
            "type_distribution": dict(summary.by_type),
            "level_distribution": dict(summary.by_level),
            "task_status": dict(summary.by_status),
            "recent_notes": [{k: one.to_dict()[k] for k in shown} for one in summary.recent],
            "unreadable_files": [{"name": one.name, "why": one.why} for one in summary.troubles],
        }

    def _task(self, given: Given) -> str:
        wanted = _rename(given, "title", "content", "tags", "level", "needs")
        return self.notes.tasks.add(wanted.pop("title", ""), **wanted).id

    def _progress(self, given: Given) -> dict[str, Any]:
        one, outcome = self.notes.resolve(_id(given)), given.get("outcome", "")
        if "status" not in given:
            raise InputError("progress needs what became of the task", field="status")
        note = self.notes.tasks.progress(one, given["status"], outcome)
        return _whole(note)

    def _tasks(self, given: Given) -> list[dict[str, Any]]:
        graph = self.notes.tasks.graph()
        limit, start = given.get("limit", MOST_LISTED), given.get("start", 0)
        ids = [*graph.order, *(graph.tasks.keys() - set(graph.order))][start : start + limit]
        return [_standing(graph.standings[one]) for one in ids]

    def _run_for_model(self, arguments: dict[str, Any]) -> ToolOutput:
        """Answer a model: as text, long notes cut."""
        try:
            result = self.run(arguments)
        except FoldlineError as error:
            return ToolOutput.error(_code(error), str(error))
        if isinstance(result, list):
            result = [_cut(one) for one in result]
        text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
        return ToolOutput(text, data={"result": result})


NAMES: Final = {"note_type": "type"}


def _without_nothing(parameters: Given) -> dict[str, Any]:
    """Leave out what a model, or a program, filled in with nothing."""
    if not isinstance(parameters, Mapping):
        raise InputError("a call is a mapping with an action in it")
    return {name: value for name, value in parameters.items() if value is not None}


def _rename(given: Given, *names: str) -> dict[str, Any]:
    return {NAMES.get(name, name): given[name] for name in names if name in given}


def _id(given: Given) -> str:
    note_id = str(given.get("note_id", "")).strip()
    if not note_id:
        raise InputError(f"{given['action']} needs to know which note", field="note_id")
    return note_id


def _whole(note: Note) -> dict[str, Any]:
    known = note.to_dict()
    content = known.pop("content")
    return {**known, "metadata": known, "content": content}


def _standing(one: TaskState) -> dict[str, Any]:
    metadata = one.metadata
    message = {
        "note_id": metadata.id,
        "title": metadata.title,
        "state": one.state,
        "needs": [*metadata.needs],
    }
    extra = {"why": one.why, "attempts": metadata.attempts, "outcome": metadata.outcome}
    return message | {name: value for name, value in extra.items() if value}


def _cut(shown: dict[str, Any]) -> dict[str, Any]:
    out = {name: value for name, value in shown.items() if name not in ("metadata", "id")}
    content = out.get("content", "")
    if len(content) > SHOWN:
        more = len(content) - SHOWN
        out["content"] = f"{content[:SHOWN]}… [{more:,} characters more: read it by its note_id]"
    return out


def _code(error: FoldlineError) -> ErrorCode:
    if isinstance(error, UnknownNote):
        return ErrorCode.NOT_FOUND
    if isinstance(error, NoteConflict):
        return ErrorCode.CONFLICT
    if isinstance(error, InputError):
        return ErrorCode.INVALID_ARGUMENTS
    return ErrorCode.UNAVAILABLE
