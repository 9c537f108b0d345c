from __future__ import annotations

import pytest
from tests.cli.sample import foldline


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["stats", "-", "--top", "x"], "'x' is not a whole number from 1 to 1,000."),
        (["stats", "-", "--top", "0"], "'0' is not a whole number from 1 to 1,000."),
        (["stats", "-", "--top", "1.5"], "'1.5' is not a whole number from 1 to 1,000."),
        (["compact", "-", "--keep", "-1"], "'-1' is not a whole number from 0 on."),
        (["compact", "-", "--max-usd", "much"], "'much' is not a number from 0 on."),
        (["compact", "-", "--max-usd", "nan"], "'nan' is not a number from 0 on."),
        (["maintain", ".", "--max-usd", "0"], "'0' is not a number above 0."),
    ],
)
def test_a_bad_number_is_answered_with_the_numbers_that_are_meant(
    words: list[str], told: str
) -> None:
    done = foldline(*words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert told in done.stderr


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("keep=x", "keep must be a whole number from 0 on, not 'x'."),
        ("keep=9999999999999", "keep must be a whole number"),
        ("tail=a", "tail must be a number such as 0.2, not 'a'."),
        ("clearing.keep=many", "clearing.keep must be a whole number"),
        ("thresholds.act_at=7", "thresholds.act_at must be a number from 0 to 1"),
    ],
)
def test_a_bad_setting_is_answered_with_what_it_must_be(setting: str, told: str) -> None:
    done = foldline("compact", "-", "--budget", "1k", "--set", setting)
    assert (done.exit_code, done.stdout) == (2, "")
    assert told in done.stderr
