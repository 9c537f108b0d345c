"""Figures and a digest of what is remembered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foldline.memory import rows
from foldline.memory.items import KINDS, Item
from foldline.memory.rows import CONDITION, Filter
from foldline.sql import Connection


def stats(connection: Connection, user: str, now: float) -> dict[str, Any]:
    """Count what a user's memory holds."""
    found = connection.execute(
        "SELECT kind, count(*), sum(tokens), avg(importance), min(happened), max(happened),"  # noqa: S608  # a constant
        f' count(vector) FROM memories WHERE "user" = :user AND {CONDITION} GROUP BY kind',
        {"user": user, **Filter(now).values},
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


def summary(figures: dict[str, Any], important: Sequence[Item], latest: Sequence[Item]) -> str:
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


def _line(item: Item) -> str:
    words = " ".join(item.content.split())
    short = words if len(words) <= 160 else f"{words[:159]}…"
    return f"- [{item.kind}, {item.importance:.2f}] {short}"


def both(
    connection: Connection, user: str, now: float, limit: int
) -> tuple[list[Item], list[Item]]:
    """Return the most important memories and the latest ones."""
    wanted = Filter(now)
    important = rows.listed(connection, user, wanted, limit, "importance")
    return important, rows.listed(connection, user, wanted, limit, "added")
