from __future__ import annotations

import pytest

from foldline.core.thresholds import Pacing, Room, Thresholds
from foldline.errors import BudgetError


@pytest.mark.requirement("C2", "C4")
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"warn_at": 0.9}, r"warn_at \(0\.9\) has to lie below act_at"),
        ({"warn_at": 0.8}, r"warn_at \(0\.8\) has to lie below act_at"),
        ({"clear_at": 0.75}, "clear_at .* below warn_at"),
        ({"act_at": 1.0}, "act_at .* below hard_at"),
        ({"target": 0.8}, "target .* below act_at"),
        ({"target": 0}, "always passed"),
        ({"clear_at": 0.0}, "always passed"),
        ({"hard_at": 1.1}, "hard_at must be a number from 0 to 1"),
        ({"act_at": -0.1}, "act_at must be a number"),
        ({"act_at": "0.8"}, "act_at must be a number"),
    ],
)
def test_thresholds_out_of_order_are_errors_that_name_them(wrong, words):
    with pytest.raises(BudgetError, match=words):
        Thresholds(**wrong)


def test_thresholds_that_act_in_good_time_are_left_alone():
    at = Thresholds()
    assert at.within(400_000, 200_000) is at


def test_a_very_large_window_is_not_filled_and_keeps_the_proportions():
    at = Thresholds().within(400_000, 10_000_000)
    assert round(at.act_at * 10_000_000) == 400_000
    assert at.warn_at / at.act_at == pytest.approx(0.70 / 0.80)
    assert at.hard_at == 1.0


@pytest.mark.parametrize(
    "make",
    [
        lambda: Room(window=0),
        lambda: Room(window=True),
        lambda: Room(output=-1),
        lambda: Room(margin=1.5),
        lambda: Room(max_input=0),
        lambda: Pacing(growth=2),
        lambda: Pacing(cache_seconds=-1),
        lambda: Pacing(requests=-1),
    ],
)
def test_impossible_numbers_are_errors(make):
    with pytest.raises(BudgetError):
        make()
