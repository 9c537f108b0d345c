"""An interval estimates the error of a mean on other sessions, the same on every run."""

from __future__ import annotations

import random

from foldline.evaluation.findings import estimate_clustered


def test_the_mean_is_of_all_values_and_within_its_interval():
    found = estimate_clustered({"a": [0.0, 1.0], "b": [1.0], "c": [0.5]})
    assert found is not None
    assert found.mean == 0.625
    assert found.low < found.mean < found.high
    assert found.count == 4


def test_the_same_values_give_the_same_interval_in_any_order():
    values = {name: [len(name) / 7, 0.3] for name in ("a", "bb", "ccc", "dddd")}
    again = dict(reversed(values.items()))
    assert estimate_clustered(values) == estimate_clustered(again)


def test_values_of_one_session_count_as_one():
    draw = random.Random(1)  # noqa: S311  # no secret
    alone = {str(n): [draw.random()] for n in range(12)}
    copied = {name: value * 20 for name, value in alone.items()}
    one, many = estimate_clustered(alone), estimate_clustered(copied)
    assert one is not None
    assert many is not None
    assert abs((one.high - one.low) - (many.high - many.low)) < 1e-9


def test_about_nineteen_of_twenty_intervals_hold_the_true_mean():
    draw = random.Random(2)  # noqa: S311  # no secret
    held = 0
    for _ in range(100):
        sample = {str(n): [draw.gauss(0.5, 0.1)] for n in range(30)}
        found = estimate_clustered(sample, resamples=400)
        assert found is not None
        held += found.low <= 0.5 <= found.high
    assert 86 <= held <= 100


def test_one_session_gives_a_mean_and_none_gives_nothing():
    assert str(estimate_clustered({"only": [0.25, 0.75]})) == "0.500"
    assert estimate_clustered({}) is None
    assert estimate_clustered({"empty": []}) is None
