"""A SQLite file shared by processes and threads."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest

from foldline.errors import StoreError
from foldline.sqlite import Schema, SqliteDatabase

ONE = Schema(0x54455354, (("CREATE TABLE a (n INTEGER)",),), "box")
TWO = Schema(ONE.mark, (*ONE.steps, ("ALTER TABLE a ADD COLUMN m INTEGER DEFAULT 7",)), "box")


def put(database: SqliteDatabase, number: int) -> None:
    with database.writing() as connection:
        connection.execute("INSERT INTO a (n) VALUES (?)", (number,))


def held(database: SqliteDatabase) -> list[int]:
    with database.reading() as connection:
        return [n for (n,) in connection.execute("SELECT n FROM a ORDER BY n")]


def test_a_change_is_atomic(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "a.db", ONE)
    put(database, 1)

    def interrupted() -> None:
        with database.writing() as connection:
            connection.execute("INSERT INTO a VALUES (2)")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert held(database) == [1]


def test_a_file_is_private_and_migrated_with_the_versions(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    first = SqliteDatabase(path, ONE)
    put(first, 1)
    first.close()
    assert path.stat().st_mode & 0o777 == 0o600
    second = SqliteDatabase(path, TWO)
    with second.reading() as connection:
        assert connection.execute("SELECT n, m FROM a").fetchall() == [(1, 7)]
    with pytest.raises(StoreError, match="newer Foldline"):
        SqliteDatabase(path, ONE)


def test_a_file_of_another_kind_is_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE theirs (n)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="no box"):
        SqliteDatabase(path, ONE)
    assert path.read_bytes() == before
    for wrong in (tmp_path, tmp_path / "no" / "folder.db"):
        with pytest.raises(StoreError):
            SqliteDatabase(wrong, ONE)


def test_changes_by_another_connection_are_detected(tmp_path: Path) -> None:
    one, two = (SqliteDatabase(tmp_path / "a.db", ONE) for _ in range(2))
    before = one.version
    put(one, 1)
    assert one.version == before
    put(two, 2)
    assert one.version != before
    assert held(one) == [1, 2]


def test_threads_take_turns_and_a_writer_waits_for_another(tmp_path: Path) -> None:
    one, two = (SqliteDatabase(tmp_path / "a.db", ONE) for _ in range(2))
    work = [
        threading.Thread(target=put, args=((one, two)[number % 2], number), daemon=True)
        for number in range(40)
    ]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert held(one) == list(range(40))


def test_a_writer_that_waits_too_long_gets_an_error(tmp_path: Path) -> None:
    one = SqliteDatabase(tmp_path / "a.db", ONE)
    two = SqliteDatabase(tmp_path / "a.db", ONE, patience=0.05)
    with one.writing(), pytest.raises(StoreError, match="Another process"):
        put(two, 1)


def test_a_transaction_inside_another_is_an_error(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "a.db", ONE)
    with database.reading(), pytest.raises(StoreError, match="inside another"):
        put(database, 1)
    assert held(database) == []
    database.close()
    database.close()
    with pytest.raises(StoreError, match="closed"):
        held(database)


def test_a_file_replaced_while_open_is_not_written(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "a.db", ONE)
    (tmp_path / "a.db").rename(tmp_path / "moved.db")
    SqliteDatabase(tmp_path / "a.db", ONE).close()
    with pytest.raises(StoreError, match="removed or replaced"):
        put(database, 1)
    database.close()


def test_values_that_sqlite_cannot_hold_are_reported_and_other_errors_propagate(
    tmp_path: Path,
) -> None:
    database = SqliteDatabase(tmp_path / "a.db", ONE)
    with pytest.raises(StoreError, match="not one that SQLite holds"):
        put(database, 2**63)
    with pytest.raises(ValueError, match="invalid literal"), database.reading():
        int("x")
    assert held(database) == []
