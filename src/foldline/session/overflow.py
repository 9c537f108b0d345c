"""
The reactive path: the provider rejected a view as too long.

Its error names the real limit, and what the view really took. The view is then made strictly
smaller, without asking a model, and may be sent once more. If that is too long as well, nothing is
sent a third time: the error says what takes the room.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import takewhile
from typing import Any, Final

from foldline.core.asks import Ask, Reply, drive
from foldline.core.budget import Budget
from foldline.engine.policies import window as dropping
from foldline.errors import BudgetError, ContextOverflow, InputError
from foldline.frozen import replace
from foldline.models.overflow import DetectedOverflow, Detector, overflow_in
from foldline.session import compaction
from foldline.session.batches import COMPACTION
from foldline.session.current_view import Anchor
from foldline.session.state import SessionState
from foldline.values.plain_json import plain

REASON: Final = "overflow"
"""How the reason of a receipt begins that was made here."""

OTHER: Final = "other"

WINDOW_HINT: Final = "Give the window that the model really has."

FARTHEST: Final = 8
"""What a provider says that a view took is believed up to so many times of what was counted."""


def overflowed(state: SessionState, error: Any, detectors: Iterable[Detector] = ()) -> list[Any]:
    """
    Make a rejected view strictly smaller, and return what to send instead.

    Args:
        state: The session.
        error: The error of the provider: an exception, a response, or its JSON.
        detectors: Further ones; see `foldline.models.overflow.detect`.

    Raises:
        ContextOverflow: Nothing strictly smaller can be sent, or it was sent already.
        InputError: It is a response, and no overflow. An exception that is none is raised itself.
    """
    error = plain(error)
    found = _detect(state, error, detectors)
    cause = error if isinstance(error, BaseException) else None
    if _is_second(state):
        message = "The provider rejected what was left after one compaction as too long, too."
        raise _final(message, _count_by_reason(state), found.limit) from cause
    own = state.settings
    _learn(state, found)
    learned = state.settings
    try:
        for policy in (learned.policy, dropping()):
            # No model is called: the provider is waiting.
            state.settings = replace(learned, policy=policy, reader=None)
            allowed = _reduce_budget(state)
            receipt = drive(compaction.compact(state, allowed, trigger=REASON), _nobody)
            if receipt.status == "compacted":
                state.requested = None
                return drive(compaction.view(state), _nobody)
    finally:
        # Where the provider names no limit, it is only known that this view was too long: that
        # counts for this once, or every false alarm would shrink the session for good.
        state.settings = own if found.limit is None else learned
    why = receipt.reason.removeprefix(f"{REASON}: ")
    raise _final(f"Nothing smaller can be sent: {why}.", _staying(state), found.limit) from cause


def _detect(state: SessionState, error: Any, detectors: Iterable[Detector]) -> DetectedOverflow:
    if isinstance(error, ContextOverflow):
        raise error
    found = overflow_in(error, state.settings.config.room.window, detectors)
    if found is not None:
        return found
    if isinstance(error, BaseException):
        raise error
    raise InputError(
        "The provider did not say that the request was too long",
        hint="Pass the exception, or the response.",
    )


def _is_second(state: SessionState) -> bool:
    """Return True if an overflow was handled since the last message was appended."""
    now = len(state.current_view.log)
    since = takewhile(lambda batch: batch.at == now, reversed(state.history.batches))
    return any(
        batch.kind == COMPACTION
        and batch.undone_at is None
        and batch.receipt.reason.startswith(REASON)
        for batch in since
    )


# --- what it teaches -----------------------------------------------------------------------


def _learn(state: SessionState, found: DetectedOverflow) -> None:
    """Take the real limit for this session, and what the shown messages really take."""
    tokens, overhead = state.current_view.tokens, state.settings.budget.overhead
    counted = state.fill + overhead
    taken = counted if found.given is None else found.given
    if found.given is None and found.limit is not None:
        taken = max(taken, found.limit - found.output + 1)
    taken = min(taken, FARTHEST * (tokens + overhead))
    if found.given is not None:
        state.calibration = state.calibration.observe(tokens, taken, overhead)
    state.current_view.anchor = Anchor(taken, tokens)
    _shrink(state, found.limit or taken, found.output)


def _shrink(state: SessionState, limit: int, output: int) -> None:
    """Never allow more than what fits a limit; a limit that is no news changes nothing."""
    settings = state.settings
    room, budget = settings.config.room, settings.budget
    # A reserve that was meant for a larger window may be larger than this one.
    reserve = output or min(limit // 8 if room.output is None else room.output, limit // 2)
    try:
        learned = settings.config.budget(limit, output=reserve, overhead=budget.overhead)
    except BudgetError as error:
        raise _final(error.message, _staying(state), limit, error.hint) from error
    if learned.scale < budget.scale:
        config = replace(settings.config, room=replace(room, window=limit, output=reserve))
        state.settings = replace(settings, budget=learned, config=config)


def _reduce_budget(state: SessionState) -> Budget:
    """Return what the messages may take now, as counted here, and less than they take."""
    counted, less = (
        compaction.convert_budget(state.settings.budget, state),
        state.current_view.tokens - 1,
    )
    limit = max(1, min(counted.limit, less))
    return replace(counted, limit=limit, target=min(counted.target, limit), fixed=True)


def _nobody(_: Ask) -> Reply:
    return Reply(error="no model is called after an overflow", retry=False, attempts=0)


# --- nothing is left -----------------------------------------------------------------------


def _count_by_reason(state: SessionState) -> Counter[str]:
    """Return what takes the room, in tokens, by why it is there."""
    view, taken = state.current_view.view(state.codec.name), Counter[str]()
    for index, tokens in enumerate(view.counts):
        why = view.protected.get(index, OTHER)
        taken["system and tools" if why == "system" else why] += tokens
    taken["system and tools"] += state.settings.budget.overhead
    return taken


def _staying(state: SessionState) -> Counter[str]:
    """Return what takes the room and must stay."""
    taken = _count_by_reason(state)
    del taken[OTHER]
    return taken


def _final(
    message: str, taken: Counter[str], limit: int | None, hint: str = ""
) -> ContextOverflow:
    """Make the error, with the largest share first and in its hint."""
    breakdown = {why: tokens for why, tokens in taken.most_common() if tokens}
    if breakdown and not hint:
        why, tokens = next(iter(breakdown.items()))
        hint = (
            f"Most of it, {tokens:,} tokens, is {_LABELS[why]}; shorten it, or use a larger model."
        )
    return ContextOverflow(message, breakdown=breakdown, limit=limit, hint=hint or WINDOW_HINT)


_LABELS: Final = {
    "system and tools": "the system prompt and the tool schemas",
    "task": "the first message of the user",
    "latest": "the latest message of the user",
    "pinned": "what was pinned",
    "unread": "tool results that the model has not read yet",
    "pending": "calls that still wait for their results",
    OTHER: "the conversation before",
}
