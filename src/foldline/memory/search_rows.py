"""What a search of memories in PostgreSQL goes by, kept like the memories themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from foldline.memory.directions import literal
from foldline.memory.term_index import clear_terms, drop_terms, index_terms
from foldline.sql import Connection, Database

CHANGES: Final = 2_000
"""Changes that are indexed in one transaction, where many were not."""


@dataclass(frozen=True, slots=True)
class UserState:
    """
    How far the memories of a user are indexed.

    Args:
        id: The number of the user.
        era: How often everything was erased.
        clock: The number of the latest change.
        indexed_era: The era that is indexed.
        indexed_clock: The latest change that is.
        memories: Live memories that are indexed.
        terms: Their terms, each as often as it occurs.
        vectors: Whether there is a table of vectors.
    """

    id: int
    era: int
    clock: int
    indexed_era: int
    indexed_clock: int
    memories: int
    terms: int
    vectors: bool

    @property
    def behind(self) -> bool:
        """Whether anything changed that is not indexed."""
        return (self.era, self.clock) != (self.indexed_era, self.indexed_clock)


def read_state(connection: Connection, user: str, *, lock: bool = False) -> UserState | None:
    """Return how far a user's memories are indexed; None where there are none."""
    locked = " FOR UPDATE" if lock else ""
    row = connection.execute(
        "SELECT id, era, clock, indexed_era, indexed_clock, indexed_memories, indexed_terms,"  # noqa: S608
        f" to_regclass('near') IS NOT NULL FROM users WHERE name = ?{locked}",
        (user,),
    ).fetchone()
    return None if row is None else UserState(*row)


def catch_up(database: Database, user: str) -> None:
    """Index all that changed; an older version wrote it, or it was loaded by other means."""
    behind = True
    while behind:
        with database.writing() as connection:
            behind = follow(connection, user)


def follow(connection: Connection, user: str) -> bool:
    """
    Index what changed; return whether more did than one transaction takes in.

    Args:
        connection: In a transaction that changes something; the user is locked until it ends.
        user: Whose memories.
    """
    state = read_state(connection, user, lock=True)
    if state is None or not state.behind:
        return False
    after = state.indexed_clock
    if state.era != state.indexed_era:
        _clear(connection, state)
        after = 0
    until = min(state.clock, after + CHANGES)
    rows = connection.execute(
        "SELECT number, state = 'live' FROM memories"
        " WHERE memories.user = ? AND changed > ? AND changed <= ?",
        (user, after, until),
    ).fetchall()
    ended = [number for number, live in rows if not live]
    removed = drop_terms(connection, "number = ANY(?)", (ended,))
    fresh = index_terms(connection, "number = ANY(?)", ([n for n, live in rows if live],))
    if state.vectors:
        connection.execute("DELETE FROM near WHERE number = ANY(?)", (ended,))
        add_vectors(connection, fresh)
    _count(connection, user, until, fresh, removed)
    return until < state.clock


def add_vectors(connection: Connection, numbers: Sequence[int]) -> None:
    """Write the vectors of memories, as far as they have any, where they can be found."""
    rows = connection.execute(
        "SELECT number, vector FROM memories JOIN embedders ON embedders.name = model"
        " WHERE number = ANY(?) AND vector IS NOT NULL"
        " AND NOT EXISTS (SELECT 1 FROM near WHERE near.number = memories.number)",
        (list(numbers),),
    ).fetchall()
    if not rows:
        return
    connection.execute(
        "INSERT INTO near (number, owner, embedder, importance, happened, expires, kind, session,"
        " direction) SELECT number, users.id, embedders.id, importance, happened, expires, kind,"
        " session, given.direction::halfvec FROM unnest(?::bigint[], ?::text[])"
        " AS given (number, direction) JOIN memories USING (number)"
        " JOIN users ON users.name = memories.user JOIN embedders ON embedders.name = model"
        " ON CONFLICT DO NOTHING",
        ([number for number, _ in rows], [literal(vector) for _, vector in rows]),
    )


def fill_vectors(connection: Connection, model: str) -> None:
    """Write all vectors that a model made before there was an index of them."""
    connection.execute("LOCK TABLE users IN SHARE ROW EXCLUSIVE MODE")  # nobody writes meanwhile
    last = 0
    while True:
        rows = connection.execute(
            "SELECT number FROM memories WHERE number > ? AND model = ? AND state = 'live'"
            " ORDER BY number LIMIT ?",
            (last, model, CHANGES),
        ).fetchall()
        if not rows:
            return
        add_vectors(connection, [number for (number,) in rows])
        last = rows[-1][0]


def _clear(connection: Connection, state: UserState) -> None:
    clear_terms(connection, state.id)
    if state.vectors:
        connection.execute("DELETE FROM near WHERE owner = ?", (state.id,))
    connection.execute(
        "UPDATE users SET indexed_clock = 0, indexed_memories = 0, indexed_terms = 0 WHERE id = ?",
        (state.id,),
    )


def _count(
    connection: Connection, user: str, until: int, fresh: list[int], removed: list[int]
) -> None:
    more = len(fresh) - len(removed)
    connection.execute(
        "UPDATE users SET indexed_era = era, indexed_clock = :until,"
        " indexed_memories = indexed_memories + :more, indexed_terms = indexed_terms + (SELECT"
        " coalesce(sum(CASE WHEN number = ANY(:fresh) THEN 1 ELSE -1 END"
        " * cardinality(string_to_array(terms, ' '))), 0)::bigint"
        " FROM memories WHERE number = ANY(:fresh) OR number = ANY(:removed)) WHERE name = :user",
        {"until": until, "more": more, "fresh": fresh, "removed": removed, "user": user},
    )
