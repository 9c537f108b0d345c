"""What a user changes in what was made: a compaction taken back, a message pinned."""

from __future__ import annotations

from typing import Any

from foldline.engine.receipt import Receipt
from foldline.errors import FoldlineError
from foldline.recall import Holdings
from foldline.recall.holdings import resolve
from foldline.session.notify import watch_compaction
from foldline.session.state import SessionState
from foldline.stores.protocol import Change


def _void(state: SessionState, **what: Any) -> Change:
    """Return a change after which nothing prepared holds; the user's own text stays."""
    at = len(state.shown.log)
    return Change(at=at, memory=state.stored_text, forgets=True, **what)


def undo(state: SessionState) -> Receipt | None:
    """
    Take the last compaction back, durably.

    Cuts that were made when giant tool outputs were recorded stay.

    Returns:
        Its receipt; None when no compaction is in effect.

    Raises:
        FoldlineError: A hook called it off.
    """
    batch = state.history.last()
    if batch is None:
        return None
    at = len(state.shown.log)
    with watch_compaction(state, "undo") as watch:
        if watch.refusal is not None:
            raise FoldlineError(f"The compaction was not undone: {watch.refusal}.")
        with state.record(_void(state, undone=batch.number)):
            state.history.undo(batch.number, at)
            state.show_again()
            state.shelf.void(state.shown.tokens)
            # Otherwise the next view would make the same compaction again.
            state.note_attempt()
        watch.receipt = batch.receipt
    return watch.receipt


def pin(state: SessionState, handle: str) -> str:
    """
    Keep a message in sight from now on, durably.

    Args:
        state: The session.
        handle: Its id or handle. One that a compaction has already removed is not brought back.

    Returns:
        Its id.

    Raises:
        RecallError: There is no such message.
    """
    number = resolve(handle, Holdings(state.shown.originals).first_seen()).id
    if not state.shown.originals[number].pinned:
        with state.record(_void(state, pinned=number)):
            state.shown.pin(number)
            state.shelf.void(state.shown.tokens)
    return number
