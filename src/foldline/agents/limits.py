"""What ends a run: the limits of what it may spend, and loops; and how it ended."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections import deque
from dataclasses import asdict
from typing import Any, Final, Literal, TypeAlias

from foldline.core.validation import positive, whole
from foldline.errors import InputError
from foldline.frozen import field, frozen, replace
from foldline.models.completion import Completion
from foldline.tools.output import ToolOutput
from foldline.values.messages import Usage

Status: TypeAlias = Literal[
    "done", "steps", "time", "money", "loop", "refused", "length", "silent"
]
"""
How a run ended: the model was done; a limit of steps, time or money was reached; it looped,
refused, reached the cap of its answer without a word or call, or said nothing at all.
"""


@frozen
class AgentLimits:
    """
    The most that an agent may spend on a task, resumed runs included.

    ``steps`` are requests to the model, ``seconds`` those while it runs. ``usd`` is in US dollars,
    None for no limit; the step that passes it is the last one. A step whose answer broke off, or
    said nothing, is made again up to ``retries`` times.

    Raises:
        BudgetError: A number is out of range.
    """

    steps: int = 100
    seconds: float = 3_600.0
    usd: float | None = None
    retries: int = 2

    def __post_init__(self) -> None:
        whole("limits.steps", self.steps, 1)
        positive("limits.seconds", self.seconds)
        if self.usd is not None:
            positive("limits.usd", self.usd)
        whole("limits.retries", self.retries)


@frozen
class AgentSpending:
    """
    What was spent so far.

    ``usd`` is in US dollars as far as known; ``unpriced`` counts the steps whose price is not.
    """

    steps: int = 0
    calls: int = 0
    usd: float = 0.0
    unpriced: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0

    def with_answer(self, answer: Completion) -> AgentSpending:
        """Return the sum with an answer of the model."""
        usage = answer.usage or Usage()
        return replace(
            self,
            steps=self.steps + 1,
            usd=self.usd + (answer.usd or 0.0),
            unpriced=self.unpriced + (answer.usd is None),
            input_tokens=self.input_tokens + usage.total - usage.output,
            output_tokens=self.output_tokens + usage.output,
        )

    def with_call(self, output: ToolOutput) -> AgentSpending:
        """Return the sum with a tool call; a tool that asks models says what it paid."""
        paid = output.stats.get("usd", 0.0)
        usd = paid if isinstance(paid, int | float) and paid > 0 else 0.0
        return replace(self, calls=self.calls + 1, usd=self.usd + usd)

    def limit_reached(self, limits: AgentLimits) -> tuple[Status, str] | None:
        """Return which limit is reached, and a sentence on it; None while none is."""
        if self.steps >= limits.steps:
            return "steps", f"the limit of {limits.steps} steps is reached"
        if self.seconds >= limits.seconds:
            return "time", f"the limit of {limits.seconds:g} seconds is reached"
        if limits.usd is None:
            return None
        if self.unpriced:
            return "money", "the price of the model is not known, and money is limited"
        if self.usd >= limits.usd:
            return "money", f"{self.usd:.4f} of {limits.usd:.4f} US dollars are spent"
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, value: Any) -> AgentSpending:
        """
        Read what `to_dict` returned.

        Raises:
            InputError: It is something else.
        """
        try:
            found = cls(**value)
            for name, number in asdict(found).items():
                positive(name, number)
        except (TypeError, ValueError) as error:
            raise InputError(f"this is not what an agent spent: {error}") from error
        return found


@frozen
class AgentResult:
    """
    How a run ended.

    ``text`` is what the model said last. ``note`` is one sentence on why the run ended, "" when
    the model was done.
    """

    status: Status
    text: str
    spending: AgentSpending = field(default_factory=AgentSpending)
    note: str = ""

    def __str__(self) -> str:
        spent = f"{self.spending.steps} steps, {self.spending.usd:.4f} US dollars"
        return f"{self.status} ({spent}): {self.note or self.text}"


# --- loops ---------------------------------------------------------------------------------

SHORTEST: Final = 500
PERIOD: Final = 250
TIMES: Final = 10
"""A text repeats itself when up to 250 characters stand 10 times in a row, and fill 500."""

LOOK_EVERY: Final = 100
"""So many new characters are waited for between two looks at a text, and kept besides."""

_STRUCTURE: Final = re.compile(r"^\s*(?:\||```|[-*+] |\d+[.)] |#{1,6} |>)", re.MULTILINE)
"""Lines of tables, code, lists, headings and quotes, which may well look the same."""


@frozen
class LoopSettings:
    """
    When calls count as a loop.

    That is so when a call, or a cycle of up to ``cycle`` calls, came ``repeats`` times in a row
    with the same results; or when nothing new came of ``stale`` calls in a row. With 0
    ``repeats`` nothing does.

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
        Return why a call is part of a loop, "" when it is not.

        Args:
            name: Of the tool.
            arguments: JSON text; the order of names and the blanks do not matter.
            result: What it returned.
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
            return f"The last {self._stale} calls brought nothing new"
        return ""

    def _repeats(self, period: int) -> bool:
        length = period * self._settings.repeats
        tail = list(self._calls)[-length:]
        return len(tail) == length and tail[period:] == tail[:-period]


def _fingerprint(name: str, arguments: str, result: str) -> bytes:
    with contextlib.suppress(ValueError, RecursionError):  # what is no JSON is taken as it is
        arguments = json.dumps(json.loads(arguments), sort_keys=True)
    text = "\0".join((name, arguments, result))
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()


class RepetitionDetector:
    """Watches an answer while it arrives."""

    def __init__(self) -> None:
        self._text = ""
        self._fresh = 0
        self._fences = 0

    def repeats(self, piece: str) -> bool:
        """Return True if the answer repeats itself by now, in plain text outside of code."""
        self._text += piece
        self._fresh += len(piece)
        if self._fresh < LOOK_EVERY:
            return False
        self._fresh = 0
        found = self._fences % 2 == 0 and "```" not in self._text and repeats_itself(self._text)
        most = TIMES * PERIOD + LOOK_EVERY
        if len(self._text) > most:
            self._fences += self._text[:-most].count("```")
            self._text = self._text[-most:]
        return found


def repeats_itself(text: str) -> bool:
    """Return True if a text ends with one piece over and over; lines and lists of signs may."""
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
