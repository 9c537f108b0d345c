"""Forking: a session that shares the beginning of another one and goes on otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from foldline.errors import StoreError
from foldline.frozen import replace
from foldline.session.batches import restore_batch
from foldline.session.damage import reading
from foldline.stores.protocol import Change, Store, StoredBatch, StoredMessage
from foldline.values.edits import Drop, Edit, Fold, Insert


def fork(store: Store, name: str, into: str, length: int, now: float) -> None:
    """
    Record the beginning of a session as a session of its own, compactions included.

    A compaction that was made later comes along where it changed only what both share, so that a
    branch shows that as it was shown before, and a provider's cache still holds it. The other one
    stays as it is, so that its handles are still recalled.

    Args:
        store: Where both are.
        name: The session to copy from.
        into: The name of the new one.
        length: How many messages it begins with.
        now: In seconds since 1970.

    Raises:
        StoreError: There is no such session, or it is damaged, or the new name is taken.
    """
    source = store.load(name)
    if source is None:
        raise StoreError(f"There is no session {name!r} to go on from.")
    with reading(name):
        kept = tuple(source.messages[:length])
        batches = tuple(_select_batches(source.batches, kept))
    stored = store.begin(replace(source.head, name=into, created=now))
    if stored.messages or stored.batches:
        raise StoreError(
            f"There is a session {into!r} already.", hint="Name the new one otherwise."
        )
    change = Change(at=0, messages=kept, batches=batches, session=stored.number)
    store.commit(into, stored.generation, change)


def _select_batches(
    batches: Sequence[StoredBatch], kept: Sequence[StoredMessage]
) -> Iterator[StoredBatch]:
    """Yield the batches that hold for the beginning of a log; each builds on those before it."""
    length = len(kept)
    # A compaction leaves unread results and the latest words of the user alone.
    answered = max((at for at, one in enumerate(kept) if one.role == "assistant"), default=-1)
    user_message_ids = [message.id for message in kept if message.role == "user"]
    known = {message.id for message in kept[: answered + 1]}.difference(user_message_ids[-1:])
    for batch in batches:
        edits = restore_batch(batch).edits
        made = {edit.snapshot.id for edit in edits if isinstance(edit, Fold)}
        made |= {edit.message.id for edit in edits if isinstance(edit, Insert)}
        if batch.at <= length:
            later = batch.undone_at is not None and batch.undone_at > length
            yield replace(batch, undone_at=None) if later else batch
        elif batch.undone_at is None and known | made >= set(_list_changed_ids(edits)):
            yield replace(batch, at=length)
        else:
            return
        known |= made


def _list_changed_ids(edits: Iterable[Edit]) -> Iterator[str]:
    """Yield the ids of messages that edits change or leave out."""
    for edit in edits:
        if isinstance(edit, Drop | Fold):
            yield from edit.messages
        elif isinstance(edit, Insert):
            yield from (edit.after,) if edit.after else ()
        else:
            yield edit.message
