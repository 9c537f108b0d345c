"""Forking: a new session that starts with the beginning of another one."""

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
    Copy the beginning of a session into a new session, compactions included.

    A later compaction is copied, too, if it changed only messages that both share, so that the
    new session has the same view of them, and a provider's cache still holds it. The original
    session does not change, so that its handles can still be recalled.

    Args:
        store: The store of both.
        name: Name of the session to copy.
        into: Name of the new one.
        length: Number of messages to copy.
        now: Current time, in seconds since 1970.

    Raises:
        StoreError: There is no such session, or it is damaged, or the new name is taken.
    """
    source = store.load(name)
    if source is None:
        raise StoreError(f"There is no session {name!r} to fork.")
    with reading(name):
        kept = tuple(source.messages[:length])
        batches = tuple(_select_batches(source.batches, kept))
    stored = store.begin(replace(source.head, name=into, created=now))
    if stored.messages or stored.batches:
        raise StoreError(
            f"There is already a session {into!r}.", hint="Choose another name for the new one."
        )
    change = Change(at=0, messages=kept, batches=batches, session=stored.number)
    store.commit(into, stored.generation, change)


def _select_batches(
    batches: Sequence[StoredBatch], kept: Sequence[StoredMessage]
) -> Iterator[StoredBatch]:
    """Yield the batches that apply to the beginning of a log; each builds on those before it."""
    length = len(kept)
    # A compaction does not change unread results and the latest user message.
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
    """Yield the ids of messages that edits change or remove."""
    for edit in edits:
        if isinstance(edit, Drop | Fold):
            yield from edit.messages
        elif isinstance(edit, Insert):
            yield from (edit.after,) if edit.after else ()
        else:
            yield edit.message
