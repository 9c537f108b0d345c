"""What changes a memory: each in one transaction, nothing overwritten."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from foldline.errors import InputError
from foldline.memory import forgetting, rows
from foldline.memory.forgetting import By, Forgotten
from foldline.memory.items import Added, Item, Kind, clamped
from foldline.memory.limits import MemoryLimits
from foldline.memory.recalled import without_recalled
from foldline.memory.rows import Filter
from foldline.memory.tables import GONE, SUPERSEDED
from foldline.memory.writing import (
    Writer,
    checked_content,
    checked_metadata,
    checked_time,
    checked_whole,
    selected,
)
from foldline.sql import Connection, Database
from foldline.type_checks import typed_methods


@typed_methods
class Changing:
    """
    The half of `Memory` that writes.

    Args:
        database: The file.
        user: Whose memories.
        writer: Makes rows of items.
        clock: Tells the time, in seconds since 1970.
    """

    def __init__(
        self, database: Database, user: str, writer: Writer, clock: Callable[[], float]
    ) -> None:
        self._database, self._user = database, user
        self._writer, self._clock = writer, clock

    @property
    def limits(self) -> MemoryLimits:
        """The bounds."""
        return self._writer.limits

    def add(
        self,
        content: str,
        *,
        kind: Kind = "episodic",
        importance: float = 0.5,
        happened: float | None = None,
        session: str = "",
        author: str = "",
        source: str = "",
        metadata: Mapping[str, Any] | None = None,
    ) -> Added:
        """
        Remember something.

        The same words again refresh what is there instead of standing twice; text that was
        recalled from a memory is left out.

        Args:
            content: What to remember.
            kind: "working" for what is at hand now, "episodic" for what happened, "semantic" for
                what is known.
            importance: Brought between 0 and 1.
            happened: When it took place, in seconds since 1970; now unless given.
            session: The conversation it is from.
            author: Who said it.
            source: Where it comes from.
            metadata: JSON values that come back with it.

        Returns:
            The memory, and whether it is new.

        Raises:
            InputError: The content is empty or too long, or a value is none.
            StoreError: It cannot be written; nothing was.
        """
        kept = without_recalled(checked_content(content, self.limits.longest)).strip()
        if not kept:
            return Added(None, "recalled")
        now = self._clock()
        item = self._writer.item(
            kept, kind, now, importance=importance, happened=happened, session=session,
            author=author, source=source, metadata=metadata,
        )  # fmt: skip
        written = self._writer.written(item)
        with self._database.writing() as connection:
            # First of all: it keeps other writers of this user waiting.
            clock = rows.tick(connection, self._user)
            same = rows.alike(connection, self._user, item.kind, written.fingerprint, now)
            if same is not None:
                fresh = self._writer.refreshed(same, item)
                self._supersede(connection, fresh, "refreshed", now, clock, written.vector)
                return Added(fresh, "known")
            rows.insert(connection, self._user, written, clock)
            gone = self._made_room(connection, now, clock) if item.kind == "working" else ()
        return Added(item, "added", gone)

    def _made_room(self, connection: Connection, now: float, clock: int) -> tuple[str, ...]:
        """Let working memories go that are over the bounds."""
        held = rows.listed(connection, self._user, Filter(now, ("working",)), forgetting.ALL)
        least = forgetting.evicted(held[::-1], self.limits, now)
        ids = tuple(item.id for item in least)
        rows.end(connection, self._user, ids, GONE, reason="capacity", at=now, clock=clock)
        return ids

    def update(
        self,
        id: str,  # noqa: A002  # as the field is called
        *,
        content: str | None = None,
        importance: float | None = None,
        happened: float | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Item:
        """
        Change a memory; what it was before stays in its history.

        Args:
            id: Which one.
            content: New content; None leaves it.
            importance: New importance; None leaves it.
            happened: New time, in seconds since 1970; None leaves it.
            metadata: JSON values that are added to those it has.

        Raises:
            InputError: There is none of this id, or a value is none.
        """
        now = self._clock()
        with self._database.writing() as connection:
            clock = rows.tick(connection, self._user)
            old = self._live(connection, id)
            if old.expires is not None and old.expires <= now:
                raise InputError(f"the time of the memory {old.id} is over", field="id")
            new = replace(
                old,
                revision=old.revision + 1,
                content=old.content
                if content is None
                else checked_content(content, self.limits.longest),
                importance=old.importance if importance is None else clamped(importance),
                happened=old.happened if happened is None else checked_time(happened, "happened"),
                metadata=checked_metadata({**old.metadata, **dict(metadata or {})}),
                added=now,
            )
            new = replace(new, tokens=self._writer.tokens(new.content, new.kind))
            self._supersede(connection, new, "updated", now, clock)
        return new

    def _supersede(
        self,
        connection: Connection,
        item: Item,
        reason: str,
        now: float,
        clock: int,
        vector: bytes | None = None,
    ) -> None:
        rows.end(connection, self._user, [item.id], SUPERSEDED, reason=reason, at=now, clock=clock)
        rows.insert(connection, self._user, self._writer.written(item, vector), clock)

    # --- forgetting ------------------------------------------------------------------------

    def remove(self, id: str) -> Forgotten:  # noqa: A002  # as the field is called
        """
        Forget one memory; `undo` brings it back.

        Raises:
            InputError: There is none of this id.
        """
        now = self._clock()
        with self._database.writing() as connection:
            clock = rows.tick(connection, self._user)
            self._live(connection, id)
            rows.end(connection, self._user, [id], GONE, reason="removed", at=now, clock=clock)
        return Forgotten(clock, (id,))

    def forget(
        self,
        by: By = "importance",
        *,
        threshold: float = 0.1,
        max_age: float = 30 * forgetting.DAY,
        keep: int = 1_000,
        kinds: Iterable[Kind] = (),
    ) -> Forgotten:
        """
        Forget what matters little, is old, or is too much; `undo` brings it back.

        Args:
            by: "importance", "time" or "capacity".
            threshold: Importance below which a memory goes.
            max_age: Seconds since it happened after which a memory goes.
            keep: How many stay, the most important first.
            kinds: Only these kinds; none given means all.

        Raises:
            InputError: There is no such way, or no such kind.
        """
        now = self._clock()
        wanted = selected(now, kinds, 0.0, None, None)
        with self._database.writing() as connection:
            clock = rows.tick(connection, self._user)
            ids = forgetting.chosen(
                connection, self._user, wanted, by,
                threshold=threshold, max_age=max_age, keep=keep,
            )  # fmt: skip
            if not ids:
                return Forgotten(0, ())
            rows.end(
                connection, self._user, ids, GONE, reason=f"forgotten by {by}", at=now, clock=clock
            )
        return Forgotten(clock, tuple(ids))

    def undo(self, batch: int) -> tuple[str, ...]:
        """
        Bring back what was forgotten together.

        Args:
            batch: As `forget` or `remove` returned it.

        Returns:
            The ids of what is there again.

        Raises:
            InputError: The batch is no number.
        """
        checked_whole(batch, "batch")
        with self._database.writing() as connection:
            clock = rows.tick(connection, self._user)
            return tuple(forgetting.restore(connection, self._user, batch, clock))

    def consolidate(
        self,
        source: Kind = "working",
        target: Kind = "episodic",
        *,
        min_importance: float = 0.7,
    ) -> tuple[Item, ...]:
        """
        Take over what matters from one kind into another, all of it or nothing.

        Args:
            source: The kind it is taken from, where it ends.
            target: The kind it becomes; importance is raised, at most to 1.
            min_importance: What is taken over.

        Returns:
            The new memories; each names the one that it was made of.

        Raises:
            InputError: The kinds are the same, or there is no such kind.
        """
        now = self._clock()
        wanted = selected(now, (source,), min_importance, None, None)
        made = list[Item]()
        if source == target:
            raise InputError("a kind cannot be consolidated into itself", field="target")
        with self._database.writing() as connection:
            clock = rows.tick(connection, self._user)
            for old in rows.listed(connection, self._user, wanted, forgetting.ALL, "oldest"):
                new = self._writer.promoted(old, target, now)
                written = self._writer.written(new)
                same = rows.alike(connection, self._user, new.kind, written.fingerprint, now)
                rows.end(connection, self._user, [old.id], SUPERSEDED,
                         reason=f"consolidated into {new.id}", at=now, clock=clock)  # fmt: skip
                if same is None:
                    rows.insert(connection, self._user, written, clock)
                else:
                    new = self._writer.refreshed(same, new)
                    self._supersede(connection, new, "refreshed", now, clock)
                made.append(new)
        return tuple(made)

    def clear(self) -> int:
        """Erase all memories of this user, history included, for good; return how many lived."""
        with self._database.writing() as connection:
            rows.tick(connection, self._user)
            (count,) = connection.execute(
                "SELECT count(*) FROM memories WHERE memories.user = ? AND state = 'live'",
                (self._user,),
            ).fetchone()
            connection.execute("UPDATE users SET era = era + 1 WHERE name = ?", (self._user,))
            connection.execute('DELETE FROM memories WHERE "user" = ?', (self._user,))
        return int(count)

    def _live(self, connection: Connection, id: str) -> Item:  # noqa: A002
        found = rows.one(connection, self._user, id)
        if found is None:
            raise InputError(f"there is no memory {str(id)[:60]!r}", field="id")
        return found
