"""One writer at a time, over all processes; a process that dies lets go of its lock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from foldline.errors import StoreError

POLL: Final = 0.005
"""Seconds between two attempts to get a lock."""


class FolderLock:
    """
    A lock on a file; the same thread may take it again inside.

    Args:
        path: The file; it is made, and stays empty.
        patience: Seconds to wait for somebody else.
        busy: What to say when that was not enough.
    """

    def __init__(self, path: Path, patience: float, busy: str) -> None:
        from filelock import FileLock

        self._lock = FileLock(path, timeout=patience, poll_interval=POLL)
        self._busy = busy

    @contextmanager
    def held(self, patience: float | None = None) -> Iterator[None]:
        """
        Hold the lock.

        Args:
            patience: Seconds to wait for somebody else, if other than usual.

        Raises:
            StoreError: Somebody else held it all the time.
        """
        from filelock import Timeout

        try:
            self._lock.acquire(timeout=patience)
        except Timeout as error:
            raise StoreError(self._busy, hint="Try again when it is done.") from error
        except OSError as error:
            raise StoreError(
                f"{self._lock.lock_file} cannot be locked: {error.strerror}.",
                hint="Check the permissions of the folder.",
            ) from error
        try:
            yield
        finally:
            self._lock.release()
