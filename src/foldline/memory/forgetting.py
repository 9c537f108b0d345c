"""What is forgotten, and how it is taken back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from foldline.errors import InputError
from foldline.memory import rows
from foldline.memory.items import Item
from foldline.memory.limits import MemoryLimits
from foldline.memory.rows import Filter
from foldline.memory.tables import GONE, LIVE
from foldline.sql import Connection

By: TypeAlias = Literal["importance", "time", "capacity"]

DAY: Final = 86_400.0
ALL: Final = 1 << 40


@dataclass(frozen=True, slots=True)
class Forgotten:
    """
    What was forgotten together.

    Args:
        batch: Under which `Memory.undo` brings it back; 0 where nothing was forgotten.
        ids: The memories.
    """

    batch: int
    ids: tuple[str, ...]


def chosen(
    connection: Connection,
    user: str,
    wanted: Filter,
    by: By,
    *,
    threshold: float,
    max_age: float,
    keep: int,
) -> list[str]:
    """
    Choose what to forget among the memories that a filter admits.

    Args:
        connection: The file.
        user: Whose.
        wanted: Among which.
        by: "importance" below the threshold, "time" older than ``max_age`` seconds, or
            "capacity": all but the ``keep`` most important, of equals the latest.
        threshold: 0 to 1.
        max_age: Seconds.
        keep: How many stay.

    Raises:
        InputError: There is no such way to choose.
    """
    if by == "capacity":
        found = rows.listed(connection, user, wanted, ALL, "importance")
        return [item.id for item in found[max(0, keep) :]]
    found = rows.listed(connection, user, wanted, ALL)
    if by == "importance":
        return [item.id for item in found if item.importance < threshold]
    if by == "time":
        return [item.id for item in found if wanted.now - item.happened > max_age]
    raise InputError(
        f"there is no way to forget {str(by)[:40]!r}",
        field="by",
        hint="Known: importance, time, capacity.",
    )


def evicted(items: Sequence[Item], limits: MemoryLimits, now: float) -> list[Item]:
    """
    Choose which working memories have to go, so that the rest is within its bounds.

    Args:
        items: All of them; the newest, which was just added, is the last and stays.
        limits: The bounds.
        now: Seconds since 1970.

    Returns:
        Those that count least: importance, halved every ``fade`` seconds.
    """
    *older, _ = items
    older.sort(key=lambda item: (_counts(item, limits, now), item.added), reverse=True)
    left, tokens = len(items), sum(item.tokens for item in items)
    out = list[Item]()
    while older and (left > limits.working_items or tokens > limits.working_tokens):
        least = older.pop()
        out.append(least)
        left, tokens = left - 1, tokens - least.tokens
    return out


def _counts(item: Item, limits: MemoryLimits, now: float) -> float:
    age = max(0.0, now - item.added) / limits.fade
    return float(item.importance * 0.5**age)


def restore(connection: Connection, user: str, batch: int, clock: int) -> list[str]:
    """Bring back what was forgotten in one go, except what was remembered anew since."""
    found = connection.execute(
        "SELECT id, max(revision) FROM memories AS past"
        ' WHERE "user" = ? AND state = ? AND changed = ?'
        ' AND NOT EXISTS (SELECT 1 FROM memories AS now WHERE now."user" = past."user"'
        " AND now.id = past.id AND now.state = 'live')"
        ' AND NOT EXISTS (SELECT 1 FROM memories AS now WHERE now."user" = past."user"'
        " AND now.fingerprint = past.fingerprint AND now.kind = past.kind"
        " AND now.state = 'live') GROUP BY id",
        (user, GONE, batch),
    ).fetchall()
    for name, revision in found:
        connection.execute(
            "UPDATE memories SET state = ?, reason = '', ended = NULL, changed = ?"
            ' WHERE "user" = ? AND id = ? AND revision = ?',
            (LIVE, clock, user, name, revision),
        )
    return [str(name) for name, _ in found]
