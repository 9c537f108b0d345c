"""Damaged archives: for any file content, only Foldline's own errors may be raised."""
# ruff: noqa: S608  # the statements are put together from names in this file

from __future__ import annotations

import json
import random
import sqlite3
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

from foldline import Archive, Config, Session
from foldline.errors import FoldlineError
from foldline.stores.sqlite import SqliteStore
from foldline.tokens.estimate import EstimatedCounter
from hostile_changes import changed_bytes, changed_json

SPARE = "the other one"
COUNTER = EstimatedCounter("o200k")

VALUES: tuple[Any, ...] = (
    *(None, -1, 0, 2**40, 2**63 - 1, 1.5, "", "x", "ä\u2028", b"", b"\xff\xfe", "-1", "[]"),
    *('{"a": 1}', b"\x00" * 40, "anthropic", "no-such-dialect", "compaction", "user"),
)


def build(path: Path) -> None:
    """Write an archive: a session with compactions of every kind, and a small second one."""
    config = Config(memory={"enabled": True, "every": 1000})
    for name, turns in (("s", 24), (SPARE, 3)):
        with _opened(path, name, config=config) as session:
            session.append({"role": "user", "content": f"Repair the build of {name}."})
            for turn in range(turns):
                number = f"c{turn}"
                call = {"name": "read_file", "arguments": json.dumps({"path": f"src/{turn}.py"})}
                session.append(
                    {
                        "role": "assistant",
                        "content": f"Look at {turn}.",
                        "tool_calls": [{"id": number, "type": "function", "function": call}],
                    }
                )
                text = f"line {turn} of a file that fails\n" * 40
                session.append({"role": "tool", "tool_call_id": number, "content": text})
            session.view()
            if turns > 10:
                session.compact()
                session.append({"role": "user", "content": "Go on."})
                session.compact()
                session.undo()
                session.append({"role": "user", "content": "Once more."})
                session.compact()


