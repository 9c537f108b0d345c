"""
Folding a session early, where that is cheaper than to go on reading all of it.

A session that prepares its compactions in the background is left alone: they delay no request.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from foldline.core.economy import READ, WRITE, Course, Factors, Saving, saving
from foldline.core.strategy import Policy
from foldline.frozen import replace
from foldline.models.info import Prices
from foldline.session.state import SessionState

MESSAGES_A_REQUEST: Final = 2
"""What is asked, or came back from a tool, and the answer; nothing has to be counted for that."""


def find_saving(state: SessionState) -> Saving | None:
    """Return what folding now saves, None when it is not due; known in constant time."""
    settings, fill = state.settings, state.fill
    economy, config = settings.policy.economy, settings.config
    if economy is None or not config.enabled or config.memory.enabled or fill <= economy.keep:
        return None
    if state.throttle.holds(settings.budget, fill):
        return None
    price = factors_of(settings.model)
    return saving(
        economy,
        course(state, fill),
        settings.budget.target,
        summary_cost=_estimate_summary_cost(state, fill, price),
        cold=state.throttle.is_cold(settings.clock()),
        factors=price,
    )


def course(state: SessionState, fill: int) -> Course:
    """Return how the session went since its last compaction that is in effect."""
    last = state.history.last()
    start, at = (0, 0) if last is None else (last.receipt.tokens_after, last.at)
    messages = len(state.current_view.log) - at
    return Course(min(start, fill), fill, messages / MESSAGES_A_REQUEST)


def folding(policy: Policy) -> Policy:
    """Return the ladder with what folds due at once; what clears forgets more for the same."""
    rungs = tuple(
        replace(rung, trigger=0.0) if rung.trigger < 1.0 else rung
        for rung in policy.rungs
        if not rung.gentle
    )
    return replace(policy, rungs=rungs)


def _estimate_summary_cost(state: SessionState, fill: int, price: Factors) -> float:
    """Return what asking the summarizer costs, in tokens of the agent's input; at most that."""
    reader = state.settings.reader
    if reader is None:
        return 0.0
    summary = state.settings.config.summary
    account = summary.max_tokens or round(summary.share * state.settings.budget.target)
    return fill + price.output * min(reader.output, account)


@lru_cache(maxsize=64)
def factors_of(model: str) -> Factors:
    """Return what tokens of a model cost by the catalogue; the usual where it does not know."""
    prices = prices_of(model)
    return Factors() if prices is None else proportions(prices)


def prices_of(model: str) -> Prices | None:
    """Return the catalogue's prices of a model, None when they are not known."""
    if not model:
        return None
    from foldline.models.catalogue import Catalogue

    return Catalogue.load().find(model).prices


def proportions(prices: Prices) -> Factors:
    """Return what tokens cost as factors of the price of fresh input."""
    if prices.input <= 0:
        return Factors()
    write = WRITE if prices.cache_write is None else prices.cache_write / prices.input
    read = READ if prices.cache_read is None else prices.cache_read / prices.input
    return Factors(write, read, prices.output / prices.input)
