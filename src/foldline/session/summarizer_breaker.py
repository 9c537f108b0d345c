"""Whether the summarizer is called: one that failed several times in a row has a pause."""

from __future__ import annotations

from foldline.core.asks import ModelLimits
from foldline.core.limits import Breaker
from foldline.engine.receipt import Receipt
from foldline.session.batches import Batch
from foldline.session.state import SessionState


def breaker(state: SessionState) -> Breaker:
    """
    Return what the receipts of a session say about its summarizer.

    Nothing else is kept for it, so that a restart changes nothing. It closes by success, and is
    half-open after a time; when another policy or model is used, at once.
    """
    outcomes = list[tuple[bool, Batch]]()
    for batch in reversed(state.history.batches):
        usable = was_usable(batch.receipt)
        if usable is not None:
            outcomes.append((usable, batch))
        if usable:
            break  # A success closes it, whatever came before.
    found = state.settings.config.breaker.closed()
    for usable, batch in reversed(outcomes):
        found = found.after(usable, batch.time)
    if found.failures < found.threshold:
        return found
    return found.ease() if _is_other(state, outcomes[0][1].receipt) else found


def was_usable(receipt: Receipt) -> bool | None:
    """Return True if the answers of a model were usable; None when no model was called."""
    if not receipt.spent.attempts:
        return None
    fell_back = any(rung.outcome == "fallback" for rung in receipt.rungs)
    return receipt.status == "compacted" and not fell_back


def _is_other(state: SessionState, receipt: Receipt) -> bool:
    reader, model = state.settings.reader, receipt.spent.model
    if receipt.policy != state.settings.policy.name:
        return True
    return reader is not None and bool(reader.name and model) and reader.name != model


def summarizer_now(state: SessionState) -> tuple[ModelLimits | None, str]:
    """Return the summarizer to call now; where it is paused, None and why."""
    reader, now = state.settings.reader, state.settings.clock()
    if reader is None:
        return None, ""
    found = breaker(state)
    if found.allows(now):
        return reader, ""
    return None, (
        f"The summarizer was not called: the last {found.failures} compactions got nothing usable "
        f"from it. It is called again in {found.wait(now):.0f} seconds."
    )
