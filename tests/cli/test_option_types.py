from __future__ import annotations

import click
import pytest
from tests.cli.sample import foldline

from foldline.cli.options import BUDGET, PERIOD, SIZE, WINDOW


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("8000", 8_000),
        ("8k", 8_000),
        ("8K", 8_000),
        ("1.5M", 1_500_000),
        ("8_000", 8_000),
        ("8,000", 8_000),
        (" 1 ", 1),
        ("0.5k", 500),
        ("50%", 1_000),
        ("12.5 %", 250),
        ("150%", 3_000),
        ("0.001%", 1),
    ],
)
def test_an_amount_is_read_in_every_usual_notation(text: str, tokens: int) -> None:
    assert BUDGET.convert(text, None, None).of(2_000) == tokens


@pytest.mark.parametrize(
    "text", ["", "abc", "8kk", "1e3", "nan", "inf", "٨", "8 000 000", "9" * 40]
)
def test_an_invalid_amount_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(click.BadParameter, match="write tokens such as 8000, 8k or 25%"):
        BUDGET.convert(text, None, None)


@pytest.mark.parametrize("text", ["0", "0k", "0%", "-5", "-5%", "0.4"])
def test_an_amount_that_leaves_nothing_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="leaves no room"):
        BUDGET.convert(text, None, None)


def test_a_window_cannot_be_a_share() -> None:
    assert WINDOW.convert("200k", None, None).tokens == 200_000
    with pytest.raises(click.BadParameter, match="8000 or 200k"):
        WINDOW.convert("50%", None, None)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["stats", "-", "--top", "x"], "'x' is not a whole number from 1 to 1,000."),
        (["stats", "-", "--top", "0"], "'0' is not a whole number from 1 to 1,000."),
        (["stats", "-", "--top", "1.5"], "'1.5' is not a whole number from 1 to 1,000."),
        (["compact", "-", "--keep", "-1"], "'-1' is not a whole number from 0 up."),
        (["compact", "-", "--max-usd", "much"], "'much' is not a number from 0 up."),
        (["compact", "-", "--max-usd", "nan"], "'nan' is not a number from 0 up."),
        (["maintain", ".", "--max-usd", "0"], "'0' is not a number above 0."),
    ],
)
def test_an_invalid_number_names_the_allowed_range(words: list[str], told: str) -> None:
    done = foldline(*words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert told in done.stderr


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("keep=x", "keep must be a whole number from 0 up, not 'x'."),
        ("keep=9999999999999", "keep must be a whole number"),
        ("tail=a", "tail must be a number such as 0.2, not 'a'."),
        ("clearing.keep=many", "clearing.keep must be a whole number"),
        ("thresholds.act_at=7", "thresholds.act_at must be a number from 0 to 1"),
    ],
)
def test_an_invalid_setting_names_the_expected_type(setting: str, told: str) -> None:
    done = foldline("compact", "-", "--budget", "1k", "--set", setting)
    assert (done.exit_code, done.stdout) == (2, "")
    assert told in done.stderr


@pytest.mark.parametrize(
    ("text", "seconds"), [("30d", 2_592_000), ("12h", 43_200), ("1.5W", 907_200), (" 5 m ", 300)]
)
def test_a_duration_is_in_seconds(text: str, seconds: float) -> None:
    assert PERIOD.convert(text, None, None) == seconds


@pytest.mark.parametrize(("text", "size"), [("500MB", 5e8), ("2gb", 2e9), ("1.5k", 1_500)])
def test_a_size_is_in_bytes(text: str, size: float) -> None:
    assert SIZE.convert(text, None, None) == size


@pytest.mark.parametrize("text", ["", "30", "d", "-1d", "1x", "0d", "1d2h", "1" * 40 + "d", "∞d"])
def test_an_invalid_amount_is_refused_with_an_example_of_a_valid_one(text: str) -> None:
    with pytest.raises(click.BadParameter, match=r"30d|keep nothing"):
        PERIOD.convert(text, None, None)
