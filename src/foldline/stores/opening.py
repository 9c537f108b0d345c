"""Which store keeps the sessions of a place: a SQLite file, or a PostgreSQL database."""

from __future__ import annotations

import os

from foldline.sql import is_url
from foldline.stores.protocol import Store


def open_store(place: str | os.PathLike[str]) -> Store:
    """
    Open the store at a place.

    Args:
        place: The path of a file, created when it is missing, or the URL of a PostgreSQL
            database, as in ``postgresql://user@host/database``.

    Raises:
        StoreError: It cannot be opened, is no archive, or a newer Foldline's.
        MissingExtra: The extra ``postgres`` is not installed.
    """
    if isinstance(place, str) and is_url(place):
        from foldline.stores.postgres import PostgresStore

        return PostgresStore(place)
    from foldline.stores.sqlite import SqliteStore

    return SqliteStore(place)
