"""Reading stored data: any damage raises one error that names the session."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from foldline.errors import UNREADABLE, StoreError


@contextmanager
def reading(session: str) -> Iterator[None]:
    """
    Read stored data of a session; no code of the user runs inside.

    Args:
        session: Name of the session.

    Raises:
        StoreError: The data is damaged; its hint says how to read the rest.
    """
    try:
        yield
    except (StoreError, *UNREADABLE) as error:
        why = f"{type(error).__name__}: {error}"[:300]
        if isinstance(error, StoreError):
            if not error.damaged or error.session:
                raise
            why = error.message
        raise StoreError(
            f"The session {session!r} is damaged in the archive: {why.rstrip('.')}.",
            hint=f"foldline.Archive.salvage({session!r}) returns every message of it that can "
            "still be read; other sessions are not affected.",
            damaged=True,
            session=session,
        ) from error


@contextmanager
def interpreting(what: str) -> Iterator[None]:
    """
    Read one record of a session.

    Args:
        what: Name of the record, for the error.

    Raises:
        StoreError: This version of Foldline cannot read it.
    """
    try:
        yield
    except UNREADABLE as error:
        raise StoreError(
            f"{what} cannot be read: {error}",
            hint="Open the archive with the version of Foldline that wrote it.",
            damaged=True,
        ) from error
