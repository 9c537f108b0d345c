"""The circuit breaker of the summarizer: after several failures in a row, it is not called."""

from __future__ import annotations

from foldline.core.asks import ModelLimits
from foldline.core.limits import Breaker
from foldline.engine.receipt import Receipt
from foldline.session.batches import Batch
from foldline.session.state import SessionState


def restore_breaker(state: SessionState) -> Breaker:
    """
    Derive the state of the breaker from the receipts of a session.

    It has no other state, so that a restart changes nothing. It closes after a success, and is
    half-open after a time, or at once when another policy or model is used.
    """
    outcomes = list[tuple[bool, Batch]]()
    for batch in reversed(state.history.batches):
        usable = was_usable(batch.receipt)
        if usable is not None:
            outcomes.append((usable, batch))
        if usable:
            break  # A success closes it; earlier receipts do not matter.
    found = state.settings.config.breaker.closed()
    for usable, batch in reversed(outcomes):
        found = found.after(usable, batch.time)
    if found.failures < found.threshold:
        return found
    return found.ease() if _is_other(state, outcomes[0][1].receipt) else found


def was_usable(receipt: Receipt) -> bool | None:
    """Return whether the answers of a model were usable; None if no model was called."""
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
    """Return the summarizer to call now; if it is paused, None and the reason."""
    reader, now = state.settings.reader, state.settings.clock()
    if reader is None:
        return None, ""
    found = restore_breaker(state)
    if found.allows(now):
        return reader, ""
    return None, (
        f"The summarizer was not called: it gave no usable answer in {found.failures} compactions "
        f"in a row. It is called again in {found.wait(now):.0f} seconds."
    )
