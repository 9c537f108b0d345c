from __future__ import annotations

import pytest

from foldline.evaluation.figures import (
    brief,
    moment,
    money,
    parse_whole,
    plural,
    share,
    shorten,
    size,
)


@pytest.mark.parametrize(
    ("part", "whole", "shown"), [(1, 4, "25%"), (0, 4, "0%"), (1, 1_000, "<1%"), (3, 0, "0%")]
)
def test_shares_are_percent(part: int, whole: int, shown: str) -> None:
    assert share(part, whole) == shown


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0 B"), (999, "999 B"), (1_400_000, "1.4 MB"), (2_000, "2 kB"), (10**13, "10000.0 GB")],
)
def test_sizes_have_their_unit(count: int, shown: str) -> None:
    assert size(count) == shown


def test_every_moment_is_a_date() -> None:
    assert moment(0).year == 1970
    assert moment(1e18).year == 9999
    assert moment(-1e18).year == 1970


def test_numbers_and_prices_are_short() -> None:
    assert [brief(n) for n in (812, 12_340, 1.2e6, 250e6)] == ["812", "12.3k", "1.2M", "250M"]
    assert [money(n) for n in (None, 0, 0.0042, 12.3)] == ["–", "$0.00", "$0.0042", "$12.30"]
    assert (plural(1, "file"), plural(1_200, "file")) == ("1 file", "1,200 files")


def test_only_short_plain_digits_are_a_whole_number() -> None:
    assert [parse_whole(text) for text in ("0", "012", "999999999")] == [0, 12, 999_999_999]
    for text in ("", "-1", "1.5", "1e3", "٨", "²", "9" * 10, " 1"):
        assert parse_whole(text) is None


def test_a_text_is_shortened_to_one_line() -> None:
    assert shorten("a\n  b", 10) == "a b"
    assert shorten("word " * 50, 9) == "word wor…"
