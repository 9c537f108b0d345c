"""
Folding a session early, where that is cheaper than reading all of it on every request.

A session that prepares its compactions in the background is never folded early: they delay no
request.
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
"""Assumed messages per request: a user message or tool result, and the answer."""


def find_saving(state: SessionState) -> Saving | None:
    """Return the saving of a fold now, None if none is due; in constant time."""
    settings, fill = state.settings, state.fill
    economy, config = settings.policy.economy, settings.config
    if economy is None or not config.enabled or config.memory.enabled or fill <= economy.keep:
        return None
    if state.throttle.holds(settings.budget, fill):
        return None
    price = factors_of(settings.model)
    return saving(
        economy,
        measure_course(state, fill),
        settings.budget.target,
        summary_cost=_estimate_summary_cost(state, fill, price),
        cold=state.throttle.is_cold(settings.clock()),
        factors=price,
    )


def measure_course(state: SessionState, fill: int) -> Course:
    """Return the growth of the session since its last compaction that is in effect."""
    last = state.history.last()
    start, at = (0, 0) if last is None else (last.receipt.tokens_after, last.at)
    messages = len(state.current_view.log) - at
    return Course(min(start, fill), fill, messages / MESSAGES_A_REQUEST)


def select_folding_rungs(policy: Policy) -> Policy:
    """Return the policy with its folding rungs due at once, without those that clear results."""
    rungs = tuple(
        replace(rung, trigger=0.0) if rung.trigger < 1.0 else rung
        for rung in policy.rungs
        if not rung.gentle
    )
    return replace(policy, rungs=rungs)


def _estimate_summary_cost(state: SessionState, fill: int, price: Factors) -> float:
    """Return the maximum cost of a summary, in tokens of the agent's input."""
    reader = state.settings.reader
    if reader is None:
        return 0.0
    summary = state.settings.config.summary
    account = summary.max_tokens or round(summary.share * state.settings.budget.target)
    return fill + price.output * min(reader.output, account)


@lru_cache(maxsize=64)
def factors_of(model: str) -> Factors:
    """Return the price factors of a model by the catalogue, or defaults if it is unknown."""
    prices = prices_of(model)
    return Factors() if prices is None else proportions(prices)


def prices_of(model: str) -> Prices | None:
    """Return the catalogue's prices of a model, None if they are unknown."""
    if not model:
        return None
    from foldline.models.catalogue import Catalogue

    return Catalogue.load().find(model).prices


def proportions(prices: Prices) -> Factors:
    """Return prices as factors of the price of fresh input."""
    if prices.input <= 0:
        return Factors()
    write = WRITE if prices.cache_write is None else prices.cache_write / prices.input
    read = READ if prices.cache_read is None else prices.cache_read / prices.input
    return Factors(write, read, prices.output / prices.input)
