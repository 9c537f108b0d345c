from __future__ import annotations

from dataclasses import replace

import pytest

from foldline import Ask, BudgetError, Limits, Reply
from foldline.core.asks import ModelLimits, Steps, drive
from foldline.core.spending import Spent, within
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


def test_an_ask_is_told_how_many_seconds_are_left():
    asked, replies, spent = run(Limits(attempts=99, seconds=25.0), FAILED)
    assert [ask.seconds for ask in asked] == [25.0, 15.0, 5.0]
    assert spent.seconds == 30.0
    assert "25 seconds" in replies[-1].error


def test_an_ask_that_could_cost_more_than_is_left_is_not_made():
    reader = ModelLimits(1_000, input_usd=1.0, output_usd=10.0)
    paid = Reply("yes", usd=0.0005)
    most = reader.usd(len("a question"), 100)
    asked, replies, spent = run(Limits(attempts=99, usd=most + 0.0005), paid, reader=reader)
    assert len(asked) == 2
    assert spent.usd == pytest.approx(0.001)
    assert "US dollars" in replies[2].error


def test_without_prices_nothing_is_asked_where_money_is_limited():
    asked, replies, _ = run(Limits(usd=1.0), FAILED, reader=ModelLimits(1_000))
    assert not asked
    assert "price" in replies[0].error


def test_usage_of_all_answers_is_added_up():
    reply = Reply("yes", usage=Usage(10, 5, 3, 2), model="small", usd=0.25)
    *_, spent = run(Limits(), reply, times=2)
    assert spent == Spent(2, 0.0, 0.5, 30, 10, "small")


@pytest.mark.parametrize("wrong", [{"attempts": -1}, {"seconds": float("nan")}, {"usd": -0.1}])
def test_impossible_limits_are_refused(wrong):
    with pytest.raises(BudgetError, match="Impossible limits"):
        Limits(**wrong)


def test_what_was_spent_adds_up():
    first, second = Spent(1, 2.0, 0.1, 10, 20, "one"), Spent(2, 3.0, 0.2, 1, 2, "two")
    both = first + second
    assert (both.attempts, both.seconds, both.input_tokens, both.output_tokens) == (3, 5.0, 11, 22)
    assert both.usd == pytest.approx(0.3)
    assert both.model == "two"
    assert first + Spent() == first
