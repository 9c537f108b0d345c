from __future__ import annotations

import click
import pytest

from foldline.cli.amounts import BUDGET, WINDOW


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
def test_an_amount_is_read_as_people_write_it(text: str, tokens: int) -> None:
    assert BUDGET.convert(text, None, None).of(2_000) == tokens


@pytest.mark.parametrize(
    "text", ["", "abc", "8kk", "1e3", "nan", "inf", "٨", "8 000 000", "9" * 40]
)
def test_what_is_no_amount_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(click.BadParameter, match="write tokens such as 8000, 8k or 25%"):
        BUDGET.convert(text, None, None)


@pytest.mark.parametrize("text", ["0", "0k", "0%", "-5", "-5%", "0.4"])
def test_an_amount_that_leaves_nothing_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="leaves no room"):
        BUDGET.convert(text, None, None)


def test_a_window_is_no_share() -> None:
    assert WINDOW.convert("200k", None, None).tokens == 200_000
    with pytest.raises(click.BadParameter, match="8000 or 200k"):
        WINDOW.convert("50%", None, None)
