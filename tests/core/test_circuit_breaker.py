"""A breaker is a value: the same events give the same answer, in any process."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.core.circuit_breaker import Breaker, BreakerSettings
from foldline.errors import BudgetError


def failing(times, *, threshold=3, seconds=300.0, now=1_000.0):
    breaker = Breaker(threshold, seconds)
    for _ in range(times):
        breaker = breaker.after(False, now)
    return breaker


@pytest.mark.requirement("C5", "H10")
def test_it_opens_after_so_many_failures_in_a_row_and_not_before():
    assert failing(2).state(1_000.0) == "closed"
    assert failing(3).state(1_000.0) == "open"
    assert not failing(3).allows(1_299.9)


@pytest.mark.requirement("H10")
def test_a_success_in_between_starts_the_count_again():
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
def test_while_the_trial_runs_nobody_else_gets_one():
    trying = failing(3).trying(1_300.0)
    assert not trying.allows(1_301.0)
    assert trying.allows(1_600.0), "one that never ends does not block for ever"


@pytest.mark.requirement("C5")
def test_other_circumstances_allow_one_trial_before_the_pause_is_over():
    eased = failing(3).ease()
    assert eased.state(1_001.0) == "half-open"
    assert eased.after(False, 1_001.0).state(1_002.0) == "open"


def test_a_clock_that_was_set_back_does_not_keep_it_open():
    assert failing(3, now=10**9).allows(1_000.0)


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1_000)), max_size=30), st.integers(1, 5))
def test_it_is_open_only_after_a_row_of_failures_at_the_end(events, threshold):
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
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(BudgetError, match=r"breaker\."):
        BreakerSettings(**settings)


def test_the_settings_make_a_closed_breaker():
    assert BreakerSettings(2, 9.0).closed() == Breaker(2, 9.0)
    assert BreakerSettings().closed().allows(0.0)
