"""Memories as rows: write, end, read, and choose which to forget."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from foldline.errors import InputError
from foldline.frozen import fields, frozen
from foldline.memory.database import FORGOTTEN, LIVE, as_bytes, reading_rows
from foldline.memory.items import (
    KINDS,
    Kind,
    MemoryItem,
    as_kind,
    check_name,
    check_time,
    clamp_importance,
)
from foldline.sql import Connection
from foldline.type_checks import check_fields

COLUMNS: Final = (
    "id, revision, kind, content, importance, happened, added, expires, tokens, session, author, "
    "source, parents, seen, metadata"
)
NAMES: Final = COLUMNS.split(", ")


@frozen
class Filter:
    """
    A filter of memories.

    Args:
        now: The current time, in seconds since 1970; expired memories are excluded.
        kinds: Only these kinds; empty for all.
        min_importance: Only memories of at least this importance.
        since: Only events at or after this time, in seconds since 1970.
        until: Only events at or before this time, in seconds since 1970.
        session: Only memories of this conversation.
    """

    now: float
    kinds: tuple[Kind, ...] = ()
    min_importance: float = 0.0
    since: float | None = None
    until: float | None = None
    session: str | None = None

    @property
    def is_open(self) -> bool:
        """Return True if it admits every memory that is not expired."""
        return self == Filter(self.now)

    def admits(self, facts: FilterFacts) -> bool:
        """Return True if it admits a memory; `condition` is the same in SQL."""
        return (
            facts.kind in (self.kinds or KINDS)
            and facts.importance >= self.min_importance
            and (self.since is None or facts.happened >= self.since)
            and (self.until is None or facts.happened <= self.until)
            and self.session in (None, facts.session)
            and (facts.expires is None or facts.expires > self.now)
        )

    @property
    def values(self) -> dict[str, Any]:
        """The values of `condition`, by their names."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name != "kinds"}

    @property
    def condition(self) -> str:
        """The filter in SQL, without conditions that are always true, so that indexes are used."""
        kinds = ", ".join(f"'{kind}'" for kind in KINDS if kind in self.kinds)
        parts = (
            ("(expires IS NULL OR expires > :now)", True),
            (f"kind IN ({kinds})", kinds),
            ("importance >= :min_importance", self.min_importance > 0),
            ("happened >= :since", self.since is not None),
            ("happened <= :until", self.until is not None),
            ("session = :session", self.session is not None),
        )
        return " AND ".join(part for part, active in parts if active)


def make_filter(
    now: float,
    kinds: Iterable[Kind],
    min_importance: float,
    time_range: Sequence[float | None] | None,
    session: str | None,
) -> Filter:
    """
    Validate arguments and return a filter.

    Raises:
        InputError: A kind, an importance or a time is invalid, or the range ends before it begins.
    """
    names = (kinds,) if isinstance(kinds, str) else tuple(kinds)
    if time_range is not None and len(time_range) != 2:
        raise InputError("a range of time has a beginning and an end", field="time_range")
    since, until = (
        None if one is None else check_time(one, "time_range")
        for one in (time_range or (None, None))
    )
    if since is not None and until is not None and since > until:
        raise InputError("the range of time ends before it begins", field="time_range")
    if session is not None:
        check_name(session, "session", empty=True)
    kept = tuple(map(as_kind, names))
    return Filter(now, kept, clamp_importance(min_importance), since, until, session)


_ORDERS: Final = {
    "added": "added DESC, number DESC",
    "happened": "happened DESC, number DESC",
    "importance": "importance DESC, happened DESC, number DESC",
    "oldest": "happened, number",
}


@frozen
class FilterFacts:
    """The fields of a memory that a filter checks."""

    kind: Kind
    importance: float
    happened: float
    expires: float | None
    session: str


@frozen
class MemoryRow:
    """An item with the additional columns of its row."""

    item: MemoryItem
    fingerprint: bytes
    terms: str
    cut: str
    vector: bytes | None
    model: str


By: TypeAlias = Literal["importance", "time", "capacity"]

DAY: Final = 86_400.0
ALL: Final = 1 << 40

