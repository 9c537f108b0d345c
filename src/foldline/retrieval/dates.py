"""Dates that a query names, in English and Chinese, and how near to them something happened."""

from __future__ import annotations

import math
import re
from calendar import monthrange
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta
from typing import Final, TypeAlias

DateWindow: TypeAlias = tuple[float, float]
"""From, and up to but without; seconds since 1970, in UTC."""

DAY: Final = 86_400.0

LATER: Final = 14.0
EARLIER: Final = 7.0
"""
Days over which nearness falls to 37 %: people tell about things afterwards, for about two weeks,
and announce them for about one.
"""

MOST: Final = 8
"""Dates of one query that are looked at."""

_MONTH_NAMES: Final = """
january february march april may june july august september october november december
"""
_MONTHS: Final = _MONTH_NAMES.split()
_MONTH_OF: Final = {name: n for n, name in enumerate(_MONTHS, 1)} | {
    name[:3]: n for n, name in enumerate(_MONTHS, 1)
} | {"sept": 9}  # fmt: skip
_MONTH: Final = "|".join(sorted(_MONTH_OF, key=len, reverse=True))
_DIGITS: Final = {sign: n for n, sign in enumerate("一二三四五六七八九十", 1)} | {"两": 2, "半": 0}
_WORDS: Final = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6,
                 "a few": 3, "few": 3, "several": 4, "couple": 2, "a couple": 2,
                 "a couple of": 2, "couple of": 2}  # fmt: skip
_COUNT: Final = r"\d{1,3}|" + "|".join(sorted(_WORDS, key=len, reverse=True))
_UNITS: Final = {"day": 1, "week": 7, "month": 30, "year": 365}
_HAN_UNITS: Final = {"天": 1, "日": 1, "周": 7, "星期": 7, "礼拜": 7, "月": 30, "年": 365}

_Reading: TypeAlias = Callable[[re.Match[str], date | None], tuple[date, date] | None]


def date_windows(query: str, now: float | None = None) -> tuple[DateWindow, ...]:
    """
    Find the times that a query names.

    Args:
        query: In English or Chinese: "7 May 2023", "in May", "last week", "2023年5月", "上周".
        now: Seconds since 1970; without it only dates with a year are understood.

    Returns:
        Each time as a window of whole days, in UTC; at most `MOST`.
    """
    today = None if now is None else datetime.fromtimestamp(now, UTC).date()
    text, out = query[:4_000].lower(), list[DateWindow]()
    for pattern, read in _READINGS:
        if len(out) >= MOST:
            break
        for found in pattern.finditer(text):
            try:
                days = read(found, today)
            except (ValueError, OverflowError):
                continue
            if days is not None:
                out.append((_seconds(days[0]), _seconds(days[1]) + DAY))
        text = pattern.sub(lambda match: " " * len(match[0]), text)
    return tuple(out[:MOST])


def nearness(time: float, windows: Iterable[DateWindow]) -> float:
    """Return 1 for a time inside a window, less with every day outside of it, 0 far away."""
    best = 0.0
    for start, end in windows:
        after, before = (time - end) / DAY, (start - time) / DAY
        if before > 0:
            best = max(best, 0.7 * math.exp(-before / EARLIER))
        else:
            best = max(best, math.exp(-max(after, 0.0) / LATER))
    return best


def _seconds(day: date) -> float:
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()


# --- readings: from the most to the least exact; what one has read, no other sees -------------


def _day(year: int, month: int, day: int) -> tuple[date, date]:
    one = date(year, month, min(day, monthrange(year, month)[1]))
    return one, one


def _month(year: int, month: int) -> tuple[date, date]:
    return date(year, month, 1), date(year, month, monthrange(year, month)[1])


def _latest(today: date, month: int) -> int:
    """Return the year of a month that is named without one: the last that has begun."""
    return today.year if month <= today.month else today.year - 1


def _in_digits(found: re.Match[str], _: date | None) -> tuple[date, date]:
    year, month, day = int(found["y"]), int(found["m"]), found["d"]
    return _day(year, month, int(day)) if day else _month(year, month)


def _in_words(found: re.Match[str], today: date | None) -> tuple[date, date] | None:
    parts = found.groupdict()
    month, day = _MONTH_OF[parts["m"]], parts.get("d")
    if parts.get("y"):
        year = int(parts["y"])
    elif today is not None:
        year = _latest(today, month)
    else:
        return None
    return _day(year, month, int(day)) if day else _month(year, month)


