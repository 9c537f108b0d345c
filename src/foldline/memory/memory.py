"""
What an agent remembers from one conversation to the next, in one SQLite file.

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
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Self

from foldline.errors import InputError
from foldline.memory import rows, telling
from foldline.memory.awaiting import Awaiting
from foldline.memory.changing import Changing
from foldline.memory.indexing import UserIndex
from foldline.memory.items import Found, Item, Kind
from foldline.memory.limits import MemoryLimits
from foldline.memory.opening import open_memory
from foldline.memory.recalled import marked
from foldline.memory.writing import Writer, checked_name, selected
from foldline.retrieval import Cutter, Embedder, Weights
from foldline.sql import Database
from foldline.type_checks import typed_methods
from foldline.values.tokens import TextCounter

DEFAULT_USER: Final = "default"


@typed_methods
class Memory(Changing, Awaiting):
    """
    The memories of one user; made by `open`. Threads take turns.

    Args:
        database: The file.
        user: Whose memories.
        writer: Makes rows of items.
        index: What is searched.
        clock: Tells the time, in seconds since 1970.
        embedder: Embeds queries.
    """

    def __init__(
        self,
        database: Database,
        user: str,
        writer: Writer,
        index: UserIndex,
        clock: Callable[[], float],
        embedder: Embedder | None,
    ) -> None:
        super().__init__(database, user, writer, clock)
        self._index, self._embedder = index, embedder
        self._lock = threading.Lock()

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
        Open a file of memories; it is made where it is missing.

        Args:
            path: The file, or the URL of a PostgreSQL database.
            user: Whose memories are meant; those of others are never seen.
            limits: The bounds.
            embedder: Adds meaning to the search; None goes by words, surroundings and dates.
            counter: Counts tokens; None takes an estimate.
            words: Cuts Chinese into words, such as ``rjieba.cut_for_search``; None goes by
                characters and pairs of them.
            weights: How much each sign of relevance counts.
            clock: Tells the time, in seconds since 1970.

        Raises:
            StoreError: The file cannot be opened, or is no memory.
        """
        checked_name(user, "user")
        writer = Writer(limits or MemoryLimits(), embedder, counter, words)
        model = "" if embedder is None else embedder.name
        index = UserIndex(user, weights=weights, model=model, words=words)
        return cls(open_memory(path), user, writer, index, clock, embedder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    @property
    def user(self) -> str:
        """Whose memories these are."""
        return self._user

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
    ) -> list[Found]:
        """
        Find what has to do with a question.

        Args:
            query: A question or words, in any language.
            limit: The most that are returned.
            kinds: Only these kinds; none given means all.
            min_importance: Only memories at least so important, 0 to 1.
            min_strength: Only what is at least so strong evidence, 0 to 1; see `Found`.
            time_range: Only what happened from, and until; seconds since 1970, None for open.
            session: Only those of a conversation.

        Returns:
            The most relevant first; importance and age decide nothing but ties. Empty where there
            is no evidence.

        Raises:
            InputError: A filter makes no sense.
        """
        wanted = selected(self._clock(), kinds, min_importance, time_range, session)
        count = self._limit(limit)
        vector = self._embedded(query)
        with self._lock, self._database.reading() as connection:
            self._index.refresh(connection)
            hits = self._index.search(query, count, wanted, vector, min_strength)
            found = rows.by_ids(connection, self._user, [hit.id for hit in hits])
            items = {item.id: item for item in found}
        return [
            Found(items[hit.id], hit.score, hit.parts, hit.matched, hit.strength)
            for hit in hits
            if hit.id in items
        ]

    def _embedded(self, query: str) -> Sequence[float] | None:
        model = self._embedder
        if model is None or not query.strip() or not model.understands(query):
            return None
        return model.embed([query])[0]

    def items(
        self,
        *,
        limit: int = 50,
        kinds: Iterable[Kind] = (),
        min_importance: float = 0.0,
        time_range: tuple[float | None, float | None] | None = None,
        session: str | None = None,
        order: str = "added",
    ) -> list[Item]:
        """
        Go through memories without a question; filters as in `search`.

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
        wanted = selected(self._clock(), kinds, min_importance, time_range, session)
        with self._database.reading() as connection:
            return rows.listed(connection, self._user, wanted, self._limit(limit), order)

    def get(self, id: str) -> Item | None:  # noqa: A002  # as the field is called
        """Return a memory; None where there is none, or it was forgotten."""
        with self._database.reading() as connection:
            found = rows.one(connection, self._user, id)
        expired = (
            found is not None and found.expires is not None and found.expires <= self._clock()
        )
        return None if expired else found

    def history(self, id: str) -> tuple[tuple[Item, str], ...]:  # noqa: A002
        """Return every revision of a memory, oldest first, and what became of it."""
        with self._database.reading() as connection:
            found = rows.history(connection, self._user, id)
        return tuple((item, reason or state) for item, state, reason in found)

    def text(self, found: Iterable[Found | Item]) -> str:
        """Return memories for a context, between marks that keep them from being added again."""
        return marked(one.item if isinstance(one, Found) else one for one in found)

    def summary(self, limit: int = 10) -> str:
        """Say in a few lines what is remembered: how much, what matters most, what is new."""
        now = self._clock()
        with self._database.reading() as connection:
            figures = telling.stats(connection, self._user, now)
            important, latest = telling.both(connection, self._user, now, self._limit(limit))
        return telling.summary(figures, important, latest)

    def stats(self) -> dict[str, Any]:
        """Return figures as JSON values: counts, tokens, importance and times by kind."""
        with self._database.reading() as connection:
            return telling.stats(connection, self._user, self._clock())

    def _limit(self, limit: int) -> int:
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
            raise InputError(f"{limit!r} is no number of memories", field="limit")
        return min(limit, self.limits.most)