_CHOICES: Final = {
    "importance": (" AND importance < :threshold", "added"),
    "time": (" AND :now - happened > :max_age", "added"),
    "capacity": ("", "importance"),
}
"""The condition in SQL by which memories are forgotten, and their order."""


@frozen
class Forgotten:
    """
    Memories forgotten by one call.

    Args:
        batch: The number with which `Memory.undo` restores them; 0 if none was forgotten.
        ids: The ids of the memories.
    """

    batch: int
    ids: tuple[str, ...]


def tick(connection: Connection, user: str) -> int:
    """Increment the change counter of a user, and return it."""
    (clock,) = connection.execute(
        "INSERT INTO users (name, clock) VALUES (?, 1)"
        " ON CONFLICT (name) DO UPDATE SET clock = users.clock + 1 RETURNING clock",
        (user,),
    ).fetchone()
    return int(clock)


@frozen
class UserRows:
    """
    Reads the memories of one user inside a transaction.

    Args:
        connection: The transaction.
        user: The owner of the memories.
    """

    connection: Connection
    user: str

    def find(self, id: str) -> MemoryItem | None:  # noqa: A002  # as the field
        """Return a live memory, None if it does not exist."""
        return next(iter(self.find_all([id])), None)

    def find_all(self, ids: Sequence[str]) -> list[MemoryItem]:
        """Return the live memories among the ids, in no particular order."""
        return self._live("id IN (SELECT value FROM json_each(:ids))", {"ids": json.dumps(ids)})

    def find_vector(self, id: str, model: str) -> bytes | None:  # noqa: A002
        """Return the vector of a live memory by a model; None if it has none."""
        row = self.connection.execute(
            "SELECT vector FROM memories WHERE memories.user = ? AND id = ? AND state = 'live'"
            " AND model = ? AND vector IS NOT NULL",
            (self.user, id, model),
        ).fetchone()
        return None if row is None else as_bytes(row[0])

    def select(self, criteria: Filter, limit: int, order: str = "added") -> list[MemoryItem]:
        """Return live memories, newest or most important first."""
        ordered = f"{criteria.condition} ORDER BY {_ORDERS[order]} LIMIT :limit"
        return self._live(ordered, {"limit": limit, **criteria.values})

    def history(self, id: str) -> list[tuple[MemoryItem, str, str]]:  # noqa: A002
        """Return every revision of a memory with its state and reason, oldest first."""
        found = self.connection.execute(
            f"SELECT {COLUMNS}, state, reason FROM memories WHERE memories.user = ? AND id = ?"  # noqa: S608
            " ORDER BY revision",
            (self.user, id.encode("utf-8", "replace").decode()),
        ).fetchall()
        return [(_to_item(row[:-2]), str(row[-2]), str(row[-1])) for row in found]

    def choose_forgotten(
        self, criteria: Filter, by: By, *, threshold: float, max_age: float, keep: int
    ) -> list[str]:
        """
        Choose what to forget among the memories that a filter admits.

        Args:
            criteria: The filter.
            by: "importance" below the threshold, "time" older than ``max_age`` seconds, or
                "capacity": all but the ``keep`` most important, of equals the latest.
            threshold: 0 to 1.
            max_age: Seconds.
            keep: The number of memories to keep.

        Raises:
            InputError: ``by`` is unknown, or a number is invalid.
        """
        if by not in _CHOICES:
            raise InputError(
                f"there is no strategy {str(by)[:40]!r} to forget",
                field="by",
                hint=f"Known: {', '.join(_CHOICES)}.",
            )
        for field, value in (("threshold", threshold), ("max_age", max_age)):
            if not math.isfinite(value):
                raise InputError(f"{value!r} is not a number", field=field)
        condition, order = _CHOICES[by]
        kept = min(max(0, keep), ALL) if by == "capacity" else 0
        numbers = {"threshold": threshold, "max_age": max_age, "all": ALL, "kept": kept}
        found = self.connection.execute(
            "SELECT id FROM memories WHERE memories.user = :user AND state = 'live'"  # noqa: S608  # constants
            f" AND {criteria.condition}{condition} ORDER BY {_ORDERS[order]}"
            " LIMIT :all OFFSET :kept",
            {**criteria.values, **numbers, "user": self.user},
        )
        return [str(name) for (name,) in found]

    def _live(self, condition: str, values: Mapping[str, Any]) -> list[MemoryItem]:
        found = self.connection.execute(
            f"SELECT {COLUMNS} FROM memories WHERE memories.user = :user AND state = 'live'"  # noqa: S608
            f" AND {condition}",
            {"user": self.user, **values},
        ).fetchall()
        return [_to_item(row) for row in found]


