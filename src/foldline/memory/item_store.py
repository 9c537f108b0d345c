"""Changes to the memories of one user: each in one transaction, none overwrites data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from secrets import token_hex
from typing import Any

from foldline.errors import InputError
from foldline.frozen import frozen, replace
from foldline.memory.database import FORGOTTEN, SUPERSEDED
from foldline.memory.item_rows import (
    ALL,
    By,
    Filter,
    Forgotten,
    MemoryRow,
    UserChange,
    UserRows,
    tick,
)
from foldline.memory.items import (
    KINDS,
    Added,
    Kind,
    MemoryItem,
    MemoryLimits,
    MemoryOptions,
    as_kind,
    check_metadata,
    clamp_importance,
    fingerprint,
)
from foldline.relevance.terms import terms
from foldline.retrieval import pack
from foldline.sql import Connection, Database
from foldline.tokens.estimate import estimate


@frozen
class ItemStore:
    """
    Writes the memories of one user; see `Memory` for each method.

    Args:
        database: The database.
        user: The owner of the memories.
        options: The limits, and the embedder, token counter and tokenizer.
        clock: Returns the time, in seconds since 1970.
        follow: Called at the end of every transaction to update the search index in it.
    """

    database: Database
    user: str
    options: MemoryOptions
    clock: Callable[[], float]
    follow: Callable[[Connection], None]

    @contextmanager
    def _changing(self, now: float) -> Iterator[UserChange]:
        """Open a numbered change of the memories of the user."""
        with self.database.writing() as connection:
            # First, since it locks out other writers of this user.
            yield UserChange(connection, self.user, now, tick(connection, self.user))
            self.follow(connection)

    def add(self, content: str, kind: Kind, details: Mapping[str, Any]) -> Added:
        """Write a new memory, or refresh the live one with the same content."""
        now = self.clock()
        item = MemoryItem(
            id=token_hex(8),
            revision=1,
            kind=as_kind(kind),
            content=content,
            added=now,
            expires=self._expires(kind, now),
            tokens=self._count(content, kind),
            parents=(),
            seen=1,
            **{"happened": now, **details},
        )
        row = self._row(item)
        with self._changing(now) as rows:
            same = rows.find_same(item.kind, row.fingerprint)
            if same is not None:
                return Added(self._refresh(rows, same, item, row.vector), "known")
            rows.insert(row)
            evicted_ids = self._make_room(rows) if item.kind == "working" else ()
        return Added(item, "added", evicted_ids)

    def update(self, id: str, given: Mapping[str, Any]) -> MemoryItem:  # noqa: A002
        """Replace fields of a memory, and merge metadata into what it has."""
        now = self.clock()
        with self._changing(now) as rows:
            old = _live(rows, id)
            if old.is_expired(now):
                raise InputError(f"the memory {old.id} is expired", field="id")
            new = replace(old, revision=old.revision + 1, added=now, **given)
            new = replace(
                new,
                tokens=self._count(new.content, old.kind),
                metadata=check_metadata({**old.metadata, **new.metadata}),
            )
            same = new.content == old.content
            self._supersede(rows, new, "updated", self._vector(rows, id) if same else None)
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
        """Restore the memories of a batch; return their ids."""
        with self._changing(self.clock()) as rows:
            return tuple(rows.restore(batch))

    def consolidate(self, criteria: Filter, target: Kind) -> tuple[MemoryItem, ...]:
        """Move the memories that a filter admits to another kind."""
        made = list[MemoryItem]()
        with self._changing(criteria.now) as rows:
            for old in rows.select(criteria, ALL, "oldest"):
                new = self._promote(old, target, criteria.now)
                row = self._row(new, self._vector(rows, old.id))
                same = rows.find_same(new.kind, row.fingerprint)
                rows.end([old.id], SUPERSEDED, f"consolidated into {new.id}")
                if same is None:
                    rows.insert(row)
                else:
                    new = self._refresh(rows, same, new, row.vector)
                made.append(new)
        return tuple(made)

    def clear(self) -> int:
        """Erase everything of this user; return the number of live memories."""
        with self._changing(self.clock()) as rows:
            return rows.clear()

    # --- revisions and rows -----------------------------------------------------------------

    def _expires(self, kind: Kind, now: float) -> float | None:
        return now + self.options.limits.working_seconds if kind == "working" else None

    def _count(self, content: str, kind: Kind) -> int:
        """
        Return the number of tokens of a content.

        Raises:
            InputError: A working memory exceeds the limit of all working memories together.
        """
        counter, most = self.options.counter, self.options.limits.working_tokens
        tokens = estimate(content) if counter is None else counter.count(content)
        if kind == "working" and tokens > most:
            raise InputError(
                f"it has {tokens:,} tokens; all working memories together have at most {most:,}",
                field="content",
                hint="Shorten it, or add it as episodic.",
            )
        return tokens

    def _promote(self, old: MemoryItem, kind: Kind, now: float) -> MemoryItem:
        """Return an item converted to another kind."""
        return replace(
            old,
            id=token_hex(8),
            revision=1,
            kind=as_kind(kind),
            importance=clamp_importance(old.importance * self.options.limits.boost),
            added=now,
            expires=self._expires(kind, now),
            parents=(old.name,),
            seen=1,
        )

    def _refresh(
        self, rows: UserChange, old: MemoryItem, new: MemoryItem, vector: bytes | None
    ) -> MemoryItem:
        """Write an item added once more, with the higher importance and the later expiry."""
        fresh = replace(
            old,
            revision=old.revision + 1,
            importance=max(old.importance, new.importance),
            added=new.added,
            expires=new.expires,
            parents=tuple(dict.fromkeys((*old.parents, *new.parents))),
            seen=old.seen + 1,
            metadata=check_metadata({**old.metadata, **new.metadata}),
        )
        self._supersede(rows, fresh, "refreshed", vector)
        return fresh

    def _supersede(
        self, rows: UserChange, item: MemoryItem, reason: str, vector: bytes | None
    ) -> None:
        rows.end([item.id], SUPERSEDED, reason)
        rows.insert(self._row(item, vector))

    def _vector(self, rows: UserChange, id: str) -> bytes | None:  # noqa: A002
        return rows.find_vector(id, self.options.model)

    def _row(self, item: MemoryItem, vector: bytes | None = None) -> MemoryRow:
        """
        Return the row of an item; ``vector`` is that of its content, if known.

        Errors of the embedder are raised: nothing is written without its vector.
        """
        options = self.options
        if options.embedder is None or not options.embedder.understands(item.content):
            vector = None
        elif vector is None:
            vector = pack(options.embedder.embed([item.content])[0])
        text = f"{item.author} {item.content}" if item.author else item.content
        cut = " ".join(terms(text, words=options.words))
        model = "" if vector is None else options.model
        return MemoryRow(item, fingerprint(text), cut, options.cut, vector, model)

    def _make_room(self, rows: UserChange) -> tuple[str, ...]:
        """Forget the working memories that exceed the limits."""
        held = rows.select(Filter(rows.now, ("working",)), ALL)
        least = choose_evicted(held[::-1], self.options.limits, rows.now)
        ids = tuple(item.id for item in least)
        rows.end(ids, FORGOTTEN, "capacity")
        return ids


def choose_evicted(
    items: Sequence[MemoryItem], limits: MemoryLimits, now: float
) -> list[MemoryItem]:
    """
    Choose working memories to evict, so that the rest is within the limits.

    Args:
        items: All of them; the last is the newest, was just added, and stays.
        limits: The limits.
        now: The time, in seconds since 1970.

    Returns:
        Those of the least weight: importance, halved every ``fade`` seconds.
    """
    *older, _ = items
    older.sort(key=lambda item: (_counts(item, limits, now), item.added), reverse=True)
    left, tokens = len(items), sum(item.tokens for item in items)
    out = list[MemoryItem]()
    while older and (left > limits.working_items or tokens > limits.working_tokens):
        least = older.pop()
        out.append(least)
        left, tokens = left - 1, tokens - least.tokens
    return out


def _counts(item: MemoryItem, limits: MemoryLimits, now: float) -> float:
    age = max(0.0, now - item.added) / limits.fade
    return float(item.importance * 0.5**age)


def _live(rows: UserRows, id: str) -> MemoryItem:  # noqa: A002
    found = rows.find(id)
    if found is None:
        raise InputError(f"there is no memory {str(id)[:60]!r}", field="id")
    return found


def count_memories(connection: Connection, user: str, now: float) -> dict[str, Any]:
    """Return the statistics of a user's memory."""
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
    """Summarize the memories in a few lines: how many, the most important, the latest."""
    if not figures["count"]:
        return "There are no memories yet."
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
