"""
Handling of an overflow: the provider rejected a view as too long.

Its error names the real limit, and the real size of the view. The view is then made strictly
smaller, without a model, and may be sent once more. If that is too long as well, there is no
third attempt: the error says what takes the room.
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
"""Prefix of the reason of a receipt after an overflow."""

OTHER: Final = "other"

WINDOW_HINT: Final = "Give the actual window of the model."

FARTHEST: Final = 8
"""Maximum factor between the size that a provider reports for a view and the counted one."""


def overflowed(state: SessionState, error: Any, detectors: Iterable[Detector] = ()) -> list[Any]:
    """
    Make a rejected view strictly smaller, and return the messages to send instead.

    Args:
        state: The session.
        error: The error of the provider: an exception, a response, or its JSON.
        detectors: Additional detectors; see `foldline.models.overflow.detect`.

    Raises:
        ContextOverflow: Nothing strictly smaller can be sent, or it was rejected already.
        InputError: A response is not an overflow. Any other exception is raised again.
    """
    error = plain(error)
    found = _detect(state, error, detectors)
    cause = error if isinstance(error, BaseException) else None
    if _is_second(state):
        message = "The provider rejected the view after one compaction as too long, too."
        raise _final(message, _count_by_reason(state), found.limit) from cause
    own = state.settings
    _learn(state, found)
    learned = state.settings
    try:
        for policy in (learned.policy, dropping()):
            # No model is called: the provider is waiting.
            state.settings = replace(learned, policy=policy, reader=None)
            allowed = _reduce_budget(state)
            receipt = drive(compaction.compact(state, allowed, trigger=REASON), _refuse)
            if receipt.status == "compacted":
                state.requested = None
                return drive(compaction.view(state), _refuse)
    finally:
        # Without a limit from the provider, only this view is known to be too long: the smaller
        # budget applies once, or every false alarm would shrink the session permanently.
        state.settings = own if found.limit is None else learned
    why = receipt.reason.removeprefix(f"{REASON}: ")
    taken = _count_protected(state)
    raise _final(f"Nothing smaller can be sent: {why}.", taken, found.limit) from cause


def _detect(state: SessionState, error: Any, detectors: Iterable[Detector]) -> DetectedOverflow:
    if isinstance(error, ContextOverflow):
        raise error
    found = overflow_in(error, state.settings.config.room.window, detectors)
    if found is not None:
        return found
    if isinstance(error, BaseException):
        raise error
    raise InputError(
        "The provider did not report that the request was too long",
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


# --- the real limit ------------------------------------------------------------------------


def _learn(state: SessionState, found: DetectedOverflow) -> None:
    """Adopt the real limit for this session, and the real size of the view."""
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
    """Reduce the budget to a limit; a limit that is not lower changes nothing."""
    settings = state.settings
    room, budget = settings.config.room, settings.budget
    # A reserve for a larger window may be larger than this window.
    reserve = output or min(limit // 8 if room.output is None else room.output, limit // 2)
    try:
        learned = settings.config.budget(limit, output=reserve, overhead=budget.overhead)
    except BudgetError as error:
        raise _final(error.message, _count_protected(state), limit, error.hint) from error
    if learned.scale < budget.scale:
        config = replace(settings.config, room=replace(room, window=limit, output=reserve))
        state.settings = replace(settings, budget=learned, config=config)


def _reduce_budget(state: SessionState) -> Budget:
    """Return a budget in locally counted tokens that is smaller than the view."""
    counted, less = (
        compaction.convert_budget(state.settings.budget, state),
        state.current_view.tokens - 1,
    )
    limit = max(1, min(counted.limit, less))
    return replace(counted, limit=limit, target=min(counted.target, limit), fixed=True)


def _refuse(_: Ask) -> Reply:
    return Reply(error="no model is called after an overflow", retry=False, attempts=0)


# --- the final error -----------------------------------------------------------------------


def _count_by_reason(state: SessionState) -> Counter[str]:
    """Return the tokens of the view, and of the overhead, by the reason why they stay."""
    view, taken = state.current_view.view(state.codec.name), Counter[str]()
    for index, tokens in enumerate(view.counts):
        why = view.protected.get(index, OTHER)
        taken["system and tools" if why == "system" else why] += tokens
    taken["system and tools"] += state.settings.budget.overhead
    return taken


def _count_protected(state: SessionState) -> Counter[str]:
    """Return the tokens that must stay, by reason."""
    taken = _count_by_reason(state)
    del taken[OTHER]
    return taken


def _final(
    message: str, taken: Counter[str], limit: int | None, hint: str = ""
) -> ContextOverflow:
    """Build the error, with the largest share first and in its hint."""
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
    "pinned": "pinned messages",
    "unread": "tool results that the model has not read yet",
    "pending": "calls that still wait for their results",
    OTHER: "the conversation before",
}
