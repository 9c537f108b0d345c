"""Changes to the memories of one user: each in one transaction, nothing overwritten."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from foldline.errors import InputError
from foldline.memory.item_builder import ItemBuilder
from foldline.memory.item_rows import (
    ALL,
    By,
    Filter,
    Forgotten,
    UserChange,
    UserRows,
    choose_evicted,
    tick,
)
from foldline.memory.items import KINDS, Added, Kind, MemoryItem
from foldline.memory.schema import FORGOTTEN, SUPERSEDED
from foldline.sql import Connection, Database


@dataclass(frozen=True, slots=True)
class ItemStore:
    """
    Writes and counts the memories of one user; `Memory` says what each method does.

    Args:
        database: The file.
        user: Whose memories.
        builder: Makes items and rows.
        clock: Tells the time, in seconds since 1970.
        follow: Called at the end of every transaction; what is searched is kept like the rest.
    """

    database: Database
    user: str
    builder: ItemBuilder
    clock: Callable[[], float]
    follow: Callable[[Connection], None]

    @contextmanager
    def _changing(self, now: float) -> Iterator[UserChange]:
        """Change the memories of the user, as a change that has a number."""
        with self.database.writing() as connection:
            # First of all: it keeps other writers of this user waiting.
            yield UserChange(connection, self.user, now, tick(connection, self.user))
            self.follow(connection)

    def add(self, item: MemoryItem) -> Added:
        """Write a new memory, or refresh the live one that says the same."""
        row = self.builder.row(item)
        with self._changing(item.added) as rows:
            same = rows.find_same(item.kind, row.fingerprint)
            if same is not None:
                fresh = self.builder.refresh(same, item)
                self._supersede(rows, fresh, "refreshed", row.vector)
                return Added(fresh, "known")
            rows.insert(row)
            evicted_ids = self._make_room(rows) if item.kind == "working" else ()
        return Added(item, "added", evicted_ids)

    def _make_room(self, rows: UserChange) -> tuple[str, ...]:
        """Forget the working memories that are over the bounds."""
        held = rows.select(Filter(rows.now, ("working",)), ALL)
        least = choose_evicted(held[::-1], self.builder.limits, rows.now)
        ids = tuple(item.id for item in least)
        rows.end(ids, FORGOTTEN, "capacity")
        return ids

    def update(self, id: str, change: Callable[[MemoryItem, float], MemoryItem]) -> MemoryItem:  # noqa: A002
        """Replace a memory by what ``change`` makes of it and of the time."""
        now = self.clock()
        with self._changing(now) as rows:
            old = _live(rows, id)
            if old.is_expired(now):
                raise InputError(f"the time of the memory {old.id} is over", field="id")
            new = change(old, now)
            same = new.content == old.content
            vector = rows.find_vector(id, self.builder.tools.model) if same else None
            self._supersede(rows, new, "updated", vector)
        return new

    def remove(self, id: str) -> Forgotten:  # noqa: A002
        """Forget one memory."""
        with self._changing(self.clock()) as rows:
            _live(rows, id)
            rows.end([id], FORGOTTEN, "removed")
        return Forgotten(rows.clock, (id,))

    def forget(
        self, criteria: Filter, by: By, *, threshold: float, max_age: float, keep: int
    ) -> Forgotten:
        """Forget some memories that a filter admits; see `UserRows.choose_forgotten`."""
        with self._changing(criteria.now) as rows:
            ids = rows.choose_forgotten(
                criteria, by, threshold=threshold, max_age=max_age, keep=keep
            )
            rows.end(ids, FORGOTTEN, f"forgotten by {by}")
        return Forgotten(rows.clock, tuple(ids)) if ids else Forgotten(0, ())

    def undo(self, batch: int) -> tuple[str, ...]:
        """Restore what was forgotten together; return the ids."""
        with self._changing(self.clock()) as rows:
            return tuple(rows.restore(batch))

    def consolidate(self, criteria: Filter, target: Kind) -> tuple[MemoryItem, ...]:
        """Move the memories that a filter admits to another kind."""
        made = list[MemoryItem]()
        with self._changing(criteria.now) as rows:
            for old in rows.select(criteria, ALL, "oldest"):
                new = self.builder.promote(old, target, criteria.now)
                row = self.builder.row(new, rows.find_vector(old.id, self.builder.tools.model))
                same = rows.find_same(new.kind, row.fingerprint)
                rows.end([old.id], SUPERSEDED, f"consolidated into {new.id}")
                if same is None:
                    rows.insert(row)
                else:
                    new = self.builder.refresh(same, new)
                    self._supersede(rows, new, "refreshed", row.vector)
                made.append(new)
        return tuple(made)

    def clear(self) -> int:
        """Erase everything of this user; return how many memories were live."""
        with self._changing(self.clock()) as rows:
            return rows.clear()

    def _supersede(
        self, rows: UserChange, item: MemoryItem, reason: str, vector: bytes | None
    ) -> None:
        rows.end([item.id], SUPERSEDED, reason)
        rows.insert(self.builder.row(item, vector))


def _live(rows: UserRows, id: str) -> MemoryItem:  # noqa: A002
    found = rows.find(id)
    if found is None:
        raise InputError(f"there is no memory {str(id)[:60]!r}", field="id")
    return found


def count_memories(connection: Connection, user: str, now: float) -> dict[str, Any]:
    """Count what a user's memory holds."""
    criteria = Filter(now)
    found = connection.execute(
        "SELECT kind, count(*), sum(tokens), avg(importance), min(happened), max(happened),"  # noqa: S608  # a constant
        f" count(vector) FROM memories WHERE memories.user = :user AND state = 'live'"
        f" AND {criteria.condition} GROUP BY kind",
        {"user": user, **criteria.values},
    ).fetchall()
    by_kind = {
        kind: {"count": count, "tokens": tokens, "importance": round(mean, 4),
               "first": first, "last": last, "vectors": vectors}
        for kind, count, tokens, mean, first, last, vectors in found
    }  # fmt: skip
    (ended,) = connection.execute(
        "SELECT count(*) FROM memories WHERE memories.user = ? AND state <> 'live'", (user,)
    ).fetchone()
    return {
        "user": user,
        "count": sum(one["count"] for one in by_kind.values()),
        "tokens": sum(one["tokens"] for one in by_kind.values()),
        "kinds": {kind: by_kind[kind] for kind in KINDS if kind in by_kind},
        "past_revisions": ended,
    }


def write_summary(
    figures: dict[str, Any], important: Sequence[MemoryItem], latest: Sequence[MemoryItem]
) -> str:
    """Say in a few lines what is remembered: how much, what matters most, what is new."""
    if not figures["count"]:
        return "Nothing is remembered yet."
    kinds = ", ".join(f"{one['count']:,} {kind}" for kind, one in figures["kinds"].items())
    lines = [f"{figures['count']:,} memories, {figures['tokens']:,} tokens: {kinds}."]
    lines += ["", "Most important:", *map(_line, important)]
    important_ids = {item.id for item in important}
    rest = [item for item in latest if item.id not in important_ids]
    if rest:
        lines += ["", "Latest:", *map(_line, rest)]
    return "\n".join(lines)


def _line(item: MemoryItem) -> str:
    words = " ".join(item.content.split())
    short = words if len(words) <= 160 else f"{words[:159]}…"
    return f"- [{item.kind}, {item.importance:.2f}] {short}"
