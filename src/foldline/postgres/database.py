"""
One schema of a PostgreSQL database: connection pool, migrations, transactions.

A connection that the server dropped is replaced before a transaction begins, with a backoff. If
one is lost during a commit, the outcome of the transaction is queried afterwards, so that a change
is known to be either recorded or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import lru_cache
from typing import Any, Final

from foldline.errors import MissingExtra, StoreError
from foldline.postgres.schema import PostgresSchema, migrate
from foldline.sql import Parameters, Rows

try:
    import psycopg
    from psycopg import errors
    from psycopg.conninfo import conninfo_to_dict
    from psycopg_pool import ConnectionPool, PoolTimeout
except ImportError as missing:
    raise MissingExtra("psycopg", "postgres") from missing

PATIENCE: Final = 10.0
"""Timeout for a connection, a lock or another writer, in seconds."""

STATEMENT: Final = 60.0
"""Timeout of one statement, in seconds."""

CONNECTIONS: Final = 8
"""Maximum number of connections of one process to one schema."""

READING: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


class PostgresDatabase:
    """
    A pool of connections to one schema.

    Args:
        url: ``postgresql://user@host:port/database``; missing parts come from the usual ``PG…``
            variables and ``~/.pgpass``.
        schema: The tables and migrations.
        patience: Timeout for a connection or another writer, in seconds.

    Raises:
        StoreError: The database cannot be reached, or a newer Foldline wrote it.
    """

    def __init__(self, url: str, schema: PostgresSchema, *, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._schema = schema
        self.place = _describe(url)
        settings: dict[str, Any] = {
            "autocommit": True,
            "application_name": f"foldline {schema.what}",
            "connect_timeout": max(2, round(patience)),
        }
        # Not from the pool, which would retry and hide the error.
        with self._errors(), self._connect(url, settings) as connection:
            self._configure(connection)
            migrate(PostgresConnection(connection), schema, self.place)
        self._pool: ConnectionPool[Any] | None = ConnectionPool(
            url,
            min_size=0,
            max_size=CONNECTIONS,
            open=True,
            timeout=patience,
            max_idle=120.0,
            configure=self._configure,
            kwargs=settings,
        )

    def reading(self) -> AbstractContextManager[PostgresConnection]:
        """Begin a read-only transaction on one snapshot of the database."""
        return self._transaction(READING)

    def writing(self) -> AbstractContextManager[PostgresConnection]:
        """
        Begin a write transaction; committed changes are on the server's disk.

        Raises:
            StoreError: It cannot be written, and nothing was changed, or the server was lost
                during the commit, and its outcome is unknown; the message says which.
        """
        return self._transaction("BEGIN")

    def size(self) -> int:
        """Return the size of the schema's tables with their indexes, in bytes."""
        with self.reading() as connection:
            (size,) = connection.execute(
                "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class"
                " WHERE relkind = 'r' AND relnamespace = ?::regnamespace",
                (self._schema.name,),
            ).fetchone()
        return int(size)

    def close(self) -> None:
        """Close the database; closing twice is allowed."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.close(timeout=self._patience)

    def _connect(self, url: str, settings: dict[str, Any]) -> psycopg.Connection[Any]:
        try:
            return psycopg.connect(url, **settings)
        except psycopg.Error as error:
            raise StoreError(
                f"{self.place} cannot be reached: {_first_line(error)}.",
                hint="Check that the server runs and lets this user in: psql with the same URL.",
            ) from error

    def _configure(self, connection: Any) -> None:
        for name, value in (
            ("search_path", f"{self._schema.name}, public"),
            ("lock_timeout", f"{round(self._patience * 1000)}"),
            ("statement_timeout", f"{round(STATEMENT * 1000)}"),
            ("idle_in_transaction_session_timeout", f"{round(STATEMENT * 1000)}"),
        ):
            connection.execute("SELECT set_config(%s, %s, false)", (name, value))

    def _open(self) -> ConnectionPool[Any]:
        if self._pool is None:
            raise StoreError(f"{self.place} is closed.", hint="Open it again.")
        return self._pool

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[PostgresConnection]:
        with self._errors():
            pool = self._open()
            connection = self._begin(pool, begin)
            try:
                yield PostgresConnection(connection)
                self._commit(pool, connection, begin)
            except BaseException:
                with suppress(psycopg.Error):
                    connection.execute("ROLLBACK")
                raise
            finally:
                pool.putconn(connection)

    def _begin(self, pool: ConnectionPool[Any], begin: str) -> Any:
        """Begin a transaction on a live connection; the server may have dropped some."""
        for _ in range(pool.max_size + 1):
            connection = pool.getconn()
            try:
                connection.execute(begin)
            except psycopg.OperationalError:
                broken = connection.broken
                pool.putconn(connection)
                if not broken:
                    raise
            except BaseException:
                pool.putconn(connection)
                raise
            else:
                return connection
        return pool.getconn()

    def _commit(self, pool: ConnectionPool[Any], connection: Any, begin: str) -> None:
        if begin == READING:  # no change could be lost
            connection.execute("COMMIT")
            return
        found = connection.execute("SELECT pg_current_xact_id_if_assigned()::text").fetchone()
        try:
            connection.execute("COMMIT")
        except psycopg.OperationalError as error:
            if not connection.broken or found[0] is None:
                raise
            if not self._is_committed(pool, str(found[0])):
                raise StoreError(
                    f"The connection to {self.place} was lost; nothing was recorded.",
                    hint="Try again when the server is back.",
                ) from error

    def _is_committed(self, pool: ConnectionPool[Any], transaction: str) -> bool:
        """Query the outcome of an interrupted commit once the server is back."""
        try:
            with pool.connection() as connection:
                row = connection.execute(
                    "SELECT pg_xact_status(%s::xid8)", (transaction,)
                ).fetchone()
        except (psycopg.Error, PoolTimeout) as error:
            raise StoreError(
                f"The connection to {self.place} was lost while it recorded a change, and the "
                "server does not come back: whether it was recorded is not known.",
                hint="Open the session again when the server is back: it shows what is there.",
            ) from error
        return row is not None and row[0] == "committed"

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (psycopg.Error, PoolTimeout) as error:
            raise explain_error(error, self.place, self._patience) from error
        except (UnicodeEncodeError, OverflowError) as error:
            raise _unfit(self.place, error) from error


def _describe(url: str) -> str:
    """Return a description of a database without the password that its URL may hold."""
    try:
        given = conninfo_to_dict(url)
    except psycopg.Error:  # its text repeats the URL, and so the password
        raise StoreError(
            "This is not the URL of a PostgreSQL database.",
            hint="Write it as postgresql://user@host:5432/database",
        ) from None
    host, name = given.get("host") or "localhost", given.get("dbname") or ""
    return f"PostgreSQL at {host}/{name}".rstrip("/")


def explain_error(error: Exception, place: str, patience: float) -> StoreError:
    """Convert an error to a StoreError with a hint, without the password."""
    match error:
        case PoolTimeout():
            return StoreError(
                f"{place} cannot be reached within {patience:g} seconds, or all connections to "
                "it are in use.",
                hint="Check that the server runs and lets this user in: psql with the same URL.",
            )
        case errors.LockNotAvailable() | errors.DeadlockDetected() | errors.SerializationFailure():
            return StoreError(
                f"{place}: another process was changing the same thing; nothing was changed.",
                hint="Try again when it is done.",
            )
        case errors.InsufficientPrivilege():
            return StoreError(
                f"{place}: this user may not do that: {_first_line(error)}.",
                hint="Grant it what docs/scale.md lists, or use another user.",
            )
        case errors.DataError() | psycopg.ProgrammingError():
            return _unfit(place, error)
        case psycopg.OperationalError():
            return StoreError(
                f"{place} was lost: {_first_line(error)}; nothing was changed.",
                hint="Try again when the server is back.",
            )
        case _:
            return StoreError(f"{place}: {_first_line(error)}.", hint="Nothing was changed.")


def _unfit(place: str, error: Exception) -> StoreError:
    return StoreError(
        f"{place}: a value is not one that PostgreSQL holds: {_first_line(error)}.",
        hint="Use valid Unicode without NUL in names, and numbers below 2^63.",
    )


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")


_ELEMENTS: Final = re.compile(r"SELECT value FROM json_each\((%s|%\([a-z]+\)s)\)")
_PLACE: Final = re.compile(r"\?|(?<!:):([a-z_]+)")


@lru_cache(maxsize=256)
def translate(statement: str) -> str:
    """
    Return a statement with the placeholders of psycopg: ``?`` is ``%s``, ``:name`` ``%(name)s``.

    A list passed as JSON is expanded by PostgreSQL's own function. The statements are Foldline's
    own; none has a question mark or a colon inside a string.
    """
    placed = _PLACE.sub(lambda m: f"%({m[1]})s" if m[1] else "%s", statement.replace("%", "%%"))
    return _ELEMENTS.sub(r"SELECT jsonb_array_elements_text(\1::jsonb)", placed)


class PostgresConnection:
    """
    A psycopg connection that accepts statements written for SQLite.

    Args:
        connection: A connection in autocommit mode: statements begin and end transactions.
    """

    def __init__(self, connection: Any) -> None:
        self.raw = connection

    def execute(self, statement: str, parameters: Parameters = (), /) -> Rows:
        """Run one statement."""
        rows: Rows = self.raw.execute(translate(statement), parameters or None)
        return rows

    def executemany(self, statement: str, parameters: Iterable[Parameters], /) -> None:
        """Run one statement for each set of values."""
        with self.raw.cursor() as cursor:
            cursor.executemany(translate(statement), parameters)
