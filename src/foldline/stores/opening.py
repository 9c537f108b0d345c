"""Opening the store at a place: a SQLite file, or a PostgreSQL database."""

from __future__ import annotations

import os
from typing import Final

from foldline.errors import StoreError
from foldline.sql import is_url
from foldline.stores.protocol import Store
from foldline.stores.sql import SqlStore

KEY: Final = "FOLDLINE_ARCHIVE_KEY"
"""The environment variable with the default key of an encrypted archive."""


def open_store(
    place: str | os.PathLike[str], *, key: str | None = None, takes_plain: bool = False
) -> Store:
    """
    Open the store at a place.

    Args:
        place: The path of a file, created if it is missing, or the URL of a PostgreSQL database,
            as in ``postgresql://user@host/database``.
        key: The key of an encrypted archive; default the value of ``FOLDLINE_ARCHIVE_KEY``, "" for
            none. A new archive is encrypted with it.
        takes_plain: Whether to open an archive with unencrypted sessions even if there is a key.

    Raises:
        StoreError: It cannot be opened, is not an archive, is from a newer Foldline, or encrypted
            with another key.
        MissingExtra: The extra ``postgres`` or ``encryption`` is not installed.
    """
    key = os.environ.get(KEY, "") if key is None else key
    store = _plain_store(place)
    try:
        return _unlock(store, key, takes_plain=takes_plain)
    except BaseException:
        store.close()
        raise


def _plain_store(place: str | os.PathLike[str]) -> SqlStore:
    if is_url(place):
        from foldline.stores.postgres import PostgresStore

        return PostgresStore(place)
    from foldline.stores.sqlite import SqliteStore

    return SqliteStore(place)


def _unlock(store: SqlStore, key: str, *, takes_plain: bool) -> Store:
    check = store.read_key_check()
    if not key and not check:
        return store
    if not key:
        raise StoreError(
            "This archive is encrypted.", hint=f"Give its key as key=…, or in the variable {KEY}."
        )
    from foldline.stores.encrypted import EncryptedStore, Seal

    seal = Seal(key)
    if not check and not (takes_plain and store.names()):
        check = store.lock(seal.check)
    if check == seal.check:
        store.expect(check)
        return EncryptedStore(store, seal)
    if check:
        raise StoreError(
            "This archive is encrypted with another key.",
            hint=f"Give its own as key=…, or in the variable {KEY}; without it the archive cannot "
            "be read.",
        )
    if takes_plain:
        return store
    raise StoreError(
        "This archive holds sessions that are not encrypted.",
        hint="Copy it into a new one with foldline archive copy, and open that; or open it "
        f'without the key: key="", and {KEY} not set.',
    )
