"""
Routing of knowledge: a fact is stored by how long it holds and by its authority.

| authority | for the moment | for this work | lasting |
| --- | --- | --- | --- |
| the workspace | terminal | terminal | terminal |
| a person | memory, working | memory, episodic | note of the project |
| the agent | memory, working | memory, episodic | note of the task |

The workspace can be read again with one command, and a copy of it goes stale: only a pointer is
stored, with the hash of its content. A lasting fact that is not in the files becomes a note,
which people read and correct. Everything else goes to memory, and is forgotten in time. When two
layers disagree, the higher authority is right: the workspace, then a person, then the agent;
between equals, the newer one.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, get_args

from foldline.agents.maintainer.conflicts import (
    Authority,
    RecordConflict,
    SourcePointer,
    find_conflicts,
    find_pointer,
)
from foldline.context import ContextPacket
from foldline.core.validation import check_name
from foldline.errors import InputError
from foldline.frozen import frozen, replace
from foldline.memory import Memory
from foldline.memory.items import Kind as MemoryKind
from foldline.notes import Note, Notes
from foldline.notes.note import KINDS, Kind, Level
from foldline.rooted_files import Root
from foldline.tools.description import describe_tool, return_errors
from foldline.tools.notes import NOTE, NoteTool
from foldline.tools.output import ToolOutput
from foldline.tools.spec import Tool

Volatility: TypeAlias = Literal["moment", "work", "lasting"]
"""How long a fact holds: until the next look, for the current work, or until it is revised."""

Layer: TypeAlias = Literal["terminal", "memory", "notes"]

AUTHORITIES: Final[tuple[Authority, ...]] = get_args(Authority)
VOLATILITIES: Final[tuple[Volatility, ...]] = get_args(Volatility)


@frozen
class StorageRoute:
    """The destination of a fact: its layer, and its kind or level in that layer."""

    layer: Layer
    kind: MemoryKind | None = None
    level: Level | None = None


def route(authority: Authority, volatility: Volatility) -> StorageRoute:
    """
    Return the layer in which a fact is stored; see the table of this module.

    Args:
        authority: The origin of the fact.
        volatility: How long it holds.

    Raises:
        BudgetError: The authority or volatility is unknown.
    """
    check_name("authority", authority, AUTHORITIES)
    check_name("volatility", volatility, VOLATILITIES)
    if authority == "workspace":
        return StorageRoute("terminal")
    if volatility == "lasting":
        return StorageRoute("notes", level="project" if authority == "person" else "task")
    return StorageRoute("memory", kind="working" if volatility == "moment" else "episodic")


MOST: Final = 5_000

IMPORTANCE: Final = {"person": 0.8, "agent": 0.5, "workspace": 0.0}

MARKS: Final = {
    "changed": "[{where} has changed since this was noted: look again before relying on it.]",
    "gone": "[{where} no longer exists: look again before relying on this.]",
}


@frozen
class KnowledgeRecord:
    """
    A fact to store.

    ``source`` points into the codebase, such as ``app/user.py:10-20``.
    """

    title: str
    content: str
    authority: Authority = "agent"
    volatility: Volatility = "lasting"
    type: Kind = "general"
    source: str = ""
    tags: tuple[str, ...] = ()


@frozen
class RecordResult:
    """
    The result of storing a fact.

    ``status`` is "created", "updated", "known" if it adds nothing new, or "not kept" if the
    workspace itself has it; ``source`` is the pointer with its hash. ``others`` are notes about
    the same lines.
    """

    status: str
    layer: Layer
    id: str = ""
    source: str = ""
    others: tuple[str, ...] = ()


@dataclass(slots=True)
class CodebaseKnowledge:
    """
    The notes and memory of one codebase behind one interface.

    Args:
        root: The codebase.
        notes: Stores lasting facts.
        memory: Stores facts that expire.
        project: The name of the project, a tag of every note.
        session: The session that writes, another tag of every note.
    """

    root: Root
    notes: Notes
    memory: Memory
    project: str
    session: str
    created: int = 0
    blockers: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    # --- writing ---------------------------------------------------------------------------

    def keep(self, piece: KnowledgeRecord) -> RecordResult:
        """
        Store a fact in its layer; see `route`.

        A note of the same type and title is updated instead of duplicated, so that a call can be
        repeated safely after an interruption.

        Raises:
            InputError: It is empty, or its source does not exist in the codebase.
            StoreError: It cannot be written.
        """
        if not piece.title.strip() or not piece.content.strip():
            raise InputError("a title and a content are needed", field="content")
        if piece.type not in KINDS:
            raise InputError(f"there is no type {piece.type[:40]!r}", field="type")
        home, source = route(piece.authority, piece.volatility), piece.source
        if source:
            source = str(SourcePointer.parse(source).with_hash(self.root))
        if home.layer == "terminal":
            return RecordResult("not kept", "terminal", source=source)
        with self._lock:
            if home.layer == "memory":
                return self._add_memory(piece, home, source)
            return self._add_note(piece, home, source)

    def _add_memory(self, piece: KnowledgeRecord, home: StorageRoute, source: str) -> RecordResult:
        added = self.memory.add(
            f"{piece.title}: {piece.content}",
            kind=home.kind or "working",
            importance=IMPORTANCE[piece.authority],
            session=self.session,
            author=piece.authority,
            source=source,
        )
        status = "created" if added.status == "added" else "known"
        return RecordResult(status, "memory", added.item.id if added.item else "", source)

    def _add_note(self, piece: KnowledgeRecord, home: StorageRoute, source: str) -> RecordResult:
        plain_title = _plain(piece.title)
        found = self.notes.search(piece.title, type=piece.type, limit=10)
        same = next((one.note for one in found if _plain(one.note.title) == plain_title), None)
        others = self._about(source, same.id if same else "")
        content = piece.content.strip()
        if same is not None and same.content.strip() == content and same.source == source:
            return RecordResult("known", "notes", same.id, source, others)
        tags = tuple(dict.fromkeys((*piece.tags, self.project, piece.authority, self.session)))
        if same is not None:
            self.notes.update(same.id, content=content, source=source, tags=tags)
            return RecordResult("updated", "notes", same.id, source, others)
        note = self.notes.create(
            piece.title,
            content,
            type=piece.type,
            level=home.level or "task",
            source=source,
            tags=tags,
        )
        self.created += 1
        self.blockers += piece.type == "blocker"
        return RecordResult("created", "notes", note.id, source, others)

    def _about(self, source: str, excluded: str) -> tuple[str, ...]:
        """Return the ids of other notes about the same lines."""
        if not source:
            return ()
        where = SourcePointer.parse(source).where
        found = ((note.id, find_pointer(note.source)) for note in self.all_notes())
        return tuple(id_ for id_, at in found if at and at.where == where and id_ != excluded)

    # --- reading ---------------------------------------------------------------------------

    def all_notes(self) -> tuple[Note, ...]:
        """Return the notes, the last changed first."""
        return self.notes.list(limit=MOST)

    def conflicts(self) -> tuple[RecordConflict, ...]:
        """Return the contradictions and duplicates between the layers."""
        return find_conflicts(self.all_notes(), self.memory.items(limit=MOST), self.root)

    def mark(self, source: str) -> str:
        """Return a warning if a source has changed, "" if it has not."""
        pointer = find_pointer(source)
        if pointer is None:
            return ""
        return MARKS.get(pointer.state(self.root), "").format(where=pointer.where)

    def packets(self, query: str, limit: int = 6) -> list[ContextPacket]:
        """Return notes and memories relevant to a query, with warnings on stale ones."""
        out = []
        for one in self.notes.packets(query, limit=limit):
            note_id, mark = str(one.metadata["note_id"]), ""
            with suppress(InputError):  # deleted in the meantime
                mark = self.mark(self.notes.read(note_id).source)
            content = "\n".join(filter(None, (f"[{note_id}] {one.content}", mark)))
            relevance = one.relevance_score * (0.8 if mark else 1.0)
            metadata = {**one.metadata, "title": f"note {note_id}"}
            out.append(ContextPacket(content, one.timestamp, None, relevance, metadata))
        for found in self.memory.search(query, limit=limit, min_strength=0.2):
            mark = self.mark(found.item.source)
            content = "\n".join(filter(None, (found.item.content, mark)))
            metadata = {"type": "memory", "title": f"memory {found.item.id}"}
            out.append(ContextPacket(content, found.item.happened, None, found.strength, metadata))
        return out

    def look_up(
        self, query: str, kinds: Sequence[str] = (), limit: int = 10
    ) -> list[dict[str, Any]]:
        """Search notes and memories; without a query, return the notes changed last."""
        if query.strip():
            found = self.notes.search(query, limit=MOST if kinds else limit)
            notes: Iterable[Note] = (one.note for one in found)
        else:
            notes = self.all_notes()
        chosen = [note for note in notes if not kinds or note.type in kinds][:limit]
        rows = [_row(note, self.mark(note.source)) for note in chosen]
        if query.strip() and not kinds:
            for one in self.memory.search(query, limit=limit, min_strength=0.1):
                mark = self.mark(one.item.source)
                row = {"memory_id": one.item.id, "content": one.item.content[:400]}
                rows.append(row | ({"attention": mark} if mark else {}))
        return rows


def _row(note: Note, mark: str) -> dict[str, Any]:
    day, content = note.updated_at.date().isoformat(), note.content[:400]
    row = {"note_id": note.id, "type": note.type, "title": note.title, "on": day}
    further = {"source": note.source, "status": note.status, "attention": mark}
    given = {name: value for name, value in further.items() if value}
    return {**row, "content": content, **given}


def _plain(title: str) -> str:
    return " ".join(title.casefold().split())


# --- the tools -----------------------------------------------------------------------------

AGENTS: Final = "foldline.agents"


def knowledge_tools(known: CodebaseKnowledge, notes: NoteTool) -> list[Tool]:
    """Return the tools record, look_up and note."""

    def record(given: dict[str, Any]) -> ToolOutput:
        return _record_output(known.keep(_read_record(given)))

    def look_up(given: dict[str, Any]) -> ToolOutput:
        return _look_up_output(known, given)

    schema = {name: one for name, one in NOTE.arguments.items() if name not in ("source", "level")}
    note = replace(describe_tool("note", AGENTS), arguments=schema, actions=NOTE.actions)
    return [
        describe_tool("record", AGENTS).tool(return_errors(record)),
        describe_tool("look_up", AGENTS).tool(return_errors(look_up)),
        note.tool(notes.tool.action),
    ]


def _read_record(given: dict[str, Any]) -> KnowledgeRecord:
    """Parse the arguments of a call; the author is always the agent, whatever it claims."""
    return KnowledgeRecord(**given | {"tags": (*given.get("tags", ()), "agent")})


def _record_output(kept: RecordResult) -> ToolOutput:
    if kept.status == "not kept":
        where = f" Source: {kept.source}." if kept.source else ""
        return ToolOutput(f"Not kept: the files contain it; read them again.{where}")
    message = f"{kept.status.capitalize()} in {kept.layer}: {kept.id}."
    if kept.source:
        message += f" Source: {kept.source}."
    if kept.others:
        others = ", ".join(kept.others[:5])
        message += f" Other notes about these lines: {others}; check that they agree."
    return ToolOutput(message, data={"status": kept.status, "layer": kept.layer, "id": kept.id})


def _look_up_output(known: CodebaseKnowledge, given: dict[str, Any]) -> ToolOutput:
    rows = known.look_up(given.get("query", ""), given.get("types", ()), given["limit"])
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    message = "\n".join(lines) or "Nothing is recorded about that."
    return ToolOutput(message, data={"result": rows})
