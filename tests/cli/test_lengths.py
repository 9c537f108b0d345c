from __future__ import annotations

import click
import pytest

from foldline.cli.lengths import PERIOD, SIZE


@pytest.mark.parametrize(
    ("text", "seconds"), [("30d", 2_592_000), ("12h", 43_200), ("1.5W", 907_200), (" 5 m ", 300)]
)
def test_a_length_of_time_is_in_seconds(text: str, seconds: float) -> None:
    assert PERIOD.convert(text, None, None) == seconds


@pytest.mark.parametrize(("text", "size"), [("500MB", 5e8), ("2gb", 2e9), ("1.5k", 1_500)])
def test_a_size_is_in_bytes(text: str, size: float) -> None:
    assert SIZE.convert(text, None, None) == size


@pytest.mark.parametrize("text", ["", "30", "d", "-1d", "1x", "0d", "1d2h", "1" * 40 + "d", "∞d"])
def test_anything_else_says_how_one_is_written(text: str) -> None:
    with pytest.raises(click.BadParameter, match=r"30d|keep nothing"):
        PERIOD.convert(text, None, None)
