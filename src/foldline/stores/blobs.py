"""Content-addressed, compressed values: equal content is stored once."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from foldline.errors import InputError, StoreError
from foldline.sql import Connection

PLAIN, ZLIB = 0, 1
"""Codecs of blobs."""

SHORT = 256
"""Size up to which contents are not compressed, in bytes."""

LARGEST = 2**30
"""More bytes than SQLite's default limit for one value; a larger size is invalid."""

AT_ONCE = 500
"""Maximum number of blobs looked up in one statement."""

LEVEL = 1
"""Compression level. On real transcripts level 6 saves 2 to 4 % more and takes twice as long."""


def pack(value: Any) -> bytes:
    """
    Serialize a JSON value so that reading it gives the same value, with the same order of keys.

    Raises:
        InputError: The value is not JSON.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"this cannot be stored, it is not JSON: {error}",
            hint="Give messages as JSON values: objects, lists, strings, numbers.",
        ) from error
    # Lone surrogates occur in real tool output; "surrogatepass" preserves them.
    return text.encode("utf-8", "surrogatepass")


def unpack(data: bytes) -> Any:
    """
    Parse the result of `pack`.

    Raises:
        StoreError: The bytes are not JSON, or nested deeper than any result of `pack`.
    """
    try:
        return json.loads(data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise damage_error(f"no readable JSON: {error}") from error


def put(connection: Connection, data: bytes) -> int:
    """
    Store bytes, unless they are already stored.

    Returns:
        The id of the blob.
    """
    digest = hash_content(data)
    row = connection.execute(
        "INSERT INTO blobs (hash, codec, size, data) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (hash) DO NOTHING RETURNING id",
        (digest, *compress(data)),
    ).fetchone()
    if row is None:
        row = connection.execute("SELECT id FROM blobs WHERE hash = ?", (digest,)).fetchone()
    if row is None:
        raise damage_error("an index that does not fit its table")
    return int(row[0])


def put_all(connection: Connection, contents: Sequence[bytes]) -> list[int]:
    """
    Store several contents, each unless it is already stored, in few statements.

    Returns:
        The ids of the blobs, in order.
    """
    if len(contents) <= 1:
        return [put(connection, data) for data in contents]
    hashes = [hash_content(data) for data in contents]
    # In one order everywhere, so that two writers never deadlock.
    new = sorted(dict(zip(hashes, contents, strict=True)).items())
    connection.executemany(
        "INSERT INTO blobs (hash, codec, size, data) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (hash) DO NOTHING",
        [(digest, *compress(data)) for digest, data in new],
    )
    found: dict[bytes, int] = {}
    for start in range(0, len(new), AT_ONCE):
        some = [digest for digest, _ in new[start : start + AT_ONCE]]
        places = ", ".join("?" * len(some))
        rows = connection.execute(f"SELECT hash, id FROM blobs WHERE hash IN ({places})", some)  # noqa: S608  # question marks
        found.update(rows)
    if len(found) != len(new):
        raise damage_error("an index that does not fit its table")
    return [found[digest] for digest in hashes]


def hash_content(data: bytes) -> bytes:
    """Return the hash of a content."""
    return blake2b(data, digest_size=16).digest()


def compress(data: bytes) -> tuple[int, int, bytes]:
    """Compress bytes if that pays; return the codec, the original size, and the stored bytes."""
    packed = zlib.compress(data, LEVEL) if len(data) > SHORT else data
    codec, kept = (ZLIB, packed) if len(packed) < len(data) else (PLAIN, data)
    return codec, len(data), kept


def damage_error(what: str) -> StoreError:
    """Return the error for an archive with invalid content."""
    return StoreError(
        f"The archive is damaged: it holds {what}.",
        hint="Restore it from a backup; other content is not affected.",
        damaged=True,
    )


def read(digest: bytes, codec: int, size: int, data: bytes) -> Any:
    """
    Return the JSON value of a blob's row.

    Raises:
        StoreError: The content does not match its hash.
    """
    if not isinstance(data, bytes) or not isinstance(size, int) or not 0 <= size <= LARGEST:
        data = b""
    elif codec == ZLIB:
        # The size bounds the work caused by a damaged or hostile file.
        engine = zlib.decompressobj()
        try:
            data = engine.decompress(data, size + 1)
        except zlib.error:
            data = b""
    if len(data) != size or hash_content(data) != digest:
        raise damage_error("content that does not match its checksum")
    return unpack(data)
