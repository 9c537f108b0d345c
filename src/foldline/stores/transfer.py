"""Copying whole archives from one store to another, and checking their integrity."""

from __future__ import annotations

from collections.abc import Iterator

from foldline.errors import StoreError
from foldline.frozen import frozen
from foldline.stores.log import next_kept
from foldline.stores.protocol import Change, Store, StoredMessage, StoredSession

CHUNK = 500
"""Number of messages written in one transaction."""

BATCHES = 16
"""Number of compactions written in one transaction."""


@frozen
class SessionCopy:
    """The numbers added to the target for a session; both 0 if it was already complete."""

    name: str
    messages: int
    batches: int


@frozen
class SessionCheck:
    """
    The result of checking a session.

    ``messages`` is their total number, ``unreadable`` the number of damaged ones. ``problem`` is
    the first error, empty if there is none.
    """

    name: str
    messages: int
    unreadable: int = 0
    problem: str = ""


def copy_sessions(source: Store, target: Store) -> Iterator[SessionCopy]:
    """
    Copy every session that a target lacks, and complete those that it has only partly.

    Yields:
        The result of each session. Running it again after an interruption resumes it: a session
        is written in order, its compactions last.

    Raises:
        StoreError: The target has a different session with the same name, or a store cannot be
            read or written.
    """
    for name in source.names():
        stored = source.load(name)
        if stored is not None:
            yield _copy(stored, target)


def _copy(stored: StoredSession, target: Store) -> SessionCopy:
    name = stored.head.name
    there = target.begin(stored.head)
    size, done = len(there.ids), len(there.batches)
    same = list(there.ids) == list(stored.ids[:size])
    if not same or list(there.batches) != list(stored.batches[:done]):
        raise StoreError(
            f"The target has another session {name!r} with a different beginning.",
            hint="Copy into an empty archive, or delete that session there first.",
        )
    generation, at = there.generation, size
    for start in range(size, len(stored.messages), CHUNK):
        chunk = tuple(stored.messages[start : start + CHUNK])
        generation = target.commit(name, generation, Change(start, chunk, session=there.number))
        at += len(chunk)
    batches = len(stored.batches) - done
    for start in range(done, len(stored.batches), BATCHES):
        some = tuple(stored.batches[start : start + BATCHES])
        generation = target.commit(name, generation, Change(at, (), some, session=there.number))
    memory = stored.memory if there.memory is None else None
    checkpoint = None if there.checkpoint == stored.checkpoint else stored.checkpoint
    if memory is not None or checkpoint is not None:
        last = Change(at, memory=memory, checkpoint=checkpoint, session=there.number)
        target.commit(name, generation, last)
    return SessionCopy(name, at - size, batches)


def check_sessions(store: Store) -> Iterator[SessionCheck]:
    """
    Read everything in a store and compare every content with its hash.

    Yields:
        The result of each session; a damaged one does not end the check.
    """
    for name in store.names():
        try:
            stored = store.load(name)
        except StoreError as error:
            yield SessionCheck(name, 0, problem=str(error))
            continue
        if stored is not None:
            yield _check(stored)


def _check(stored: StoredSession) -> SessionCheck:
    size, readable, problem, start = len(stored.messages), 0, "", 0
    while start < size:
        stop = min(start + CHUNK, size)
        try:
            readable += len(_read(stored, start, stop))
            start = stop
        except StoreError as error:
            problem = problem or str(error)
            while start < stop:
                readable += _is_readable(stored, start)
                start = next_kept(stored.ids, start + 1)  # skip a gap of any length
    return SessionCheck(stored.head.name, size, size - readable, problem)


def _is_readable(stored: StoredSession, position: int) -> bool:
    try:
        _read(stored, position, position + 1)
    except StoreError:
        return False
    return True


def _read(stored: StoredSession, start: int, stop: int) -> list[StoredMessage]:
    found = list(stored.messages[start:stop])
    if len(found) != stop - start:
        raise StoreError(
            f"Of the messages {start} to {stop - 1} of the session {stored.head.name!r} only "
            f"{len(found)} are there.",
            hint="Restore the archive from a backup; other sessions are not affected.",
        )
    return found
