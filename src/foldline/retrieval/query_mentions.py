"""Find authors and dates mentioned in a query, in English and Chinese."""

from __future__ import annotations

import math
import re
from calendar import monthrange
from collections import Counter
from collections.abc import Callable, Iterable, Set
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import Any, Final, TypeAlias

from foldline.frozen import frozen
from foldline.relevance.terms import ENGLISH

MOST_AUTHORS: Final = 2_000
"""The maximum number of authors matched by name; the names of others are matched as words."""

_MONTHS: Final = """
january february march april may june july august september october november december
""".split()  # noqa: SIM905  # a list of words
_WEEKDAYS: Final = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_CALENDAR: Final = frozenset((*_MONTHS, *_WEEKDAYS))


@frozen
class NamedAuthors:
    """
    The authors that a query names.

    Args:
        authors: The known authors in the query.
        rest: The query without their names.
    """

    authors: frozenset[str]
    rest: str


class AuthorNames:
    """The authors of an index."""

    def __init__(self) -> None:
        self._counts = Counter[str]()

    def add(self, author: str) -> None:
        """Add a document of an author."""
        if author:
            self._counts[author] += 1
            self.__dict__.pop("_pattern", None)

    def remove(self, author: str) -> None:
        """Remove a document of an author."""
        if author:
            self._counts[author] -= 1
            if self._counts[author] <= 0:
                del self._counts[author]
            self.__dict__.pop("_pattern", None)

    def named(self, query: str) -> NamedAuthors:
        """Find the authors that a query names, by full name or a part of it."""
        pattern, spelled = self._pattern
        if pattern is None:
            return NamedAuthors(frozenset(), query)
        found = set[str]()
        for match in pattern.finditer(query):
            found |= spelled[match["name"]]
        rest = " ".join(pattern.sub(" ", query).split())
        return NamedAuthors(frozenset(found), rest)

    @cached_property
    def _pattern(self) -> tuple[re.Pattern[str] | None, dict[str, Set[str]]]:
        spelled: dict[str, set[str]] = {}
        for author, _ in self._counts.most_common(MOST_AUTHORS):
            for name in _spellings(author):
                spelled.setdefault(name, set()).add(author)
        if not spelled:
            return None, {}
        either = "|".join(re.escape(name) for name in sorted(spelled, key=len, reverse=True))
        return re.compile(rf"(?<![a-zA-Z0-9_])(?P<name>{either})(?:['’]s)?(?![a-zA-Z0-9_])"), {
            **spelled
        }


def _spellings(author: str) -> set[str]:
    """
    Return the spellings of an author.

    A part of a name that is also a common word, such as Will or May, counts only capitalized.
    """
    out = set[str]()
    for name in (author, *author.split()):
        if len(name) < 2 and name.isascii():
            continue
        out.add(name)
        lower = name.lower()
        if lower not in ENGLISH and lower not in _CALENDAR:
            out |= {lower, name.capitalize()}
    return out


# --- dates --------------------------------------------------------------------------------------

DateWindow: TypeAlias = tuple[float, float]
"""A half-open interval of seconds since 1970, in UTC."""

DAY: Final = 86_400.0

LATER: Final = 14.0
EARLIER: Final = 7.0
"""
The number of days in which nearness falls to 37 %: people report events for about two weeks
afterwards, and announce them for about one week before.
"""

MOST_DATES: Final = 8
"""The maximum number of dates of one query."""

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

_Reading: TypeAlias = Callable[[re.Match[str], Any], tuple[date, date] | None]


def date_windows(query: str, now: float | None = None) -> tuple[DateWindow, ...]:
    """
    Find the dates in a query.

    Args:
        query: In English or Chinese: "7 May 2023", "in May", "last week", "2023年5月", "上周".
        now: The time, in seconds since 1970; without it only dates with a year are understood.

    Returns:
        Each date as a window of whole days, in UTC; at most `MOST_DATES`.
    """
    today = None if now is None else datetime.fromtimestamp(now, UTC).date()
    text, out = query[:4_000].lower(), list[DateWindow]()
    for pattern, read in _READINGS:
        if len(out) >= MOST_DATES:
            break
        for found in pattern.finditer(text):
            try:
                days = read(found, today) if today or read is _calendar else None
            except (ValueError, OverflowError):
                continue
            if days is not None:
                out.append((_seconds(days[0]), _seconds(days[1]) + DAY))
        text = pattern.sub(lambda match: " " * len(match[0]), text)
    return tuple(out[:MOST_DATES])


def nearness(time: float, windows: Iterable[DateWindow]) -> float:
    """Return 1 for a time inside a window, falling to 0 with the distance in days."""
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


