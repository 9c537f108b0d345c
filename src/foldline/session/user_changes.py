"""Changes by the user: undoing a compaction, pinning a message, setting a text to remember."""

from __future__ import annotations

from typing import Any

from foldline.engine.receipt import Receipt
from foldline.errors import FoldlineError, InputError
from foldline.recall import Holdings
from foldline.recall.holdings import resolve
from foldline.session.memory import text_to_store
from foldline.session.notify import watch_compaction
from foldline.session.state import SessionState
from foldline.stores.protocol import Change
from foldline.summary.cleanup import neutralize

LONGEST = 400_000
"""Maximum length of a text, in characters; a longer one is not even counted."""


def _discard_prepared(state: SessionState, text: str, **fields: Any) -> Change:
    """Return a change that discards the prepared compaction, and keeps the user's own text."""
    at = len(state.current_view.log)
    memory = text_to_store(text, at, state.generation, state.settings.clock())
    return Change(at=at, memory=memory, forgets=True, **fields)


def undo(state: SessionState) -> Receipt | None:
    """
    Undo the last compaction, durably.

    Cuts that were made when giant tool outputs were recorded stay.

    Returns:
        Its receipt; None if no compaction is in effect.

    Raises:
        FoldlineError: A hook cancelled the undo.
    """
    batch = state.history.last()
    if batch is None:
        return None
    at = len(state.current_view.log)
    with watch_compaction(state, "undo") as watch:
        if watch.refusal is not None:
            raise FoldlineError(f"The compaction was not undone: {watch.refusal}.")
        change = _discard_prepared(state, state.prepared_slot.text, undone=batch.number)
        with state.record(change):
            state.history.undo(batch.number, at)
            state.rebuild_view()
            state.prepared_slot.void(state.current_view.tokens)
            # Otherwise the next view would make the same compaction again.
            state.note_attempt()
        watch.receipt = batch.receipt
    return watch.receipt


def pin(state: SessionState, handle: str) -> str:
    """
    Keep a message in view from now on, durably.

    Args:
        state: The session.
        handle: Its id or handle. A message already removed by a compaction is not restored.

    Returns:
        Its id.

    Raises:
        RecallError: There is no such message.
    """
    number = resolve(handle, Holdings(state.current_view.originals).first_seen()).id
    if not state.current_view.originals[number].pinned:
        with state.record(_discard_prepared(state, state.prepared_slot.text, pinned=number)):
            state.current_view.pin(number)
            state.prepared_slot.void(state.current_view.tokens)
    return number


def remember(state: SessionState, text: str) -> None:
    """
    Set the text that starts the next snapshot, and discard the prepared compaction.

    Args:
        state: The session.
        text: The text; "" removes it.

    Raises:
        InputError: The text has no words, or is larger than an account may be.
    """
    kept = _check_text(state, text) if text.strip() else ""
    with state.record(_discard_prepared(state, kept, time=state.settings.clock())):
        state.prepared_slot.void(state.current_view.tokens)
        state.prepared_slot.text = kept


def _check_text(state: SessionState, text: str) -> str:
    """Return a text without imitations of Foldline's marks; handles are checked when used."""
    settings = state.settings
    most = round(settings.config.summary.share * settings.budget.target)
    if len(text) <= LONGEST:
        kept = neutralize(text, lambda _: True)
        size = settings.counter.text(kept)
        if size <= most:
            if any(sign.isalnum() for sign in kept):
                return kept
            raise InputError("The text for the session memory has no words")
    else:
        size = len(text) // 4
    raise InputError(
        f"The text for the session memory takes about {size:,} tokens; the maximum is {most:,}",
        hint="Shorten it, or raise summary.share or the target of a compaction.",
    )