def _year(found: re.Match[str], _: date | None) -> tuple[date, date]:
    year = int(found["y"])
    return date(year, 1, 1), date(year, 12, 31)


def _han_day(found: re.Match[str], today: date | None) -> tuple[date, date] | None:
    month, day = int(found["m"]), found["d"]
    if today is None:
        return None
    year = _latest(today, month)
    return _day(year, month, int(day)) if day else _month(year, month)


def _near_day(found: re.Match[str], today: date | None) -> tuple[date, date] | None:
    back = {"today": 0, "tonight": 0, "今天": 0, "今日": 0, "yesterday": 1, "昨天": 1, "昨日": 1,
            "the day before yesterday": 2, "前天": 2}[found[0]]  # fmt: skip
    if today is None:
        return None
    return today - timedelta(back), today - timedelta(back)


def _ago(found: re.Match[str], today: date | None) -> tuple[date, date] | None:
    count, unit = found["n"], found["u"]
    number = _WORDS.get(count) or _DIGITS.get(count) or int(count)
    days = _UNITS.get(unit) or _HAN_UNITS[unit]
    if today is None:
        return None
    then = today - timedelta(number * days)
    slack = timedelta(days // 2)
    return then - slack, then + slack


def _period(found: re.Match[str], today: date | None) -> tuple[date, date] | None:
    """Read "last week", "this month", "去年": the calendar's week, month or year."""
    which, unit = found["w"], found["u"]
    if today is None:
        return None
    back = 0 if which in ("this", "这", "本", "今", "这个") else 1
    if unit in ("week", "周", "星期", "礼拜"):
        monday = today - timedelta(today.weekday() + 7 * back)
        return monday, monday + timedelta(6)
    if unit in ("month", "月"):
        months = today.year * 12 + today.month - 1 - back
        return _month(months // 12, months % 12 + 1)
    return date(today.year - back, 1, 1), date(today.year - back, 12, 31)


def _spell(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


_READINGS: Final[tuple[tuple[re.Pattern[str], _Reading], ...]] = (
    (_spell(r"(?<!\d)(?P<y>(?:19|20)\d\d)\s*[年\-/.]\s*(?P<m>1[0-2]|0?[1-9])(?!\d)"
            r"(?:\s*[月\-/.]\s*(?P<d>3[01]|[12]\d|0?[1-9])(?!\d)\s*[日号]?|\s*月?)"), _in_digits),
    (_spell(rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+(?P<m>{_MONTH})\b\.?,?"
            r"(?:\s+(?P<y>(?:19|20)\d\d)\b)?"), _in_words),
    (_spell(rf"\b(?P<m>{_MONTH})\b\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b"
            r"(?:,?\s+(?P<y>(?:19|20)\d\d)\b)?"), _in_words),
    (_spell(rf"\b(?P<m>{_MONTH})\b\.?,?\s+(?:of\s+)?(?P<y>(?:19|20)\d\d)\b"), _in_words),
    (_spell(rf"\b(?:in|during|since|last|of|this|early|late|mid)\s+(?P<m>{_MONTH})\b"), _in_words),
    (_spell(r"(?<!\d)(?P<m>1[0-2]|0?[1-9])\s*月(?:\s*(?P<d>3[01]|[12]\d|0?[1-9])\s*[日号])?"),
     _han_day),
    (_spell(r"the day before yesterday|\b(?:today|tonight|yesterday)\b|今天|今日|昨天|昨日|前天"),
     _near_day),
    (_spell(rf"\b(?P<n>{_COUNT})\s+(?P<u>day|week|month|year)s?\s+ago\b"), _ago),
    (_spell(r"(?P<n>\d{1,3}|[一二两三四五六七八九十])\s*个?(?P<u>天|日|周|星期|礼拜|月|年)(?:之|以)?前"),
     _ago),
    (_spell(r"\b(?P<w>last|this|past|previous)\s+(?P<u>week|month|year)\b"), _period),
    (_spell(r"(?P<w>上个?|这个?|本)(?P<u>周|星期|礼拜|月)"), _period),
    (_spell(r"(?P<w>去|今)(?P<u>年)"), _period),
    (_spell(r"\b(?:in|during|of|since|year)\s+(?P<y>(?:19|20)\d\d)\b"), _year),
    (_spell(r"(?<!\d)(?P<y>(?:19|20)\d\d)\s*年"), _year),
)  # fmt: skip
