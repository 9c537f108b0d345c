from __future__ import annotations

import pytest

from foldline.core.budget import UNKNOWN_WINDOW, Budget, Pacing, Room, Thresholds
from foldline.errors import BudgetError


def test_a_number_of_tokens_is_limit_and_target_at_once():
    budget = Budget.of_tokens(8_000)
    assert (budget.limit, budget.target, budget.fixed) == (8_000, 8_000, True)
    assert not budget.is_due(0.5, 8_000)
    assert budget.is_due(0.5, 8_001)


@pytest.mark.parametrize("tokens", [0, -1, 1.5, True, "8000", None])
def test_a_budget_that_is_not_a_positive_number_is_rejected(tokens):
    with pytest.raises(BudgetError, match="positive whole number"):
        Budget.of_tokens(tokens)


@pytest.mark.requirement("G1", "F53", "J2")
def test_a_window_leaves_room_for_the_answer_and_for_counting_errors():
    budget = Budget.of_window(200_000)
    assert budget.scale == 200_000 - 16_384 - 4_000
    assert budget.limit == budget.scale
    assert budget.target == round(0.4 * budget.scale)


def test_an_output_larger_than_the_usual_reserve_lowers_the_trigger():
    budget = Budget.of_window(200_000, output=64_000)
    assert budget.is_due(1.0, 150_000)


def test_system_prompt_and_tools_count_against_the_window():
    budget = Budget.of_window(100_000, output=0, margin=0, overhead=50_000)
    assert budget.limit == 50_000
    assert budget.is_due(1.0, 60_000)
    assert budget.is_due(0.8, 40_000)
    assert not budget.is_due(0.8, 20_000)


def test_a_large_overhead_leaves_the_same_share_of_the_rest_as_target():
    budget = Budget.of_window(100_000, output=0, margin=0, overhead=60_000)
    assert budget.target == 16_000


def test_a_smaller_target_is_aimed_for():
    assert Budget.of_window(100_000, output=0, margin=0, target=0.1).target == 10_000


@pytest.mark.requirement("C23")
def test_an_unknown_window_is_assumed_with_a_warning():
    budget = Budget.of_window(None)
    assert not budget.resolved
    assert budget.scale < UNKNOWN_WINDOW
    assert Budget.of_window(UNKNOWN_WINDOW).resolved


@pytest.mark.parametrize(
    "wrong",
    [
        {"window": 0},
        {"window": -5},
        {"window": True},
        {"window": 1_000, "output": -1},
        {"window": 1_000, "margin": -1},
        {"window": 1_000, "overhead": -1},
        {"window": 1_000, "target": 0},
        {"window": 1_000, "target": 0.9},
        {"window": 1_000, "output": 1_000},
        {"window": 1_000, "overhead": 5_000},
    ],
)
def test_impossible_numbers_are_errors_at_once(wrong):
    with pytest.raises(BudgetError):
        Budget.of_window(**wrong)


@pytest.mark.parametrize("window", [1_000, 8_192, 32_000, 200_000, 1_000_000, 10_000_000])
@pytest.mark.requirement("C2")
def test_the_thresholds_of_every_window_are_in_order(window):
    budget = Budget.of_window(window)
    assert 0 < budget.target < budget.limit <= budget.scale < window


@pytest.mark.requirement("C2", "C4")
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"warn_at": 0.9}, r"warn_at \(0\.9\) must be below act_at"),
        ({"warn_at": 0.8}, r"warn_at \(0\.8\) must be below act_at"),
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


def test_thresholds_that_act_early_enough_are_unchanged():
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