def damage(data: bytes, path: Path, draw: random.Random) -> str:
    """Write a damaged copy of an archive and return the kind of damage."""
    kind = draw.choice(("bytes", "bytes", "page", "cell", "cell", "json", "json", "json", "row"))
    changed = bytearray(changed_bytes(data, draw) if kind == "bytes" else data)
    if kind == "page":
        start = draw.randrange(len(changed) // 4096) * 4096
        changed[start : start + 4096] = draw.randbytes(4096)
    path.write_bytes(changed)
    if kind in STATEMENTS:
        with (
            closing(sqlite3.connect(path)) as connection,
            suppress(sqlite3.IntegrityError),
            connection,
        ):
            STATEMENTS[kind](connection, draw)
    return kind


def _cell(connection: sqlite3.Connection, draw: random.Random) -> None:
    table, column = draw.choice(_columns(connection))
    connection.execute(
        f"UPDATE OR IGNORE {table} SET {column} = ? WHERE {_belongs(table)}"
        f" AND {draw.choice(('1', 'abs(random()) % 4 = 0'))}",
        (draw.choice(VALUES),),
    )


def _row(connection: sqlite3.Connection, draw: random.Random) -> None:
    table = draw.choice(("messages", "batches", "blobs", "memories"))
    connection.execute(f"DELETE FROM {table} WHERE {_belongs(table)} AND abs(random()) % 5 = 0")


def _json(connection: sqlite3.Connection, draw: random.Random) -> None:
    """Replace some content with other JSON, with a matching checksum."""
    table = draw.choice(("blobs", "blobs", "memories"))
    rows = connection.execute(
        f"SELECT id, codec, data FROM {table} WHERE {_belongs(table)}"
    ).fetchall()
    for number, codec, content in draw.sample(rows, min(len(rows), draw.choice((1, 1, 5)))):
        value = json.loads(zlib.decompress(content) if codec else content)
        text = json.dumps(changed_json(value, draw)).encode("utf-8", "surrogatepass")
        if draw.random() < 0.05:
            text = b"[" * 5_000 + b"]" * 5_000
        digest = blake2b(text, digest_size=16).digest()
        connection.execute(
            f"UPDATE OR IGNORE {table} SET hash = ?, codec = 0, size = ?, data = ? WHERE id = ?",
            (digest, len(text), text, number),
        )


STATEMENTS: dict[str, Callable[[sqlite3.Connection, random.Random], None]] = {
    "cell": _cell,
    "json": _json,
    "row": _row,
}


def _columns(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    tables = ("messages", "batches", "blobs", "memories", "sessions")
    return [
        (table, column)
        for table in tables
        for _, column, *_ in connection.execute(f"PRAGMA table_info({table})")
    ]


def _belongs(table: str) -> str:
    """Return an SQL condition for rows that do not belong to the other session."""
    other = f"(SELECT id FROM sessions WHERE name = '{SPARE}')"
    if table == "sessions":
        return f"name <> '{SPARE}'"
    if table == "blobs":
        return (
            f"id NOT IN (SELECT wire FROM messages WHERE session = {other}) AND id NOT IN"
            f" (SELECT form FROM messages WHERE session = {other} AND form IS NOT NULL)"
            f" AND id NOT IN (SELECT edits FROM batches WHERE session = {other})"
            f" AND id NOT IN (SELECT receipt FROM batches WHERE session = {other})"
        )
    return f"session <> {other}"


# --- use -------------------------------------------------------------------------------------


def use(path: Path, handles: list[str], *, whole: bool) -> list[str]:
    """
    Use an archive in every way that a program does, and return the failures.

    Args:
        path: The archive.
        handles: Handles in it.
        whole: Whether the undamaged session must be unchanged.
    """
    wrong: list[str] = []

    def attempt(what: str, action: Callable[[], object]) -> object:
        try:
            return action()
        except FoldlineError:
            return None
        except Exception as error:  # noqa: BLE001  # this is what the attack searches for
            wrong.append(f"{what}: {type(error).__name__}: {error}"[:300])
            return None

    archive = attempt("open", lambda: Archive.open(path))
    if isinstance(archive, Archive):
        with archive:
            attempt("sessions", archive.sessions)
            attempt("messages", lambda: archive.messages("s"))
            attempt("salvage", lambda: archive.salvage("s"))
            for handle in handles:
                attempt("recall", lambda handle=handle: archive.recall(handle, query="file"))
            rest = attempt("the other session", lambda: archive.messages(SPARE))
            if whole and (rest is None or len(rest) != 7):  # type: ignore[arg-type]
                wrong.append("the other session was lost")
    for name in ("s", SPARE):
        attempt(f"go on with {name}", lambda name=name: _go_on(path, name))
    return wrong


def _go_on(path: Path, name: str) -> None:
    with _opened(path, name) as session:
        session.view()
        session.append({"role": "user", "content": "And now?"})
        session.compact()
        session.undo()
        list(session.messages)
        session.view()


@contextmanager
def _opened(path: Path, name: str, **options: Any) -> Iterator[Session]:
    given = {"window": 3_000, "format": "openai-chat", "counter": COUNTER, **options}
    with (
        closing(SqliteStore(path, durability="process", patience=0.05)) as store,
        Session.open(None, name, store=store, **given) as session,
    ):
        yield session


def fuzz(count: int, seed: int = 1) -> tuple[Counter[str], list[str]]:
    """
    Damage an archive in many ways and use every copy.

    Returns:
        The number of attempts of each kind, and errors that are not Foldline's own.
    """
    draw, kinds, wrong = random.Random(seed), Counter[str](), []  # noqa: S311
    with tempfile.TemporaryDirectory() as folder:
        good = Path(folder) / "good.db"
        build(good)
        with closing(sqlite3.connect(good)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            found = connection.execute("SELECT id FROM messages WHERE seq IN (0, 2, 9)").fetchall()
        handles = [number[:8] for (number,) in found]
        data = good.read_bytes()
        for number in range(count):
            path = Path(folder) / f"{number}.db"
            kind = damage(data, path, draw)
            kinds[kind] += 1
            whole = kind in ("json", "row")
            wrong += [f"file {number} ({kind}): {one}" for one in use(path, handles, whole=whole)]
            for left in Path(folder).glob(f"{number}.db*"):
                left.unlink()
    return kinds, wrong
