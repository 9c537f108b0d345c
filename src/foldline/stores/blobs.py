"""Content-addressed, compressed values: the same content is kept once."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from foldline.errors import InputError, StoreError
from foldline.sql import Connection

PLAIN, ZLIB = 0, 1
"""How the bytes of a blob are kept."""

SHORT = 256
"""Contents up to this many bytes are not worth compressing."""

LARGEST = 2**30
"""More bytes than SQLite keeps in one value by default; a larger size is not true."""

AT_ONCE = 500
"""So many blobs are looked for in one statement."""

LEVEL = 1
"""Compression level. On real transcripts level 6 saves 2 to 4 % more and takes twice as long."""


def pack(value: Any) -> bytes:
    """
    Write a JSON value so that reading it gives the same value, in the same order of keys.

    Raises:
        InputError: The value holds something that JSON does not have.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"this cannot be kept, it is not JSON: {error}",
            hint="Give messages as JSON values: objects, lists, strings, numbers.",
        ) from error
    # Lone surrogates occur in real tool output; "surrogatepass" brings them back one by one.
    return text.encode("utf-8", "surrogatepass")


def unpack(data: bytes) -> Any:
    """
    Read what `pack` wrote.

    Raises:
        StoreError: The bytes are no JSON, or nested deeper than anything that `pack` wrote.
    """
    try:
        return json.loads(data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise damage_error(f"no readable JSON: {error}") from error


def put(connection: Connection, data: bytes) -> int:
    """
    Keep bytes, unless they are kept already.

    Returns:
        The number of the blob.
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
    Keep several contents, each unless it is kept already, in few statements.

    Returns:
        The numbers of the blobs, in order.
    """
    if len(contents) <= 1:
        return [put(connection, data) for data in contents]
    hashes = [hash_content(data) for data in contents]
    # In one order everywhere, so that two writers never wait for each other.
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
    """Return the hash that names some content."""
    return blake2b(data, digest_size=16).digest()


def compress(data: bytes) -> tuple[int, int, bytes]:
    """Compress bytes where that pays: how they are kept, their length before, what is kept."""
    packed = zlib.compress(data, LEVEL) if len(data) > SHORT else data
    codec, kept = (ZLIB, packed) if len(packed) < len(data) else (PLAIN, data)
    return codec, len(data), kept


def damage_error(what: str) -> StoreError:
    """Return the error for an archive that holds something else than it should."""
    return StoreError(
        f"The archive is damaged: it holds {what}.",
        hint="Restore it from a backup; other content is not affected.",
        damaged=True,
    )


def read(digest: bytes, codec: int, size: int, data: bytes) -> Any:
    """
    Return the JSON value of a blob's row.

    Raises:
        StoreError: The content is not the one that its hash names.
    """
    if not isinstance(data, bytes) or not isinstance(size, int) or not 0 <= size <= LARGEST:
        data = b""
    elif codec == ZLIB:
        # The size bounds the work that a damaged or hostile file can cause.
        engine = zlib.decompressobj()
        try:
            data = engine.decompress(data, size + 1)
        except zlib.error:
            data = b""
    if len(data) != size or hash_content(data) != digest:
        raise damage_error("content that is not what its checksum says")
    return unpack(data)
