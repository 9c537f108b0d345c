"""
What an agent remembers from one conversation to the next, in a SQLite file or PostgreSQL.

    with Memory.open("memory.db", user="ann") as memory:
        memory.add("The launch moved to May", kind="episodic", importance=0.8)
        for found in memory.search("when is the launch?"):
            print(found.item.content, found.strength)

The file is the only truth: what is searched in memory is built from it and follows it, so that
several processes may use one file, and a killed one loses at most what it was just writing.
Nothing is overwritten: an update is a new revision, what is forgotten can be brought back, and
only `clear` erases. Every method sees the memories of one user.
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
    """The memories of one user; made by `open`. Threads take turns."""

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
        Open a file of memories; it is created if it is missing.

        Args:
            path: The file, or the URL of a PostgreSQL database.
            user: The owner of the memories; those of other users are never seen.
            limits: The bounds.
            embedder: Adds meaning to the search; None goes by words, surroundings and dates.
            counter: Counts tokens; None takes an estimate.
            words: Cuts Chinese into words, such as ``rjieba.cut_for_search``; None goes by
                characters and pairs of them.
            weights: How much each sign of relevance counts.
            clock: Returns the time, in seconds since 1970.

        Raises:
            StoreError: The file cannot be opened, or is no memory.
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
        """The bounds."""
        return self._limits

    # --- finding ---------------------------------------------------------------------------

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
        Find what has to do with a question.

        Args:
            query: A question or words, in any language.
            limit: The most that are returned.
            kinds: Only these kinds; none given means all.
            min_importance: Only memories at least so important, 0 to 1.
            min_strength: Only what is at least so strong evidence, 0 to 1; see `FoundMemory`.
            time_range: Only what happened from, and until; seconds since 1970, None for open.
            session: Only those of a conversation.

        Returns:
            The most relevant first; importance and age decide nothing but ties. Empty where there
            is no evidence.

        Raises:
            InputError: A filter makes no sense.
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
        List memories without a question; filters as in `search`.

        Args:
            limit: The most that are returned.
            kinds: Only these kinds.
            min_importance: Only memories at least so important.
            time_range: Only what happened from, and until.
            session: Only those of a conversation.
            order: "added" or "happened", the latest first, or "importance".
        """
        if order not in ("added", "happened", "importance"):
            raise InputError(f"there is no order {order[:40]!r}", field="order")
        criteria = make_filter(self._clock(), kinds, min_importance, time_range, session)
        with self._database.reading() as connection:
            return UserRows(connection, self._user).select(criteria, self._limit(limit), order)

    def get(self, id: str) -> MemoryItem | None:  # noqa: A002  # as the field is called
        """Return a memory; None if it does not exist or was forgotten."""
        with self._database.reading() as connection:
            found = UserRows(connection, self._user).find(id)
        return None if found is None or found.is_expired(self._clock()) else found

    def history(self, id: str) -> tuple[tuple[MemoryItem, str], ...]:  # noqa: A002
        """Return every revision of a memory, oldest first, and what became of it."""
        with self._database.reading() as connection:
            found = UserRows(connection, self._user).history(id)
        return tuple((item, reason or state) for item, state, reason in found)

    def text(self, found: Iterable[FoundMemory | MemoryItem]) -> str:
        """Return memories for a context, between marks that keep them from being added again."""
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
        """Return figures as JSON values: counts, tokens, importance and times by kind."""
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
            InputError: The content is empty or too long, or a value is invalid.
            StoreError: It cannot be written; nothing was.
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
        Change a memory; what it was before stays in its history.

        Args:
            id: Which one.
            content: New content; None leaves it.
            importance: New importance; None leaves it.
            happened: New time, in seconds since 1970; None leaves it.
            metadata: JSON values that are added to those it has.

        Raises:
            InputError: There is no memory with this id, or a value is invalid.
        """
        given = check_details(importance=importance, happened=happened, metadata=metadata)
        if content is not None:
            given["content"] = check_content(content, self.limits.longest)
        return self._store.update(id, given)

    def remove(self, id: str) -> Forgotten:  # noqa: A002  # as the field is called
        """
        Forget one memory; `undo` brings it back.

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
        Forget what matters little, is old, or is too much; `undo` brings it back.

        Args:
            by: "importance", "time" or "capacity".
            threshold: Importance below which a memory goes.
            max_age: Seconds since it happened after which a memory goes.
            keep: How many stay, the most important first.
            kinds: Only these kinds; none given means all.

        Raises:
            InputError: There is no such way or kind, or a number is invalid.
        """
        criteria = make_filter(self._clock(), kinds, 0.0, None, None)
        return self._store.forget(criteria, by, threshold=threshold, max_age=max_age, keep=keep)

    def undo(self, batch: int) -> tuple[str, ...]:
        """
        Restore what was forgotten together; return the ids.

        Args:
            batch: As `forget` or `remove` returned it.

        Raises:
            InputError: The batch is no number.
        """
        if not 0 <= batch < 1 << 63:
            raise InputError(f"{batch} is not the number of a batch", field="batch")
        return self._store.undo(batch)

    def consolidate(
        self, source: Kind = "working", target: Kind = "episodic", *, min_importance: float = 0.7
    ) -> tuple[MemoryItem, ...]:
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
        criteria = make_filter(self._clock(), (source,), min_importance, None, None)
        if source == target:
            raise InputError("a kind cannot be consolidated into itself", field="target")
        return self._store.consolidate(criteria, target)

    def clear(self) -> int:
        """Erase all memories of this user, history included, for good; return how many lived."""
        return self._store.clear()

    # --- in programs that await ------------------------------------------------------------

    aadd = awaited(add)
    asearch = awaited(search)
    aupdate = awaited(update)
    aremove = awaited(remove)
    aforget = awaited(forget)
    aconsolidate = awaited(consolidate)
