from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline import Ask, BudgetError, Limits, Reply
from foldline.core.asks import ModelLimits, Steps, drive
from foldline.core.limits import Breaker, BreakerSettings, Spent, within
from foldline.values.messages import Usage

FAILED = Reply(error="busy", seconds=10.0, attempts=2)


def asking(times: int) -> Steps[list[Reply]]:
    first = yield Ask("a question", 100, attempts=3)
    return [first] if times == 1 else [first, *(yield from asking(times - 1))]


def run(limits: Limits, reply: Reply, *, times: int = 9, reader: ModelLimits | None = None):
    asked: list[Ask] = []

    def answer(ask: Ask) -> Reply:
        asked.append(ask)
        return replace(reply, attempts=min(reply.attempts, ask.attempts))

    replies, spent = drive(within(asking(times), limits, reader, len), answer)
    return asked, replies, spent


@pytest.mark.parametrize("attempts", [0, 1, 2, 5])
def test_no_more_requests_are_made_than_allowed(attempts):
    asked, replies, spent = run(Limits(attempts=attempts), FAILED)
    assert spent.attempts == attempts
    assert sum(min(2, ask.attempts) for ask in asked) == attempts
    assert f"limit of {attempts} requests" in replies[-1].error
    assert not replies[-1].retry


def test_an_ask_gets_the_remaining_seconds():
    asked, replies, spent = run(Limits(attempts=99, seconds=25.0), FAILED)
    assert [ask.seconds for ask in asked] == [25.0, 15.0, 5.0]
    assert spent.seconds == 30.0
    assert "25 seconds" in replies[-1].error


def test_an_ask_that_could_exceed_the_remaining_money_is_not_sent():
    reader = ModelLimits(1_000, input_usd=1.0, output_usd=10.0)
    paid = Reply("yes", usd=0.0005)
    most = reader.usd(len("a question"), 100)
    asked, replies, spent = run(Limits(attempts=99, usd=most + 0.0005), paid, reader=reader)
    assert len(asked) == 2
    assert spent.usd == pytest.approx(0.001)
    assert "US dollars" in replies[2].error


def test_without_prices_no_ask_is_sent_if_money_is_limited():
    asked, replies, _ = run(Limits(usd=1.0), FAILED, reader=ModelLimits(1_000))
    assert not asked
    assert "price" in replies[0].error


def test_usage_of_all_answers_is_added_up():
    reply = Reply("yes", usage=Usage(10, 5, 3, 2), model="small", usd=0.25)
    *_, spent = run(Limits(), reply, times=2)
    assert spent == Spent(2, 0.0, 0.5, 30, 10, "small")


@pytest.mark.parametrize("wrong", [{"attempts": -1}, {"seconds": float("nan")}, {"usd": -0.1}])
def test_invalid_limits_are_rejected(wrong):
    with pytest.raises(BudgetError, match="Impossible limits"):
        Limits(**wrong)


def test_spending_adds_up():
    first, second = Spent(1, 2.0, 0.1, 10, 20, "one"), Spent(2, 3.0, 0.2, 1, 2, "two")
    both = first + second
    assert (both.attempts, both.seconds, both.input_tokens, both.output_tokens) == (3, 5.0, 11, 22)
    assert both.usd == pytest.approx(0.3)
    assert both.model == "two"
    assert first + Spent() == first


def failing(times, *, threshold=3, seconds=300.0, now=1_000.0):
    breaker = Breaker(threshold, seconds)
    for _ in range(times):
        breaker = breaker.after(False, now)
    return breaker


@pytest.mark.requirement("C5", "H10")
def test_a_breaker_opens_after_a_number_of_failures_in_a_row():
    assert failing(2).state(1_000.0) == "closed"
    assert failing(3).state(1_000.0) == "open"
    assert not failing(3).allows(1_299.9)


@pytest.mark.requirement("H10")
def test_a_success_in_between_resets_the_count():
    breaker = failing(2).after(True, 1_000.0).after(False, 1_001.0).after(False, 1_002.0)
    assert breaker.allows(1_002.0)
    assert breaker.failures == 2


@pytest.mark.requirement("C5", "H10")
def test_after_its_pause_one_trial_is_allowed_and_its_outcome_decides():
    half_open = failing(3)
    assert half_open.state(1_300.0) == "half-open"
    assert half_open.after(True, 1_301.0).state(1_301.0) == "closed"
    again = half_open.after(False, 1_301.0)
    assert again.state(1_302.0) == "open"
    assert again.wait(1_302.0) == 299.0


@pytest.mark.requirement("H10")
def test_during_a_trial_no_second_one_is_allowed():
    trying = failing(3).trying(1_300.0)
    assert not trying.allows(1_301.0)
    assert trying.allows(1_600.0), "one that never ends does not block for ever"


@pytest.mark.requirement("C5")
def test_a_change_of_policy_or_model_allows_one_trial_early():
    eased = failing(3).ease()
    assert eased.state(1_001.0) == "half-open"
    assert eased.after(False, 1_001.0).state(1_002.0) == "open"


def test_a_clock_set_back_does_not_keep_a_breaker_open():
    assert failing(3, now=10**9).allows(1_000.0)


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1_000)), max_size=30), st.integers(1, 5))
def test_a_breaker_is_open_only_after_trailing_failures(events, threshold):
    breaker, now = Breaker(threshold, 50.0), 0.0
    for success, passed in events:
        now += passed
        breaker = breaker.after(success, now)
    row = 0
    for success, _ in reversed(events):
        if success:
            break
        row += 1
    assert breaker.allows(now) == (row < threshold)
    assert breaker.allows(now + 50.0)


@pytest.mark.parametrize(
    "settings", [{"failures": 0}, {"failures": 2.5}, {"seconds": -1}, {"seconds": float("nan")}]
)
def test_invalid_settings_are_rejected(settings):
    with pytest.raises(BudgetError, match=r"breaker\."):
        BreakerSettings(**settings)


def test_the_settings_make_a_closed_breaker():
    assert BreakerSettings(2, 9.0).closed() == Breaker(2, 9.0)
    assert BreakerSettings().closed().allows(0.0)
