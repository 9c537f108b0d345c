"""The user's own text as session memory: checked, kept durably, used by the next compaction."""

from __future__ import annotations

from foldline.core.outcome import Outcome
from foldline.errors import InputError
from foldline.session.memory import text_to_store
from foldline.session.state import SessionState
from foldline.stores.protocol import Change
from foldline.summary.cleanup import neutralize
from foldline.summary.session_memory import NAME as SESSION_MEMORY
from foldline.summary.summarize import NAME as SUMMARIZE
from foldline.values.edits import Fold

LONGEST = 400_000
"""Characters that a text may have; a longer one is not even counted."""


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
    at, now = len(state.shown.log), state.setting.clock()
    memory = text_to_store(kept, at, state.generation, now)
    with state.record(Change(at=at, memory=memory, forgets=True, time=now)):
        state.shelf.void(state.shown.tokens)
        state.shelf.text = kept


def _check_text(state: SessionState, text: str) -> str:
    """Return a text without what could pass for Foldline's own; handles are checked when used."""
    setting = state.setting
    most = round(setting.config.summary.share * setting.budget.target)
    if len(text) <= LONGEST:
        kept = neutralize(text, lambda _: True)
        size = setting.counter.text(kept)
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


def has_account(outcome: Outcome) -> bool:
    """Return True if a snapshot was made that begins with the user's own text, if there is one."""
    folds = any(isinstance(edit, Fold) and edit.kind != "repair" for edit in outcome.edits)
    rungs = (rung.name for rung in outcome.rungs if rung.is_in_effect)
    return folds and not {SESSION_MEMORY, SUMMARIZE}.isdisjoint(rungs)
