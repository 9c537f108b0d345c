"""
A store whose contents are readable only with its key.

Contents are compressed, then encrypted with AES-SIV (RFC 5297): equal content gives equal bytes,
so that it is still stored once, and without the key nobody can read it or verify a guess.
Ids are hashes of contents, so they are encrypted too. Roles, times, sizes and reported usage stay
visible, and so do the names, formats and models of sessions.
"""

from __future__ import annotations

import hmac
import zlib
from base64 import b64decode, b64encode, urlsafe_b64decode
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, Final, TypeVar

from foldline.errors import MissingExtra, StoreError
from foldline.frozen import replace
from foldline.stores import blobs
from foldline.stores.log import LazySequence, next_kept
from foldline.stores.protocol import (
    FOUND_AT_MOST,
    Change,
    FindableIds,
    SessionHead,
    Store,
    StoredSession,
)
from foldline.stores.wrapped import WrappedStore

try:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV
except ImportError as missing:
    raise MissingExtra("cryptography", "encryption") from missing

SEALED: Final = "foldline.sealed/1"
"""Marks a JSON value that is encrypted."""

KEY_BYTES: Final = 32

Item = TypeVar("Item")


class Seal:
    """
    Encrypts contents and ids, and decrypts them.

    Args:
        key: 32 random bytes in URL-safe base64.

    Raises:
        StoreError: The key is invalid.
    """

    def __init__(self, key: str) -> None:
        try:
            secret = urlsafe_b64decode(key.strip() + "=" * (-len(key.strip()) % 4))
        except ValueError:
            secret = b""
        if len(secret) != KEY_BYTES:
            raise StoreError(
                "This is not the key of an archive.",
                hint="A key is 32 random bytes in base64; foldline archive key makes one.",
            )
        self.check = _derive_key(secret, "check")[:16].hex()
        self._contents = AESSIV(_derive_key(secret, "contents"))
        self._ids = AESSIV(_derive_key(secret, "ids"))

    def seal(self, value: Any) -> Any:
        """Encrypt a JSON value; None stays None."""
        if value is None:
            return None
        packed = zlib.compress(blobs.pack(value), blobs.LEVEL)
        return {SEALED: b64encode(self._contents.encrypt(packed, None)).decode()}

    def open(self, value: Any) -> Any:
        """
        Decrypt a result of `seal`.

        Raises:
            StoreError: It was changed, or encrypted with another key.
        """
        if value is None:
            return None
        try:
            packed = self._contents.decrypt(b64decode(value[SEALED]), None)
        except (InvalidTag, LookupError, TypeError, ValueError) as error:
            raise blobs.damage_error("content that this key did not encrypt") from error
        return blobs.unpack(zlib.decompress(packed))

    def hide(self, number: str) -> str:
        """Encrypt an id; "" stays empty."""
        return self._ids.encrypt(number.encode(), None).hex() if number else ""

    def show(self, hidden: str) -> str:
        """
        Decrypt a result of `hide`.

        Raises:
            StoreError: It was changed, or encrypted with another key.
        """
        try:
            return self._ids.decrypt(bytes.fromhex(hidden), None).decode() if hidden else ""
        except (InvalidTag, ValueError) as error:
            raise blobs.damage_error("an id that this key did not encrypt") from error


def _derive_key(secret: bytes, purpose: str) -> bytes:
    """Return a separate key for each purpose, 64 bytes."""
    return hmac.digest(secret, f"foldline archive: {purpose}".encode(), "sha512")


class EncryptedStore(WrappedStore):
    """
    A wrapper that encrypts every content; see `foldline.stores.protocol.Store`.

    A lookup by the prefix of an id scans all messages, since encrypted ids have no order.

    Args:
        store: The underlying store.
        seal: Encrypts with the key.
    """

    def __init__(self, store: Store, seal: Seal) -> None:
        super().__init__(store)
        self._seal = seal

    def begin(self, head: SessionHead) -> StoredSession:
        """Return the session with the name of ``head``; create it if there is none."""
        return self._decrypt_session(self._store.begin(head))

    def load(self, name: str) -> StoredSession | None:
        """Return a session, or None if there is none with this name."""
        stored = self._store.load(name)
        return None if stored is None else self._decrypt_session(stored)

    def commit(self, name: str, generation: int, change: Change) -> int:
        """Record a change, its contents encrypted."""
        sealed = change.map(self._seal.seal, self._seal.hide)
        return self._store.commit(name, generation, sealed)

    def find(self, prefix: str) -> tuple[tuple[str, str], ...]:
        """Find messages by the prefix of their id, newest sessions first, at most 100."""
        found = (
            (name, number)
            for name in self.names()
            for number in self._ids(name)
            if number.startswith(prefix)
        )
        return tuple(islice(found, FOUND_AT_MOST))

    def _ids(self, name: str) -> Iterator[str]:
        """Yield the readable ids of a session, skipping damaged ones."""
        with suppress(StoreError):
            stored = self._store.load(name)
            for hidden in () if stored is None else stored.ids:
                with suppress(StoreError):
                    yield self._seal.show(hidden)

    def _decrypt_session(self, stored: StoredSession) -> StoredSession:
        open_, show = self._seal.open, self._seal.show
        memory = checkpoint = None
        with suppress(StoreError):  # it is prepared again; messages are not affected
            memory = stored.memory and stored.memory.map(open_, show)
        with suppress(StoreError):  # it can be rebuilt from the compactions
            checkpoint = stored.checkpoint and stored.checkpoint.map(open_)
        return replace(
            stored,
            ids=_OpenedIds(stored.ids, self._seal),
            messages=_Opened(stored.messages, lambda one: one.map(open_, show)),
            batches=_Opened(stored.batches, lambda one: one.map(open_, show)),
            memory=memory,
            checkpoint=checkpoint,
        )


class _Opened(LazySequence[Item]):
    """A stored sequence, each item decrypted on access."""

    def __init__(self, stored: Sequence[Item], open_: Callable[[Item], Item]) -> None:
        self._stored = stored
        self._open = open_

    def __len__(self) -> int:
        return len(self._stored)

    def __iter__(self) -> Iterator[Item]:
        return map(self._open, self._stored)

    def _read(self, start: int, stop: int) -> list[Item]:
        return [self._open(item) for item in self._stored[start:stop]]


class _OpenedIds(_Opened[str]):
    """The stored ids, decrypted on access."""

    def __init__(self, stored: Sequence[str], seal: Seal) -> None:
        super().__init__(stored, seal.show)
        self._hide = seal.hide

    def find(self, number: str) -> int | None:
        """Return the position of the message with an id, None if there is none."""
        hidden, stored = self._hide(number), self._stored
        if isinstance(stored, FindableIds):
            return stored.find(hidden)
        return stored.index(hidden) if hidden in stored else None

    def next_kept(self, start: int) -> int:
        """Return the first stored position from ``start`` on; the size if there is none."""
        return next_kept(self._stored, start)
