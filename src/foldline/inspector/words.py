"""Numbers, sizes and times as people read them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

_LAST: Final = 253_402_128_000.0
"""The end of the year 9999 but for a day of time zones, in seconds since 1970."""

_UNITS: Final = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def brief(number: float) -> str:
    """Write a number shortly: ``812``, ``12.3k``, ``1.2M``."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            value = number / size
            return f"{value:.0f}{unit}" if value >= 100 else f"{value:.1f}{unit}"
    return f"{number:.0f}"


def counted(number: int, noun: str) -> str:
    """Write a number with its noun: ``1 message``, ``1,200 messages``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def share(part: float, whole: float) -> str:
    """Write a share in percent: ``12%``, ``<1%``."""
    fraction = part / whole if whole else 0.0
    return "<1%" if 0 < fraction < 0.005 else f"{fraction:.0%}"


def size(count: int) -> str:
    """Write a number of bytes: ``812 B``, ``1.4 MB``."""
    if count < 1_000:
        return f"{count} B"
    return f"{count / 1e3:.0f} kB" if count < 1_000_000 else f"{count / 1e6:.1f} MB"


def money(usd: float | None) -> str:
    """Write US dollars: ``$0.0042``, ``$12.30``; a dash where they are not known."""
    if usd is None:
        return "–"
    return f"${usd:,.2f}" if usd >= 1 or usd == 0 else f"${usd:.4f}"


def moment(seconds: float) -> datetime:
    """Turn seconds since 1970 into a time here; one that no calendar has becomes the nearest."""
    return datetime.fromtimestamp(min(max(seconds, 0.0), _LAST), UTC).astimezone()


def ago(seconds: float) -> str:
    """Say how long ago something was: ``3 hours ago``."""
    for size_, unit in _UNITS:
        if seconds >= size_:
            return f"{counted(int(seconds // size_), unit)} ago"
    return "just now"


def one_line(text: str, most: int = 120) -> str:
    """Return the beginning of a text as one line."""
    words = " ".join(text[: most * 4].split())
    return words if len(words) <= most else f"{words[: most - 1]}…"
