"""What a user changes: a compaction taken back, a message pinned, a text to be remembered."""

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
"""Characters that a text may have; a longer one is not even counted."""


def _void(state: SessionState, text: str, **what: Any) -> Change:
    """Return a change after which nothing prepared holds, but the user's own text."""
    at = len(state.current_view.log)
    memory = text_to_store(text, at, state.generation, state.settings.clock())
    return Change(at=at, memory=memory, forgets=True, **what)


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
    at = len(state.current_view.log)
    with watch_compaction(state, "undo") as watch:
        if watch.refusal is not None:
            raise FoldlineError(f"The compaction was not undone: {watch.refusal}.")
        with state.record(_void(state, state.prepared_slot.text, undone=batch.number)):
            state.history.undo(batch.number, at)
            state.show_again()
            state.prepared_slot.void(state.current_view.tokens)
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
    number = resolve(handle, Holdings(state.current_view.originals).first_seen()).id
    if not state.current_view.originals[number].pinned:
        with state.record(_void(state, state.prepared_slot.text, pinned=number)):
            state.current_view.pin(number)
            state.prepared_slot.void(state.current_view.tokens)
    return number


def remember(state: SessionState, text: str) -> None:
    """
    Let the next compaction begin its snapshot with a text; what was prepared no longer holds.

    Args:
        state: The session.
        text: What it says; "" takes it back.

    Raises:
        InputError: It says nothing, or takes more than an account may.
    """
    kept = _check_text(state, text) if text.strip() else ""
    with state.record(_void(state, kept, time=state.settings.clock())):
        state.prepared_slot.void(state.current_view.tokens)
        state.prepared_slot.text = kept


def _check_text(state: SessionState, text: str) -> str:
    """Return a text without what could pass for Foldline's own; handles are checked when used."""
    settings = state.settings
    most = round(settings.config.summary.share * settings.budget.target)
    if len(text) <= LONGEST:
        kept = neutralize(text, lambda _: True)
        size = settings.counter.text(kept)
        if size <= most:
            if any(sign.isalnum() for sign in kept):
                return kept
            raise InputError("The text for the session memory says nothing")
    else:
        size = len(text) // 4
    raise InputError(
        f"The text for the session memory takes about {size:,} tokens, and has room for {most:,}",
        hint="Shorten it, or raise summary.share or the target of a compaction.",
    )
