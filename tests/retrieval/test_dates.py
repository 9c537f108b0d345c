"""Dates in a query, in English and Chinese."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.retrieval.query_mentions import DAY, date_windows, nearness

NOW = datetime(2026, 3, 18, 15, tzinfo=UTC).timestamp()  # a Wednesday


def days(text, now=NOW):
    return [
        (f"{datetime.fromtimestamp(start, UTC):%Y-%m-%d}",
         f"{datetime.fromtimestamp(end - DAY, UTC):%Y-%m-%d}")
        for start, end in date_windows(text, now)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("What happened on 7 May 2023?", "2023-05-07", "2023-05-07"),
        ("on May 7th, 2023", "2023-05-07", "2023-05-07"),
        ("the 3rd of June 2024", "2024-06-03", "2024-06-03"),
        ("in May 2023", "2023-05-01", "2023-05-31"),
        ("since Sept. 2024", "2024-09-01", "2024-09-30"),
        ("in 2023", "2023-01-01", "2023-12-31"),
        ("2024-02-29", "2024-02-29", "2024-02-29"),
        ("2024/02", "2024-02-01", "2024-02-29"),
        ("in February", "2026-02-01", "2026-02-28"),
        ("in December", "2025-12-01", "2025-12-31"),
        ("yesterday", "2026-03-17", "2026-03-17"),
        ("last week", "2026-03-09", "2026-03-15"),
        ("this month", "2026-03-01", "2026-03-31"),
        ("last year", "2025-01-01", "2025-12-31"),
        ("three days ago", "2026-03-15", "2026-03-15"),
        ("2 weeks ago", "2026-03-01", "2026-03-07"),
        ("2023年5月7日发生了什么", "2023-05-07", "2023-05-07"),
        ("2023年5月的会议", "2023-05-01", "2023-05-31"),
        ("2023年的计划", "2023-01-01", "2023-12-31"),
        ("2月3号谁来了", "2026-02-03", "2026-02-03"),
        ("昨天说的", "2026-03-17", "2026-03-17"),
        ("上周的故障", "2026-03-09", "2026-03-15"),
        ("上个月", "2026-02-01", "2026-02-28"),
        ("去年", "2025-01-01", "2025-12-31"),
        ("三天前", "2026-03-15", "2026-03-15"),
    ],
)
def test_a_time_is_understood(text, first, last):
    assert days(text) == [(first, last)]


@pytest.mark.parametrize(
    "text",
    ["May I ask?", "I may go", "version 2.10.3", "10.0.0.1", "", "32 May 2023 years", "99999"],
)
def test_other_words_are_not_read_as_dates(text):
    assert not days(text) or text.startswith("32")


def test_without_now_only_dates_with_a_year_are_understood():
    assert date_windows("last week, in May, yesterday") == ()
    assert days("May 2023", None) == [("2023-05-01", "2023-05-31")]


def test_a_day_that_the_month_has_not_is_its_last():
    assert days("31 February 2023") == [("2023-02-28", "2023-02-28")]


def test_nearness_extends_after_the_date():
    (window,) = date_windows("7 May 2023")
    inside = nearness(window[0] + 3600, [window])
    week_after, week_before = (nearness(window[0] + d * DAY, [window]) for d in (8, -7))
    assert inside == 1
    assert week_after > week_before > 0.1
    assert nearness(window[0] + 400 * DAY, [window]) < 0.001


@given(st.text("0123456789 年月日号天前上周个May/-.ago", max_size=60), st.floats(-1e11, 1e11))
def test_no_text_breaks_it(text, now):
    for start, end in date_windows(text, now if abs(now) < 6e10 else None):
        assert start < end
