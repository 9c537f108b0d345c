"""What the next compaction of a session would cost, without calling a model or recording it."""

from __future__ import annotations

import math

from foldline.core.asks import Ask, Reply, drive
from foldline.core.economy import CostEstimate, pays_after
from foldline.core.strategy import Outcome
from foldline.models.info import Prices
from foldline.session.compaction import preview
from foldline.session.early_fold import prices_of, proportions
from foldline.session.state import SessionState
from foldline.values.edits import Fold
from foldline.values.view import View

UNPRICED = Prices(1.0, 5.0)
"""Prices whose proportions are assumed where those of a model are unknown, in any currency."""

MILLION = 1_000_000


def estimate(state: SessionState, prices: Prices | None = None) -> CostEstimate:
    """
    Estimate what a forced compaction would cost now, and when it would pay back.

    The ladder is run as usual, on the same messages, but every prompt for a model is
    counted instead of sent.

    Args:
        state: The session; it is not changed.
        prices: Prices of the agent's model; None for those of the catalogue.
    """
    asks: list[Ask] = []

    def count(ask: Ask) -> Reply:
        asks.append(ask)
        return Reply(error="this is an estimate", retry=False)

    before, outcome = drive(preview(state), count)
    if outcome.status != "compacted":
        return CostEstimate(outcome.status, outcome.reason, usd=0.0)
    known = prices or prices_of(state.settings.model)
    agent = known or UNPRICED
    factors, fresh = proportions(agent), agent.input / MILLION
    times, read, written = _estimate_requests(state, outcome, before, asks)
    usd = _usd(state, read, written, known)
    paid = _usd(state, read, written, agent) if usd is None else usd
    cold = state.throttle.is_cold(state.settings.clock())
    behind, added = (0, 0) if cold else _count_rewritten(before, outcome)
    freed = before.tokens - outcome.view.tokens
    return CostEstimate(
        "compacted",
        outcome.reason,
        asks=times,
        input_tokens=read,
        output_tokens=written,
        usd=usd,
        freed=freed,
        rewritten=behind,
        cold=cold,
        requests=pays_after(
            freed,
            behind=behind,
            added=added,
            summary_cost=(paid or 0.0) / fresh if fresh else 0.0,
            factors=factors,
        ),
        saved_usd=None if known is None else freed * factors.read * fresh,
    )


def _estimate_requests(
    state: SessionState, outcome: Outcome, before: View, asks: list[Ask]
) -> tuple[int, int, int]:
    """Return the number of requests to a model, and the tokens that it would read and write."""
    if not asks:
        return 0, 0, 0
    text = before.counter.text
    read = text(asks[0].prompt) + text(asks[0].system)
    folded_ids = {
        number for edit in outcome.edits if isinstance(edit, Fold) for number in edit.messages
    }
    counted = zip(before.messages, before.counts, strict=True)
    folded = sum(tokens for message, tokens in counted if message.id in folded_ids)
    # A span too large for one request takes several of the same size.
    most = state.settings.config.limits.attempts
    times = max(1, min(math.ceil(folded / max(1, read)), most)) if folded > 1.5 * read else 1
    return times, times * read, times * asks[0].max_tokens


def _count_rewritten(before: View, outcome: Outcome) -> tuple[int, int]:
    """Return the tokens of old messages after the first change, and of new messages."""
    old = {id(message) for message in before.messages}
    behind = added = 0
    changed = False
    for position, message in enumerate(outcome.view.messages):
        changed = changed or message is not before.messages[position]
        tokens = outcome.view.counts[position]
        if id(message) not in old:
            added += tokens
        elif changed:
            behind += tokens
    return behind, added


def _usd(state: SessionState, read: int, written: int, agent: Prices | None) -> float | None:
    """Return the cost of the requests, by the summarizer's own prices, else by the agent's."""
    if not read:
        return 0.0
    reader = state.settings.reader
    own = None if reader is None else reader.usd(read, written)
    if own is not None or agent is None:
        return own
    return (read * agent.input + written * agent.output) / MILLION
