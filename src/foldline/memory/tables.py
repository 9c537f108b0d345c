"""The tables of a memory file, and the numbered steps that lead to them."""

from __future__ import annotations

from typing import Final

from foldline.sqlite.schema import Schema

LIVE, SUPERSEDED, GONE = "live", "superseded", "gone"
"""A revision is what is remembered, was replaced by a later one, or was forgotten."""

_FIRST: Final = (
    # ``clock`` counts the changes of a user; what was changed since an index was built has a
    # higher one. ``era`` changes when everything of the user was erased.
    """
    CREATE TABLE users (
        name TEXT PRIMARY KEY,
        era INTEGER NOT NULL DEFAULT 0,
        clock INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE memories (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        "user" TEXT NOT NULL,
        id TEXT NOT NULL,
        revision INTEGER NOT NULL,
        kind TEXT NOT NULL,
        content TEXT NOT NULL,
        importance REAL NOT NULL,
        happened REAL NOT NULL,
        added REAL NOT NULL,
        expires REAL,
        tokens INTEGER NOT NULL,
        session TEXT NOT NULL,
        author TEXT NOT NULL,
        source TEXT NOT NULL,
        parents TEXT NOT NULL,
        seen INTEGER NOT NULL,
        metadata TEXT NOT NULL,
        fingerprint BLOB NOT NULL,
        terms TEXT NOT NULL,
        cut TEXT NOT NULL,
        vector BLOB,
        model TEXT NOT NULL,
        state TEXT NOT NULL,
        ended REAL,
        reason TEXT NOT NULL,
        changed INTEGER NOT NULL,
        UNIQUE (user, id, revision)
    )
    """,
    "CREATE INDEX memories_alike ON memories (user, fingerprint, kind) WHERE state = 'live'",
    "CREATE INDEX memories_live ON memories (user, kind, happened) WHERE state = 'live'",
    "CREATE INDEX memories_changed ON memories (user, changed)",
)

SCHEMA: Final = Schema(mark=0x464F4C4D, steps=(_FIRST,), what="memory")
"""Marked "FOLM" in ASCII."""
