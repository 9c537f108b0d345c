"""Changes to the memories of one user: each in one transaction, nothing overwritten."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from foldline.errors import InputError
from foldline.memory import item_rows as rows
from foldline.memory.item_builder import ItemBuilder
from foldline.memory.item_rows import (
    ALL,
    By,
    Filter,
    Forgotten,
    choose_evicted,
    choose_forgotten,
    restore_batch,
)
from foldline.memory.items import KINDS, Added, Kind, MemoryItem
from foldline.memory.schema import GONE, SUPERSEDED
from foldline.sql import Connection, Database


class ItemStore:
    """
    Writes and counts the memories of one user; `Memory` says what each method does.

    Args:
        database: The file.
        user: Whose memories.
        builder: Makes rows of items.
        clock: Tells the time, in seconds since 1970.
        follow: Called at the end of every transaction; what is searched is kept like the rest.
    """

    def __init__(
        self,
        database: Database,
        user: str,
        builder: ItemBuilder,
        clock: Callable[[], float],
        follow: Callable[[Connection], None],
    ) -> None:
        self._database, self._user = database, user
        self._builder, self._clock, self._follow = builder, clock, follow

    @contextmanager
    def _changing(self) -> Iterator[tuple[Connection, int]]:
        """Change the memories of the user, as a change that has a number."""
        with self._database.writing() as connection:
            # First of all: it keeps other writers of this user waiting.
            yield connection, rows.tick(connection, self._user)
            self._follow(connection)

    def add(self, item: MemoryItem) -> Added:
        """Write a new memory, or refresh the live one that says the same."""
        now, row = item.added, self._builder.row(item)
        with self._changing() as (connection, clock):
            same = rows.find_same(connection, self._user, item.kind, row.fingerprint, now)
            if same is not None:
                fresh = self._builder.refresh(same, item)
                self._supersede(connection, fresh, "refreshed", now, clock, row.vector)
                return Added(fresh, "known")
            rows.insert_item(connection, self._user, row, clock)
            gone = self._make_room(connection, now, clock) if item.kind == "working" else ()
        return Added(item, "added", gone)

    def _make_room(self, connection: Connection, now: float, clock: int) -> tuple[str, ...]:
        """Forget the working memories that are over the bounds."""
        held = rows.select_items(connection, self._user, Filter(now, ("working",)), ALL)
        least = choose_evicted(held[::-1], self._builder.limits, now)
        ids = tuple(item.id for item in least)
        self._end(connection, ids, GONE, "capacity", now, clock)
        return ids

    def update(self, id: str, change: Callable[[MemoryItem, float], MemoryItem]) -> MemoryItem:  # noqa: A002
        """Replace a memory by what ``change`` makes of it and of the time."""
        now = self._clock()
        with self._changing() as (connection, clock):
            old = self._live(connection, id)
            if old.is_expired(now):
                raise InputError(f"the time of the memory {old.id} is over", field="id")
            new = change(old, now)
            vector = self._vector(connection, old) if new.content == old.content else None
            self._supersede(connection, new, "updated", now, clock, vector)
        return new

    def remove(self, id: str) -> Forgotten:  # noqa: A002
        """Forget one memory."""
        now = self._clock()
        with self._changing() as (connection, clock):
            self._live(connection, id)
            self._end(connection, [id], GONE, "removed", now, clock)
        return Forgotten(clock, (id,))

    def forget(
        self, wanted: Filter, by: By, *, threshold: float, max_age: float, keep: int
    ) -> Forgotten:
        """Forget some of the memories that a filter admits; see `choose_forgotten`."""
        with self._changing() as (connection, clock):
            ids = choose_forgotten(
                connection, self._user, wanted, by,
                threshold=threshold, max_age=max_age, keep=keep,
            )  # fmt: skip
            self._end(connection, ids, GONE, f"forgotten by {by}", wanted.now, clock)
        return Forgotten(clock, tuple(ids)) if ids else Forgotten(0, ())

    def undo(self, batch: int) -> tuple[str, ...]:
        """Restore what was forgotten together; return the ids."""
        with self._changing() as (connection, clock):
            return tuple(restore_batch(connection, self._user, batch, clock))

    def consolidate(self, wanted: Filter, target: Kind) -> tuple[MemoryItem, ...]:
        """Move the memories that a filter admits to another kind."""
        made, now = list[MemoryItem](), wanted.now
        with self._changing() as (connection, clock):
            for old in rows.select_items(connection, self._user, wanted, ALL, "oldest"):
                new = self._builder.promote(old, target, now)
                row = self._builder.row(new, self._vector(connection, old))
                same = rows.find_same(connection, self._user, new.kind, row.fingerprint, now)
                reason = f"consolidated into {new.id}"
                self._end(connection, [old.id], SUPERSEDED, reason, now, clock)
                if same is None:
                    rows.insert_item(connection, self._user, row, clock)
                else:
                    new = self._builder.refresh(same, new)
                    self._supersede(connection, new, "refreshed", now, clock, row.vector)
                made.append(new)
        return tuple(made)

    def clear(self) -> int:
        """Erase everything of this user; return how many memories were live."""
        with self._changing() as (connection, _):
            (count,) = connection.execute(
                "SELECT count(*) FROM memories WHERE memories.user = ? AND state = 'live'",
                (self._user,),
            ).fetchone()
            connection.execute("UPDATE users SET era = era + 1 WHERE name = ?", (self._user,))
            connection.execute('DELETE FROM memories WHERE "user" = ?', (self._user,))
        return int(count)

    def _supersede(
        self,
        connection: Connection,
        item: MemoryItem,
        reason: str,
        now: float,
        clock: int,
        vector: bytes | None = None,
    ) -> None:
        self._end(connection, [item.id], SUPERSEDED, reason, now, clock)
        rows.insert_item(connection, self._user, self._builder.row(item, vector), clock)

    def _end(
        self,
        connection: Connection,
        ids: Sequence[str],
        state: str,
        reason: str,
        now: float,
        clock: int,
    ) -> None:
        rows.end_items(connection, self._user, ids, state, reason=reason, at=now, clock=clock)

    def _vector(self, connection: Connection, item: MemoryItem) -> bytes | None:
        """Return the vector of a live memory, where the model that is used made it."""
        return rows.find_vector(connection, self._user, item.id, self._builder.model)

    def _live(self, connection: Connection, id: str) -> MemoryItem:  # noqa: A002
        found = rows.find_item(connection, self._user, id)
        if found is None:
            raise InputError(f"there is no memory {str(id)[:60]!r}", field="id")
        return found


def count_memories(connection: Connection, user: str, now: float) -> dict[str, Any]:
    """Count what a user's memory holds."""
    wanted = Filter(now)
    found = connection.execute(
        "SELECT kind, count(*), sum(tokens), avg(importance), min(happened), max(happened),"  # noqa: S608  # a constant
        f" count(vector) FROM memories WHERE memories.user = :user AND state = 'live'"
        f" AND {wanted.condition} GROUP BY kind",
        {"user": user, **wanted.values},
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
    told = {item.id for item in important}
    rest = [item for item in latest if item.id not in told]
    if rest:
        lines += ["", "Latest:", *map(_line, rest)]
    return "\n".join(lines)


def _line(item: MemoryItem) -> str:
    words = " ".join(item.content.split())
    short = words if len(words) <= 160 else f"{words[:159]}…"
    return f"- [{item.kind}, {item.importance:.2f}] {short}"
