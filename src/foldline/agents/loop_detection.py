"""Loops: the same calls with the same results again, or an answer that repeats itself."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections import deque
from typing import Final

from foldline.core.validation import whole
from foldline.frozen import frozen

SHORTEST: Final = 500
PERIOD: Final = 250
TIMES: Final = 10
"""A text repeats itself if up to 250 characters occur 10 times in a row and fill 500."""

CHECK_EVERY: Final = 100
"""The number of new characters between two checks, and the number kept besides."""

_STRUCTURE: Final = re.compile(r"^\s*(?:\||```|[-*+] |\d+[.)] |#{1,6} |>)", re.MULTILINE)
"""Lines of tables, code, lists, headings and quotes, which may legitimately repeat."""


@frozen
class LoopSettings:
    """
    Thresholds of the loop detection.

    A loop is a call, or a cycle of up to ``cycle`` calls, made ``repeats`` times in a row with
    the same results; or ``stale`` calls in a row that return nothing new. With 0 ``repeats``
    nothing counts as a loop.

    Raises:
        BudgetError: A number is out of range.
    """

    repeats: int = 5
    cycle: int = 5
    stale: int = 30

    def __post_init__(self) -> None:
        whole("loops.repeats", self.repeats)
        whole("loops.cycle", self.cycle, 1)
        whole("loops.stale", self.stale, 2)


class LoopDetector:
    """Watches the calls of one run."""

    def __init__(self, settings: LoopSettings) -> None:
        self._settings = settings
        self._calls: deque[bytes] = deque(maxlen=max(1, settings.repeats * settings.cycle))
        self._known: set[bytes] = set()
        self._stale = 0

    def check(self, name: str, arguments: str, result: str = "") -> str:
        """
        Return why a call is part of a loop, "" if it is not.

        Args:
            name: The name of the tool.
            arguments: JSON text; key order and whitespace are ignored.
            result: The output of the tool.
        """
        if not self._settings.repeats:
            return ""
        call = _fingerprint(name, arguments, result)
        self._calls.append(call)
        self._stale = self._stale + 1 if call in self._known else 0
        self._known.add(call)
        for period in range(1, self._settings.cycle + 1):
            if self._repeats(period):
                what = "This call was" if period == 1 else f"These {period} calls were"
                return f"{what} made {self._settings.repeats} times with the same result"
        if self._stale >= self._settings.stale:
            return f"The last {self._stale} calls returned nothing new"
        return ""

    def _repeats(self, period: int) -> bool:
        length = period * self._settings.repeats
        tail = list(self._calls)[-length:]
        return len(tail) == length and tail[period:] == tail[:-period]


def _fingerprint(name: str, arguments: str, result: str) -> bytes:
    with contextlib.suppress(ValueError, RecursionError):  # anything but JSON is used as it is
        arguments = json.dumps(json.loads(arguments), sort_keys=True)
    text = "\0".join((name, arguments, result))
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()


class RepetitionDetector:
    """Checks an answer for repetition while it arrives."""

    def __init__(self) -> None:
        self._text = ""
        self._fresh = 0
        self._fences = 0

    def repeats(self, piece: str) -> bool:
        """Return True if the answer now repeats itself, in plain text outside of code."""
        self._text += piece
        self._fresh += len(piece)
        if self._fresh < CHECK_EVERY:
            return False
        self._fresh = 0
        found = self._fences % 2 == 0 and "```" not in self._text and repeats_itself(self._text)
        most = TIMES * PERIOD + CHECK_EVERY
        if len(self._text) > most:
            self._fences += self._text[:-most].count("```")
            self._text = self._text[-most:]
        return found


def repeats_itself(text: str) -> bool:
    """Return True if a text ends with one repeated piece; lists and rows of symbols may repeat."""
    for period in range(1, PERIOD + 1):
        length = max(SHORTEST, TIMES * period)
        if len(text) < length:
            return False
        tail = text[-length:]
        if tail[period:] == tail[:-period]:
            piece = tail[:period]
            words = any(sign.isalnum() for sign in piece)
            return words and _STRUCTURE.search(tail) is None
    return False
