"""
Long-term memory of an agent across conversations, in a SQLite file or PostgreSQL.

    with Memory.open("memory.db", user="ann") as memory:
        memory.add("The launch moved to May", kind="episodic", importance=0.8)
        for found in memory.search("when is the launch?"):
            print(found.item.content, found.strength)

The file is the only source of truth: the search index in memory is built from it and follows it,
so that several processes may use one file, and a killed one loses at most its current write.
Nothing is overwritten: an update is a new revision, forgotten memories can be restored, and only
`clear` erases. Every method sees the memories of one user.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Self

from foldline.concurrency import awaited
from foldline.errors import InputError
from foldline.memory.database import open_memory
from foldline.memory.item_rows import DAY, By, Filter, Forgotten, UserRows, make_filter
from foldline.memory.item_store import ItemStore, count_memories, write_summary
from foldline.memory.items import (
    Added,
    FoundMemory,
    Kind,
    MemoryItem,
    MemoryLimits,
    MemoryOptions,
    check_content,
    check_details,
    check_name,
    mark_recalled,
    remove_recalled,
)
from foldline.memory.user_search import MemorySearch, open_search
from foldline.retrieval import Cutter, Embedder, Weights
from foldline.sql import Database
from foldline.type_checks import typed_methods
from foldline.values.tokens import TextCounter

DEFAULT_USER: Final = "default"


@typed_methods
class Memory:
    """The memories of one user; created by `open`. Calls from several threads are serialized."""

    def __init__(
        self,
        database: Database,
        user: str,
        options: MemoryOptions,
        index: MemorySearch,
        clock: Callable[[], float],
    ) -> None:
        self._database, self._user, self._clock = database, user, clock
        self._limits, self._index = options.limits, index
        self._store = ItemStore(database, user, options, clock, index.follow)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        user: str = DEFAULT_USER,
        limits: MemoryLimits | None = None,
        embedder: Embedder | None = None,
        counter: TextCounter | None = None,
        words: Cutter | None = None,
        weights: Weights | None = None,
        clock: Callable[[], float] = time.time,
    ) -> Self:
        """
        Open a memory file; it is created if it is missing.

        Args:
            path: The file, or the URL of a PostgreSQL database.
            user: The owner of the memories; those of other users are never seen.
            limits: The limits.
            embedder: Adds semantic search; None searches by words, neighbours and dates.
            counter: Counts tokens; None uses an estimate.
            words: Splits Chinese into words, such as ``rjieba.cut_for_search``; None uses
                characters and pairs of them.
            weights: The weights of the relevance features.
            clock: Returns the time, in seconds since 1970.

        Raises:
            StoreError: The file cannot be opened, or is not a memory file.
        """
        check_name(user, "user")
        options = MemoryOptions(limits or MemoryLimits(), embedder, counter, words, weights)
        database = open_memory(path)
        index = open_search(database, user, options)
        return cls(database, user, options, index, clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    @property
    def user(self) -> str:
        """The owner of the memories."""
        return self._user

    @property
    def limits(self) -> MemoryLimits:
        """The limits."""
        return self._limits

    # --- reading ---------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        kinds: Iterable[Kind] = (),
        min_importance: float = 0.0,
        min_strength: float = 0.0,
        time_range: tuple[float | None, float | None] | None = None,
        session: str | None = None,
    ) -> list[FoundMemory]:
        """
        Search for memories relevant to a query.

        Args:
            query: A question or words, in any language.
            limit: The maximum number of results.
            kinds: Only these kinds; empty for all.
            min_importance: Only memories of at least this importance, 0 to 1.
            min_strength: Only results of at least this strength, 0 to 1; see `FoundMemory`.
            time_range: Only events from and until these times, in seconds since 1970; None is
                open.
            session: Only memories of this conversation.

        Returns:
            The results, the most relevant first; importance and age decide only ties. Empty if
            there is no evidence.

        Raises:
            InputError: A filter is invalid.
        """
        criteria = make_filter(self._clock(), kinds, min_importance, time_range, session)
        return self._index.find(self._database, query, self._limit(limit), criteria, min_strength)

    def items(
        self,
        *,
        limit: int = 50,
        kinds: Iterable[Kind] = (),
        min_importance: float = 0.0,
        time_range: tuple[float | None, float | None] | None = None,
        session: str | None = None,
        order: str = "added",
    ) -> list[MemoryItem]:
        """
        List memories without a query; filters as in `search`.

        Args:
            limit: The maximum number of memories.
            kinds: Only these kinds; empty for all.
            min_importance: Only memories of at least this importance.
            time_range: Only events from and until these times.
            session: Only memories of this conversation.
            order: "added" or "happened", the latest first, or "importance".
        """
        if order not in ("added", "happened", "importance"):
            raise InputError(f"there is no order {order[:40]!r}", field="order")
        criteria = make_filter(self._clock(), kinds, min_importance, time_range, session)
        with self._database.reading() as connection:
            return UserRows(connection, self._user).select(criteria, self._limit(limit), order)

    def get(self, id: str) -> MemoryItem | None:  # noqa: A002  # the name of the field
        """Return a memory; None if it does not exist or was forgotten."""
        with self._database.reading() as connection:
            found = UserRows(connection, self._user).find(id)
        return None if found is None or found.is_expired(self._clock()) else found

    def history(self, id: str) -> tuple[tuple[MemoryItem, str], ...]:  # noqa: A002
        """Return every revision of a memory with its state, the oldest first."""
        with self._database.reading() as connection:
            found = UserRows(connection, self._user).history(id)
        return tuple((item, reason or state) for item, state, reason in found)

    def text(self, found: Iterable[FoundMemory | MemoryItem]) -> str:
        """Return memories for a context, in tags that prevent adding them again."""
        return mark_recalled(one.item if isinstance(one, FoundMemory) else one for one in found)

    def summary(self, limit: int = 10) -> str:
        """Summarize the memories in a few lines: how many, the most important, the latest."""
        criteria, most = Filter(self._clock()), self._limit(limit)
        with self._database.reading() as connection:
            figures = count_memories(connection, self._user, criteria.now)
            rows = UserRows(connection, self._user)
            important = rows.select(criteria, most, "importance")
            latest = rows.select(criteria, most)
        return write_summary(figures, important, latest)

    def stats(self) -> dict[str, Any]:
        """Return statistics as JSON values: counts, tokens, importance and times by kind."""
        with self._database.reading() as connection:
            return count_memories(connection, self._user, self._clock())

    def _limit(self, limit: int) -> int:
        if limit < 0:
            raise InputError(f"{limit!r} is not a number of memories", field="limit")
        return min(limit, self.limits.most)

    # --- changing --------------------------------------------------------------------------

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
        Add a memory.

        The same words refresh the existing memory instead of adding a duplicate; text recalled
        from memory is removed first.

        Args:
            content: The text.
            kind: "working" for the current context, "episodic" for events, "semantic" for facts.
            importance: Clamped to 0 to 1.
            happened: The time of the event, in seconds since 1970; default now.
            session: The conversation it is from.
            author: The author of the content.
            source: The source of the content.
            metadata: Additional JSON values.

        Returns:
            The memory, and whether it is new.

        Raises:
            InputError: The content is empty or too long, or a value is invalid.
            StoreError: It cannot be written; nothing was changed.
        """
        kept = remove_recalled(check_content(content, self.limits.longest)).strip()
        if not kept:
            return Added(None, "recalled")
        details = check_details(
            importance=importance, happened=happened, session=session, author=author,
            source=source, metadata=metadata or {},
        )  # fmt: skip
        return self._store.add(kept, kind, details)

    def update(
        self,
        id: str,  # noqa: A002  # as the field is called
        *,
        content: str | None = None,
        importance: float | None = None,
        happened: float | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> MemoryItem:
        """
        Update a memory; earlier revisions stay in its history.

        Args:
            id: The id of the memory.
            content: New content; None keeps the old.
            importance: New importance; None keeps the old.
            happened: New time, in seconds since 1970; None keeps the old.
            metadata: JSON values that are merged into the old ones.

        Raises:
            InputError: There is no memory with this id, or a value is invalid.
        """
        given = check_details(importance=importance, happened=happened, metadata=metadata)
        if content is not None:
            given["content"] = check_content(content, self.limits.longest)
        return self._store.update(id, given)

    def remove(self, id: str) -> Forgotten:  # noqa: A002  # as the field is called
        """
        Forget one memory; `undo` restores it.

        Raises:
            InputError: There is no memory with this id.
        """
        return self._store.remove(id)

    def forget(
        self,
        by: By = "importance",
        *,
        threshold: float = 0.1,
        max_age: float = 30 * DAY,
        keep: int = 1_000,
        kinds: Iterable[Kind] = (),
    ) -> Forgotten:
        """
        Forget memories by importance, age or number; `undo` restores them.

        Args:
            by: "importance", "time" or "capacity".
            threshold: The importance below which memories are forgotten.
            max_age: The age of the event, in seconds, above which memories are forgotten.
            keep: The number of memories to keep, the most important first.
            kinds: Only these kinds; empty for all.

        Raises:
            InputError: ``by`` or a kind is unknown, or a number is invalid.
        """
        criteria = make_filter(self._clock(), kinds, 0.0, None, None)
        return self._store.forget(criteria, by, threshold=threshold, max_age=max_age, keep=keep)

    def undo(self, batch: int) -> tuple[str, ...]:
        """
        Restore the memories of a batch; return their ids.

        Args:
            batch: The number returned by `forget` or `remove`.

        Raises:
            InputError: The batch is not a number.
        """
        if not 0 <= batch < 1 << 63:
            raise InputError(f"{batch} is not the number of a batch", field="batch")
        return self._store.undo(batch)

    def consolidate(
        self, source: Kind = "working", target: Kind = "episodic", *, min_importance: float = 0.7
    ) -> tuple[MemoryItem, ...]:
        """
        Move important memories from one kind to another, atomically.

        Args:
            source: The kind they are taken from, where they end.
            target: The new kind; importance is raised, at most to 1.
            min_importance: The minimum importance of memories to move.

        Returns:
            The new memories; each names its parent.

        Raises:
            InputError: The kinds are the same, or one is unknown.
        """
        criteria = make_filter(self._clock(), (source,), min_importance, None, None)
        if source == target:
            raise InputError("a kind cannot be consolidated into itself", field="target")
        return self._store.consolidate(criteria, target)

    def clear(self) -> int:
        """Erase all memories of this user with their history; return the number of live ones."""
        return self._store.clear()

    # --- async -----------------------------------------------------------------------------

    aadd = awaited(add)
    asearch = awaited(search)
    aupdate = awaited(update)
    aremove = awaited(remove)
    aforget = awaited(forget)
    aconsolidate = awaited(consolidate)
