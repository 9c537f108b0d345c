import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.tokens.calibrate import Calibration


def test_starts_without_a_correction() -> None:
    assert Calibration().ratio == 1.0
    assert Calibration().apply(1234) == 1234


def test_an_observation_counts_a_fifth() -> None:
    first = Calibration().observe(counted=100, reported=50)
    assert first.ratio == pytest.approx(0.90)
    assert first.observe(counted=100, reported=150).ratio == pytest.approx(1.02)


@pytest.mark.parametrize(("reported", "ratio"), [(1_000, 2.0), (0, 0.5)])
def test_stays_within_half_and_double(reported: int, ratio: float) -> None:
    learned = Calibration()
    for _ in range(20):
        learned = learned.observe(counted=100, reported=reported)
    assert learned.ratio == ratio


@pytest.mark.parametrize("counted", [0, -5])
def test_ignores_a_response_without_a_count(counted: int) -> None:
    learned = Calibration()
    assert learned.observe(counted=counted, reported=500) is learned


def test_overhead_is_not_charged_to_the_text() -> None:
    assert Calibration().observe(100, 100, overhead=40).ratio == pytest.approx(0.92)
    assert Calibration().observe(100, 30, overhead=40).ratio == pytest.approx(0.85)


def test_one_observation_moves_at_most_one_step() -> None:
    up = Calibration().observe(counted=100, reported=10_000)
    assert up.ratio == pytest.approx(1.15)
    assert up.observe(counted=100, reported=0).ratio == pytest.approx(1.00)


def test_applies_the_ratio_to_a_count() -> None:
    assert Calibration(ratio=1.25).apply(100) == 125
    assert Calibration(ratio=0.5).apply(1) == 1
    assert Calibration(ratio=2.0).apply(0) == 0


@given(st.lists(st.tuples(st.integers(-10, 10**9), st.integers(-10, 10**9)), max_size=50))
def test_the_ratio_stays_in_bounds_for_any_history(history: list[tuple[int, int]]) -> None:
    learned = Calibration()
    for counted, reported in history:
        before, learned = learned.ratio, learned.observe(counted, reported)
        assert abs(learned.ratio - before) <= 0.15 + 1e-9
    assert 0.5 <= learned.ratio <= 2.0
