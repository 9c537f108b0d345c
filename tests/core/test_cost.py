"""The numbers are those of a calculation by hand: input 1, cache write 1.25, cache read 0.1."""

from __future__ import annotations

import pytest

from foldline.core.cost import PAY_BACK, CostEstimate, Factors, pays_after


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


def test_clearing_pays_after_eleven_and_a_half_times_what_lies_behind():
    assert pytest.approx(11.5) == PAY_BACK
    assert pays_after(1_000, behind=1_000) == pytest.approx(11.5)
    assert pays_after(30_000, behind=10_000) == pytest.approx(11.5 / 3)


def test_what_frees_nothing_never_pays_and_what_costs_nothing_pays_at_once():
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
