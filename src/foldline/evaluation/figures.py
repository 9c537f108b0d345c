"""Format numbers, shares, sizes, prices and times for display."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

_LAST: Final = 253_402_128_000.0
"""The end of the year 9999, less a day for time zones, in seconds since 1970."""


def plural(number: int, noun: str) -> str:
    """Write a number with its noun: ``1 message``, ``1,200 messages``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def share(part: float, whole: float) -> str:
    """Write a share in percent: ``12%``, ``<1%``."""
    fraction = part / whole if whole else 0.0
    return "<1%" if 0 < fraction < 0.005 else f"{fraction:.0%}"


def size(count: int) -> str:
    """Write a number of bytes: ``812 B``, ``1.4 MB``."""
    value = float(count)
    for unit, digits in (("B", 0), ("kB", 0), ("MB", 1)):
        if value < 1000:
            return f"{value:.{digits}f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def brief(number: float) -> str:
    """Write a number briefly: ``812``, ``12.3k``, ``1.2M``."""
    for least, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= least:
            value = number / least
            return f"{value:.0f}{unit}" if value >= 100 else f"{value:.1f}{unit}"
    return f"{number:.0f}"


def money(usd: float | None) -> str:
    """Write US dollars: ``$0.0042``, ``$12.30``; a dash if unknown."""
    if usd is None:
        return "–"
    return f"${usd:,.2f}" if usd >= 1 or usd == 0 else f"${usd:.4f}"


def moment(seconds: float) -> datetime:
    """Convert seconds since 1970 into a time; one outside the calendar becomes the nearest."""
    return datetime.fromtimestamp(min(max(seconds, 0.0), _LAST), UTC)


def local_time(seconds: float) -> str:
    """Write seconds since 1970 as a date and time of day in the local time zone."""
    return f"{moment(seconds).astimezone():%Y-%m-%d %H:%M}"


def parse_whole(text: str) -> int | None:
    """Read a non-negative whole number of at most nine digits; None if the text is not one."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


def shorten(text: str, most: int) -> str:
    """Shorten a text to one line of at most ``most`` characters."""
    words = " ".join(text[: most * 4].split())
    return words if len(words) <= most else f"{words[: most - 1]}…"
