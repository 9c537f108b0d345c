"""One dialect of SQL for both databases: SQLite's placeholders become those of psycopg."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

from foldline.sql import Parameters, Rows

_ELEMENTS: Final = re.compile(r"SELECT value FROM json_each\((%s|%\([a-z]+\)s)\)")
_PLACE: Final = re.compile(r"\?|(?<!:):([a-z_]+)")


@lru_cache(maxsize=256)
def translate(statement: str) -> str:
    """
    Return a statement with the placeholders of psycopg: ``?`` is ``%s``, ``:name`` ``%(name)s``.

    A list of words, which comes as JSON, is taken apart by the function that PostgreSQL has.

    The statements are Foldline's own; none has a question mark or a colon inside a string.
    """
    placed = _PLACE.sub(lambda m: f"%({m[1]})s" if m[1] else "%s", statement.replace("%", "%%"))
    return _ELEMENTS.sub(r"SELECT jsonb_array_elements_text(\1::jsonb)", placed)


class PostgresConnection:
    """
    A connection of psycopg that takes the statements written for SQLite.

    Args:
        connection: In autocommit mode: transactions are begun and ended by statements.
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