# --- patterns: from the most to the least exact; matched text is not matched again -------------


def _span(year: int, month: int | None = None, day: int | None = None) -> tuple[date, date]:
    """Return the first and the last day of a year, of a month, or of one day."""
    if month is None:
        return date(year, 1, 1), date(year, 12, 31)
    last = monthrange(year, month)[1]
    if day is None:
        return date(year, month, 1), date(year, month, last)
    one = date(year, month, min(day, last))
    return one, one


def _calendar(found: re.Match[str], today: date | None) -> tuple[date, date] | None:
    """Read a year, month and day; a month without a year is its latest occurrence."""
    year, month, day = map(found.groupdict().get, "ymd")
    number = None if month is None else _MONTH_OF.get(month) or int(month)
    if year is None:
        if today is None or number is None:
            return None
        year = today.year - (number > today.month)
    return _span(int(year), number, None if day is None else int(day))


def _near(found: re.Match[str], today: date) -> tuple[date, date]:
    back = {"today": 0, "tonight": 0, "今天": 0, "今日": 0, "yesterday": 1, "昨天": 1, "昨日": 1,
            "the day before yesterday": 2, "前天": 2}[found[0]]  # fmt: skip
    return today - timedelta(back), today - timedelta(back)


def _ago(found: re.Match[str], today: date) -> tuple[date, date]:
    count, unit = found["n"], found["u"]
    number = _WORDS.get(count) or _DIGITS.get(count) or int(count)
    days = _UNITS.get(unit) or _HAN_UNITS[unit]
    then = today - timedelta(number * days)
    slack = timedelta(days // 2)
    return then - slack, then + slack


def _period(found: re.Match[str], today: date) -> tuple[date, date]:
    """Read "last week", "this month", "去年": a calendar week, month or year."""
    which, unit = found["w"], found["u"]
    back = 0 if which in ("this", "这", "本", "今", "这个") else 1
    if unit in ("week", "周", "星期", "礼拜"):
        monday = today - timedelta(today.weekday() + 7 * back)
        return monday, monday + timedelta(6)
    if unit in ("month", "月"):
        months = today.year * 12 + today.month - 1 - back
        return _span(months // 12, months % 12 + 1)
    return _span(today.year - back)


_Y: Final = r"(?P<y>(?:19|20)\d\d)"
_M: Final = rf"(?P<m>{_MONTH})\b"
_D: Final = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?"
_MM: Final = r"(?P<m>1[0-2]|0?[1-9])"
_DD: Final = r"(?P<d>3[01]|[12]\d|0?[1-9])"
_HAN_COUNT: Final = r"(?P<n>\d{1,3}|[一二两三四五六七八九十])"

_PATTERNS: Final[tuple[tuple[str, _Reading], ...]] = (
    (
        rf"(?<!\d){_Y}\s*[年\-/.]\s*{_MM}(?!\d)(?:\s*[月\-/.]\s*{_DD}(?!\d)\s*[日号]?|\s*月?)",
        _calendar,
    ),
    (rf"\b{_D}(?:\s+of)?\s+{_M}\.?,?(?:\s+{_Y}\b)?", _calendar),
    (rf"\b{_M}\.?\s+{_D}\b(?:,?\s+{_Y}\b)?", _calendar),
    (rf"\b{_M}\.?,?\s+(?:of\s+)?{_Y}\b", _calendar),
    (rf"\b(?:in|during|since|last|of|this|early|late|mid)\s+{_M}", _calendar),
    (rf"(?<!\d){_MM}\s*月(?:\s*{_DD}\s*[日号])?", _calendar),
    (r"the day before yesterday|\b(?:today|tonight|yesterday)\b|今天|今日|昨天|昨日|前天", _near),
    (rf"\b(?P<n>{_COUNT})\s+(?P<u>day|week|month|year)s?\s+ago\b", _ago),
    (rf"{_HAN_COUNT}\s*个?(?P<u>天|日|周|星期|礼拜|月|年)(?:之|以)?前", _ago),
    (r"\b(?P<w>last|this|past|previous)\s+(?P<u>week|month|year)\b", _period),
    (r"(?P<w>上个?|这个?|本)(?P<u>周|星期|礼拜|月)", _period),
    (r"(?P<w>去|今)(?P<u>年)", _period),
    (rf"\b(?:in|during|of|since|year)\s+{_Y}\b", _calendar),
    (rf"(?<!\d){_Y}\s*年", _calendar),
)
"""The patterns of dates, the most exact first, each with its reader."""

_READINGS: Final = [(re.compile(pattern), read) for pattern, read in _PATTERNS]
