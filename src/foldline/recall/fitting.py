"""Size limits in tokens or characters, and how much of a text fits into them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from foldline.errors import RecallError
from foldline.values.tokens import TokenCounter

Fits: TypeAlias = Callable[[str], bool]
"""Returns True if a text is small enough; a longer text must never fit if a shorter does not."""


LEAST: Final = 24
"""Characters around a word; where there is room for fewer, nothing says where the rest is."""


def cap(max_tokens: int | None, max_chars: int | None, counter: TokenCounter | None) -> Fits:
    """
    Return the check of a page against its limits.

    Raises:
        RecallError: A limit is not positive, or a limit in tokens has no counter.
    """
    if min((n for n in (max_tokens, max_chars) if n is not None), default=1) < 1:
        raise RecallError("max_tokens and max_chars must be positive.")
    if max_tokens is not None and counter is None:
        raise RecallError("max_tokens needs a counter.", hint="Give max_chars instead.")

    def fits(text: str) -> bool:
        if max_chars is not None and len(text) > max_chars:
            return False
        return max_tokens is None or counter is None or counter.text(text) <= max_tokens

    return fits


def most(count: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number up to ``count`` that fits, by binary search; 0 if none does."""
    low, high = 0, count + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def clip(text: str, fits: Fits) -> str:
    """Return the beginning of a text that fits, cut after a word where that costs little."""
    if fits(text):
        return text
    size = most(len(text), lambda end: fits(f"{text[:end]}…"))
    blank = text.rfind(" ", size - size // 8, size)
    # In rare cases the beginning of a word takes fewer tokens than no word.
    if blank > 0 and fits(shorter := f"{text[:blank]}…"):
        return shorter
    return f"{text[:size]}…" if size else ""


def cut_around(text: str, position: int, size: int) -> str:
    """Return so many characters of a text, most of them from a position on."""
    start = max(0, min(position - size // 4, len(text) - size))
    end = start + size
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def note_cut(rests: Sequence[str]) -> str:
    """Say how the first of lines that are cut is recalled, and how many others are cut."""
    others = len(set(rests)) - 1
    return f"Cut: {rests[0]}{f' and {others:,} more' if others else ''}" if rests else ""


def page_end(text: str, start: int, fits: Fits) -> int:
    """
    Return the end of the page from ``start``, after a line where that costs little.

    Args:
        text: The whole text.
        start: Start of the page, in characters.
        fits: The size limit.
    """
    rest = text[start:]
    if fits(rest):
        return len(text)
    size = most(len(rest), lambda end: fits(rest[:end]))
    line = rest.rfind("\n", size // 2, size) + 1
    return start + max(1, line or size)
