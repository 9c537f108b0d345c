from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.session.test_hooks import turns

from foldline import Reply, Session
from foldline.core.asks import Ask, ModelLimits
from foldline.core.economy import pays_after
from foldline.models.info import Prices
from foldline.stores.memory import MemoryStore

CLAUDE = Prices(3.0, 15.0, 3.75, 0.3)


class Priced:
    """A summarizer with prices that must not be called."""

    def __init__(self, window: int = 100_000) -> None:
        self.reader = ModelLimits(window, name="small", input_usd=1.0, output_usd=5.0)

    def answer(self, _: Ask) -> Reply:
        raise AssertionError("an estimate asks nobody")

    async def aanswer(self, _: Ask) -> Reply:
        raise AssertionError("an estimate asks nobody")


def opened(**more: Any) -> Session:
    made = Session.open(
        None, "s", store=MemoryStore(), window=12_000, policy="salient", clock=lambda: 5.0, **more
    )
    made.extend(turns(25, 60))
    return made


@pytest.mark.requirement("K37")
def test_without_a_model_only_the_cache_costs():
    made = opened()
    before = len(made.receipts), made.view(), made.tokens
    found = made.estimate(CLAUDE)
    assert found.status == "compacted"
    assert (found.asks, found.usd, found.cold) == (0, 0.0, False)
    assert (len(made.receipts), made.view(), made.tokens) == before
    receipt = made.compact(force=True)
    assert found.freed == receipt.tokens_before - receipt.tokens_after
    assert found.saved_usd == pytest.approx(found.freed * 0.3e-6)
    assert found.requests is not None
    assert found.requests > 0


@pytest.mark.requirement("K37")
def test_with_a_model_the_estimate_includes_its_price():
    found = opened(summarizer=Priced()).estimate(CLAUDE)
    assert found.status == "compacted", found.reason
    assert found.asks == 1
    assert found.input_tokens > 500
    assert found.output_tokens > 0
    assert found.usd == pytest.approx((found.input_tokens + 5 * found.output_tokens) / 1e6)
    floor = pays_after(found.freed, behind=found.rewritten, summary_cost=found.usd / 3e-6)
    assert found.requests is not None
    assert floor is not None
    assert found.requests > floor


@pytest.mark.requirement("K37")
def test_a_small_window_of_the_summarizer_means_several_requests():
    whole = opened(summarizer=Priced()).estimate(CLAUDE)
    parts = opened(summarizer=Priced(window=2_500)).estimate(CLAUDE)
    assert parts.asks > whole.asks
    assert parts.input_tokens > parts.asks * 100


def test_an_unknown_price_stays_unknown():
    made = opened(summarizer=lambda _: Reply("unused"))
    found = made.estimate()
    assert (found.usd, found.saved_usd) == (None, None)
    assert found.requests is not None


def test_a_known_model_brings_its_prices():
    made = opened(model="claude-sonnet-4-5")
    assert made.estimate().saved_usd


def test_a_cold_cache_makes_rewriting_free():
    now = [5.0]
    made = Session.open(None, "s", store=MemoryStore(), window=8_000, clock=lambda: now[0])
    made.extend(turns(12, 100))
    now[0] += 10_000
    found = made.estimate(CLAUDE)
    assert (found.cold, found.rewritten, found.requests) == (True, 0, 0.0)


def test_an_empty_session_and_an_async_program_get_an_estimate():
    made = Session.open(None, "s", store=MemoryStore(), window=8_000)
    assert made.estimate().status == "unchanged"
    assert asyncio.run(made.aestimate()).reason == "there are no messages"
