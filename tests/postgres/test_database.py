"""Guarantees of a connection pool to one schema."""

import psycopg
import pytest

from foldline.errors import StoreError
from foldline.postgres.database import PostgresDatabase
from foldline.postgres.schema import PostgresSchema

NUMBERS = PostgresSchema("foldline_numbers", (("CREATE TABLE numbers (n bigint)",),), "numbers")


@pytest.fixture
def database(postgres_url):
    made = PostgresDatabase(postgres_url, NUMBERS, patience=2.0)
    yield made
    made.close()


def numbers(database):
    with database.reading() as connection:
        return [n for (n,) in connection.execute("SELECT n FROM numbers ORDER BY n")]


def terminate(url):
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name LIKE 'foldline%'"
        )


def test_an_error_rolls_back_everything(database):
    def half():
        with database.writing() as connection:
            connection.execute("INSERT INTO numbers VALUES (?)", (1,))
            raise KeyError

    with pytest.raises(KeyError):
        half()
    assert numbers(database) == []


def test_a_connection_lost_inside_a_transaction_records_nothing(database, postgres_url):
    def lost():
        with database.writing() as connection:
            connection.execute("INSERT INTO numbers VALUES (:n)", {"n": 1})
            terminate(postgres_url)
            connection.execute("INSERT INTO numbers VALUES (2)")

    with pytest.raises(StoreError, match="nothing was changed"):
        lost()
    assert numbers(database) == []


def test_dropped_connections_are_replaced(database, postgres_url):
    for number in range(3):
        with database.writing() as connection:
            connection.execute("INSERT INTO numbers VALUES (?)", (number,))
        terminate(postgres_url)
    assert numbers(database) == [0, 1, 2]


def test_a_reader_sees_one_snapshot(database):
    with database.reading() as before:
        before.execute("SELECT count(*) FROM numbers").fetchone()
        with database.writing() as connection:
            connection.executemany("INSERT INTO numbers VALUES (?)", [(1,), (2,)])
        assert before.execute("SELECT count(*) FROM numbers").fetchone() == (0,)
    assert numbers(database) == [1, 2]


def test_a_reader_changes_nothing(database):
    with pytest.raises(StoreError), database.reading() as connection:
        connection.execute("INSERT INTO numbers VALUES (1)")


def test_a_migration_may_take_longer_than_a_statement(postgres_url):
    step = (
        "CREATE TABLE limits AS SELECT current_setting('statement_timeout') AS statement,"
        " current_setting('lock_timeout') AS waiting"
    )
    limits = PostgresSchema("foldline_limits", ((step,),), "limits")
    database = PostgresDatabase(postgres_url, limits, patience=2.0)
    with database.reading() as connection:
        assert connection.execute("SELECT * FROM limits").fetchall() == [("0", "10min")]
        assert connection.execute("SHOW lock_timeout").fetchone() == ("2s",)
    database.close()


def test_a_lock_timeout_is_reported(database):
    def both():
        with database.writing() as connection:
            connection.execute("LOCK TABLE numbers")

    with database.writing() as connection:
        connection.execute("LOCK TABLE numbers")
        with pytest.raises(StoreError, match="another process was changing"):
            both()
