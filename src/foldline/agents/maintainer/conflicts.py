"""Conflicts between records and the codebase: source pointers, conflicts, the state check."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, Literal, Self, TypeAlias

from foldline.agents.checkpoint import WorkspaceChanges, load_checkpoint, read_workspace
from foldline.agents.loop import open_calls
from foldline.errors import FoldlineError, InputError
from foldline.frozen import field, frozen
from foldline.memory.items import MemoryItem, fingerprint
from foldline.notes import Note
from foldline.rooted_files import Root
from foldline.session import Session

PointerState: TypeAlias = Literal["same", "changed", "gone", "unknown"]

LARGEST: Final = 10 << 20
"""The maximum size in bytes of a file that a pointer refers to."""

DIGITS: Final = 16
"""The hexadecimal digits of the SHA-256 in a pointer."""

_TEXT: Final = re.compile(
    r"(?P<path>.+?)(?::(?P<first>\d{1,7})(?:-(?P<last>\d{1,7}))?)?(?:@(?P<hash>[0-9a-f]{16}))?"
)


@frozen
class SourcePointer:
    """
    A reference to a file or lines of it.

    ``lines`` are counted from 1, the last one included; None means the whole file. The hash
    covers these lines only, so that a change elsewhere in the file does not count.
    """

    path: str
    lines: tuple[int, int] | None = None
    hash: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        """
        Parse ``path``, ``path:12`` or ``path:12-20``, optionally followed by ``@hash``.

        Raises:
            InputError: The text is not a pointer.
        """
        found = _TEXT.fullmatch(text.strip())
        if found is None or "\n" in text:
            hint = "Write path, path:12 or path:12-20."
            raise InputError(f"{text[:80]!r} does not name a file", field="source", hint=hint)
        path, first, last, digest = found.groups()
        if first is None:
            return cls(path, None, digest or "")
        lines = (int(first), int(last or first))
        if not 1 <= lines[0] <= lines[1]:
            raise InputError(f"there are no lines {lines[0]} to {lines[1]}", field="source")
        return cls(path, lines, digest or "")

    @property
    def where(self) -> str:
        """The pointer without its hash."""
        if self.lines is None:
            return self.path
        first, last = self.lines
        return f"{self.path}:{first}" if first == last else f"{self.path}:{first}-{last}"

    def __str__(self) -> str:
        return f"{self.where}@{self.hash}" if self.hash else self.where

    def with_hash(self, root: Root) -> Self:
        """
        Return the pointer with the hash of the current content.

        Raises:
            InputError: The file does not exist, or does not have these lines.
        """
        parts = root.parts(self.path)
        try:
            data = root.read(parts, LARGEST).data
        except OSError as error:
            why = f"{self.path[:200]!r} cannot be read: {error.strerror}"
            raise InputError(why, field="source") from error
        if self.lines is not None:
            rows, (first, last) = data.splitlines(keepends=True), self.lines
            if last > len(rows):
                why = f"{self.where}: the file has {len(rows):,} lines"
                raise InputError(why, field="source")
            data = b"".join(rows[first - 1 : last])
        digest = hashlib.sha256(data).hexdigest()[:DIGITS]
        return type(self)("/".join(parts), self.lines, digest)

    def state(self, root: Root) -> PointerState:
        """Compare the current content with the hash."""
        if not self.hash:
            return "unknown"
        try:
            return "same" if self.with_hash(root).hash == self.hash else "changed"
        except FoldlineError:
            return "gone"


def find_pointer(source: str) -> SourcePointer | None:
    """Return the pointer in the source of a note or memory, None if it has none with a hash."""
    with suppress(InputError):
        found = SourcePointer.parse(source)
        return found if found.hash else None
    return None


Kind: TypeAlias = Literal["changed", "gone", "disagree", "twice"]

MOST: Final = 5_000
"""The maximum number of notes, and of memories, that are compared."""


@frozen
class RecordConflict:
    """
    A contradiction between two layers.

    ``changed`` and ``gone``: the source of a note or memory has changed or no longer exists; the
    workspace is right. ``disagree``: two notes about the same lines saw different content, or one
    is by a person and one by the agent; ``right`` names the one to believe. ``twice``: a memory
    repeats a note; the note stays.
    """

    kind: Kind
    ids: tuple[str, ...]
    right: str
    why: str

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)


Authority: TypeAlias = Literal["workspace", "person", "agent"]
"""The origin of a fact: the files themselves, a person who stated it, or the agent."""


def authority_of(note: Note) -> Authority:
    """Return the authority of a note; an unmarked note was written by a person."""
    return "agent" if "agent" in note.tags else "person"


def find_conflicts(
    notes: Iterable[Note], items: Iterable[MemoryItem], root: Root
) -> tuple[RecordConflict, ...]:
    """
    Return the conflicts of notes and memories with the workspace and with each other.

    Args:
        notes: All notes, the newest first.
        items: All memories.
        root: The codebase.
    """
    some_notes, some_items = list(notes)[:MOST], list(items)[:MOST]
    elsewhere = (*_with_workspace(some_notes, some_items, root), *_between_notes(some_notes))
    return (*elsewhere, *_repeated_in_memory(some_notes, some_items))


def _with_workspace(
    notes: list[Note], items: list[MemoryItem], root: Root
) -> Iterator[RecordConflict]:
    known: dict[SourcePointer, PointerState] = {}
    sources = [(note.id, note.title, note.source) for note in notes]
    sources += [(item.id, item.content[:60], item.source) for item in items]
    for name, title, source in sources:
        pointer = find_pointer(source)
        if pointer is None:
            continue
        if pointer not in known:
            known[pointer] = pointer.state(root)
        kind = known[pointer]
        if kind == "changed" or kind == "gone":
            what = "has changed since" if kind == "changed" else "no longer exists"
            why = f"{title!r}: {pointer.where} {what}"
            yield RecordConflict(kind, (name,), "workspace", why)


def _between_notes(notes: list[Note]) -> Iterator[RecordConflict]:
    """Yield the notes of one type about the same lines that differ in content or authority."""
    by_pointer: dict[tuple[str, str], Note] = {}
    for note in notes:
        pointer = find_pointer(note.source)
        if pointer is None:
            continue
        other = by_pointer.setdefault((note.type, pointer.where), note)
        authority, other_authority = authority_of(note), authority_of(other)
        if note.source == other.source and authority == other_authority:
            continue
        right = note if (authority, other_authority) == ("person", "agent") else other
        why = f"two notes of the type {note.type} about {pointer.where}"
        yield RecordConflict("disagree", (other.id, note.id), right.id, why)


def _repeated_in_memory(notes: list[Note], items: list[MemoryItem]) -> Iterator[RecordConflict]:
    answer = {fingerprint(text): note for note in notes for text in (note.content, note.title)}
    for item in items:
        note = answer.get(fingerprint(item.content))
        if note is not None:
            why = f"a memory repeats the note {note.title!r}"
            yield RecordConflict("twice", (note.id, item.id), note.id, why)


@frozen
class StateCheck:
    """
    The state that a resumed process finds.

    ``unfinished`` is True if a question has no answer, ``open_calls`` names calls without a
    result, ``changes`` are the differences in touched files and in the git head, ``conflicts``
    are records that no longer hold.
    """

    unfinished: bool = False
    open_calls: tuple[str, ...] = ()
    changes: WorkspaceChanges = field(default_factory=WorkspaceChanges)
    conflicts: tuple[RecordConflict, ...] = ()

    @property
    def must_plan_again(self) -> bool:
        """Return True if the workspace changed, so that a plan must be reviewed first."""
        return bool(self.changes) or any(one.kind in ("changed", "gone") for one in self.conflicts)

    def lines(self) -> Iterator[str]:
        """Yield a sentence for each finding."""
        if self.unfinished:
            yield "A question has no answer."
        if self.open_calls:
            yield f"Calls without a result: {', '.join(self.open_calls)}."
        if self.changes:
            yield f"Changed meanwhile: {self.changes}."
        for one in self.conflicts:
            yield f"No longer holds: {one.why}."


def check_state(
    root: Root,
    found: tuple[RecordConflict, ...],
    session: Session | None,
    checkpoint: Path,
) -> StateCheck:
    """
    Compare the recorded state with the current one.

    Args:
        root: The codebase.
        found: Records that no longer hold.
        session: The conversation; None to check notes only.
        checkpoint: The checkpoint of the conversation.
    """
    if session is None or not session.messages:
        return StateCheck(conflicts=found)
    last = session.messages[-1]
    calls = tuple(call.name for call in open_calls(session.messages))
    before = load_checkpoint(checkpoint, session.name)
    changes = WorkspaceChanges()
    if before is not None:
        changes = before.workspace.changes(read_workspace(root, before.workspace.files))
    return StateCheck(last.role != "assistant" or bool(last.calls), calls, changes, found)
