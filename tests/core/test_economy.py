from __future__ import annotations

import pytest

from foldline.core.economy import (
    PAY_BACK,
    CostEstimate,
    Course,
    Economy,
    Factors,
    pays_after,
    saving,
)
from foldline.errors import BudgetError


@pytest.mark.requirement("K37")
@pytest.mark.parametrize(
    ("input_price", "output", "requests"),
    [
        (0.1, 5.0, [4.3, 8.1, 16.9, 64.5]),  # the same model on its own cached prefix
        (1.0, 5.0, [13.8, 18.1, 28.1, 82.5]),  # the same model, nothing cached
        (0.2, 1.0, [3.3, 4.7, 8.1, 26.5]),  # a model at a fifth of the price
    ],
)
def test_a_summary_of_20_10_5_and_2_to_1_pays_after_so_many_requests(
    input_price, output, requests
):
    found = [
        pays_after(1 - 1 / size, added=1 / size, summary_cost=input_price + output / size)
        for size in (20, 10, 5, 2)
    ]
    assert [round(number, 1) for number in found] == requests


def test_clearing_pays_after_eleven_and_a_half_times_the_tokens_behind_it():
    assert pytest.approx(11.5) == PAY_BACK
    assert pays_after(1_000, behind=1_000) == pytest.approx(11.5)
    assert pays_after(30_000, behind=10_000) == pytest.approx(11.5 / 3)


def test_no_savings_never_pay_and_no_costs_pay_at_once():
    assert pays_after(0) is None
    assert pays_after(-5, behind=1) is None
    assert pays_after(100) == 0.0
    assert pays_after(100, behind=1, factors=Factors(read=0.0)) is None
    assert pays_after(0, added=1, summary_cost=5) is None
    assert pays_after(0, behind=10) is None


def test_an_estimate_reads_as_a_sentence_and_as_json():
    asked = CostEstimate("compacted", "x", 1, 1_000, 200, 0.01, 5_000, requests=4.25)
    assert str(asked) == (
        "frees 5,000 tokens; a model reads about 1,000 tokens and writes at most 200, "
        "for at most 0.0100 US dollars; pays after 4.2 requests"
    )
    assert "unknown price" in str(CostEstimate("compacted", "x", 1, usd=None, freed=1))
    assert "pays never" in str(CostEstimate("compacted", "x", freed=1))
    assert str(CostEstimate("unchanged", "the target is met")).endswith("the target is met")
    assert asked.to_dict()["requests"] == 4.25


WIDE = 72_000
"""The target of a compaction in a window of 200,000 tokens."""

THRIFT = Economy(keep=40_000)


def fold_at(grows: int, economy: Economy | None = None, start: int = 0, **more) -> int:
    """Return the size at which a session is folded that grows by ``grows`` tokens per request."""
    for requests in range(1, 10_000):
        fill = start + requests * grows
        if saving(economy or THRIFT, Course(start, fill, requests), WIDE, **more):
            return fill
    raise AssertionError("it is never folded")


@pytest.mark.parametrize(
    ("course", "extra"),
    [
        (Course(0, 30_000, 30), 0),
        (Course(0, 40_000, 40), 0),
        (Course(0, 80_000, 80), 40 * 20_000),
        (Course(40_000, 80_000, 40), 40 * 20_000),
        (Course(60_000, 80_000, 20), 20 * 30_000),
        (Course(80_000, 80_000, 3), 3 * 40_000),
    ],
)
def test_reading_above_a_size_is_the_area_under_even_growth(course, extra):
    assert course.above(40_000) == pytest.approx(extra)


@pytest.mark.requirement("C11")
def test_it_folds_once_the_extra_reading_has_cost_as_much_as_folding():
    keep, rewrite = 40_000, (1.25 - 0.1) * 40_000
    fill = fold_at(1_000)
    made = saving(THRIFT, Course(0, fill, fill / 1_000), WIDE)
    assert made is not None
    assert made.read == pytest.approx(0.1 * (fill - keep) ** 2 / 2_000)
    assert made.read >= made.rewrite == rewrite
    assert saving(THRIFT, Course(0, fill - 1_000, fill / 1_000 - 1), WIDE) is None
    assert made.requests == pytest.approx(rewrite / (0.1 * (fill - keep)))


def test_the_cost_is_at_most_twice_that_of_hindsight():
    made = saving(THRIFT, Course(0, fold_at(500), fold_at(500) / 500), WIDE)
    assert made is not None
    # The session may end at once: then reading and folding are the whole cost.
    assert made.read + made.rewrite <= 2.1 * min(made.read, made.rewrite)


def test_a_session_that_fills_in_a_few_requests_waits_longer():
    assert fold_at(500) < fold_at(2_000) < fold_at(8_000)


def test_a_cold_cache_is_a_reason_to_fold_at_once():
    assert fold_at(1_000, cold=True) == 60_000 < fold_at(1_000)


def test_the_cost_of_a_model_summary_is_included():
    assert fold_at(1_000, summary_cost=100_000) > fold_at(1_000)


def test_prices_decide():
    no_fee, half = Factors(write=1.0, read=0.1), Factors(write=1.0, read=0.5)
    assert fold_at(1_000, factors=half) < fold_at(1_000, factors=no_fee) < fold_at(1_000)
    assert saving(THRIFT, Course(0, 10**6, 10**4), WIDE, factors=Factors(read=0.0)) is None


@pytest.mark.parametrize(
    ("economy", "target"),
    [
        (Economy(enabled=False), WIDE),
        (THRIFT, 40_000),
        (Economy(), 22_000),
        (Economy(keep=72_000), WIDE),
    ],
)
def test_nothing_is_folded_early_if_disabled_or_the_window_is_small(economy, target):
    assert saving(economy, Course(0, 10**6, 10**4), target) is None


def test_a_fold_with_little_gain_is_never_made():
    assert saving(THRIFT, Course(0, 59_999, 10**6), WIDE) is None


def test_the_reason_has_the_numbers():
    words = str(saving(THRIFT, Course(0, 80_000, 80), WIDE))
    assert words.startswith("economy: ")
    assert "40,000" in words
    assert "46,000" in words


@pytest.mark.parametrize("wrong", [{"keep": 0}, {"keep": 1.5}, {"keep": True}, {"enabled": 1}])
def test_invalid_settings_are_errors(wrong):
    with pytest.raises(BudgetError, match="economy"):
        Economy(**wrong)