@frozen
class UserChange(UserRows):
    """
    Changes the memories of one user inside a write transaction.

    Args:
        connection: The transaction.
        user: The owner of the memories.
        now: The time of the change, in seconds since 1970.
        clock: The number of the change; see `tick`.
    """

    now: float
    clock: int

    def insert(self, written: MemoryRow) -> None:
        """Insert a live revision."""
        item = written.item.to_dict()
        item |= {name: json.dumps(item[name]) for name in ("parents", "metadata")}
        made = (written.fingerprint, written.terms, written.cut, written.vector, written.model)
        values = (self.user, *(item[name] for name in NAMES), *made, LIVE, self.clock)
        self.connection.execute(
            f'INSERT INTO memories ("user", {COLUMNS}, fingerprint, terms, cut, vector, model,'  # noqa: S608  # a constant
            f" state, changed, ended, reason) VALUES ({', '.join('?' * len(values))}, NULL, '')",
            values,
        )

    def end(self, ids: Sequence[str], state: str, reason: str) -> None:
        """End the live revisions of memories; nothing is erased."""
        self.connection.execute(
            "UPDATE memories SET state = ?, reason = ?, ended = ?, changed = ? WHERE"
            " memories.user = ? AND state = 'live' AND id IN (SELECT value FROM json_each(?))",
            (state, reason, self.now, self.clock, self.user, json.dumps(ids)),
        )

    def find_same(self, kind: Kind, fingerprint: bytes) -> MemoryItem | None:
        """Return the live memory with the same fingerprint, unless it is expired."""
        found = self._live(
            "fingerprint = :mark AND kind = :kind AND (expires IS NULL OR expires > :now)",
            {"mark": fingerprint, "kind": kind, "now": self.now},
        )
        return found[0] if found else None

    def restore(self, batch: int) -> list[str]:
        """Restore the memories of a batch, except those that were added again since."""
        found = self.connection.execute(
            "SELECT id, max(revision) FROM memories AS past"
            ' WHERE "user" = ? AND state = ? AND changed = ?'
            ' AND NOT EXISTS (SELECT 1 FROM memories AS now WHERE now."user" = past."user"'
            " AND now.id = past.id AND now.state = 'live')"
            ' AND NOT EXISTS (SELECT 1 FROM memories AS now WHERE now."user" = past."user"'
            " AND now.fingerprint = past.fingerprint AND now.kind = past.kind"
            " AND now.state = 'live') GROUP BY id",
            (self.user, FORGOTTEN, batch),
        ).fetchall()
        self.connection.executemany(
            "UPDATE memories SET state = ?, reason = '', ended = NULL, changed = ?"
            ' WHERE "user" = ? AND id = ? AND revision = ?',
            [(LIVE, self.clock, self.user, name, revision) for name, revision in found],
        )
        return [str(name) for name, _ in found]

    def clear(self) -> int:
        """Erase everything; return the number of live memories."""
        (count,) = self.connection.execute(
            "SELECT count(*) FROM memories WHERE memories.user = ? AND state = 'live'",
            (self.user,),
        ).fetchone()
        self.connection.execute("UPDATE users SET era = era + 1 WHERE name = ?", (self.user,))
        self.connection.execute('DELETE FROM memories WHERE "user" = ?', (self.user,))
        return int(count)


def _to_item(row: Sequence[Any]) -> MemoryItem:
    """Convert a row of `COLUMNS` to an item."""
    values = dict(zip(NAMES, row, strict=True))
    with reading_rows():
        values["parents"] = tuple(json.loads(values["parents"]))
        values["metadata"] = json.loads(values["metadata"])
        item = MemoryItem(**values)
        check_fields(item)
    return item
