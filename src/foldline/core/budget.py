"""Token budgets of messages, and thresholds as fractions of the window."""

from __future__ import annotations

import re
from typing import Final, Self

from foldline.core.validation import positive, whole
from foldline.errors import BudgetError
from foldline.frozen import frozen, replace
from foldline.lazy import lazy_pattern

UNKNOWN_WINDOW = 128_000
"""Window assumed for an unknown model, in tokens."""

ACT, TARGET = 0.80, 0.40
"""Default thresholds, as fractions of the effective window."""


@frozen
class Budget:
    """
    The token budget of messages.

    ``limit`` is the maximum size of the messages, ``target`` the goal of a compaction, ``scale``
    the effective window that trigger fractions refer to, ``overhead`` the size of system prompt
    and tools: all in tokens. ``fixed`` is True if the caller gave one number: then nothing is due
    before the limit is passed. ``resolved`` is False for an assumed window. ``aim`` and ``most``
    are the fractions of the effective window from which target and limit were derived.
    """

    limit: int
    target: int
    scale: int
    overhead: int = 0
    fixed: bool = False
    resolved: bool = True
    aim: float = TARGET
    most: float = 1.0

    @classmethod
    def of_tokens(cls, tokens: int) -> Self:
        """
        Create the budget for a fixed number of tokens.

        Raises:
            BudgetError: The number is not positive.
        """
        if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens <= 0:
            raise BudgetError(
                f"The budget must be a positive whole number of tokens, not {tokens!r}.",
                hint="Give the maximum number of tokens of the messages.",
            )
        return cls(limit=tokens, target=tokens, scale=tokens, fixed=True)

    @classmethod
    def of_window(
        cls,
        window: int | None,
        *,
        output: int | None = None,
        margin: int | None = None,
        overhead: int = 0,
        target: float = TARGET,
        act: float = ACT,
        hard: float = 1.0,
        max_input: int | None = None,
    ) -> Self:
        """
        Derive the budget from a model's window.

        Args:
            window: The model's window in tokens; None if unknown.
            output: Tokens reserved for the answer; default min(16,384, an eighth of the window).
            margin: Tokens reserved for counting errors; default min(4,096, 2 % of the window).
            overhead: Tokens of system prompt and tool schemas.
            target: Fraction of the effective window that is the goal of a compaction.
            act: Fraction that triggers one; the target must be below it.
            hard: Maximum fraction for messages and overhead.
            max_input: The provider's input limit, in tokens, if less than the window.

        Raises:
            BudgetError: A number is out of range, or nothing is left for messages.
        """
        size = UNKNOWN_WINDOW if window is None else window
        if isinstance(size, bool) or not isinstance(size, int) or size <= 0:
            raise BudgetError(f"The window must be a positive whole number, not {size!r}.")
        reserve = min(16_384, size // 8) if output is None else output
        spare = min(4_096, size // 50) if margin is None else margin
        if reserve < 0 or spare < 0 or overhead < 0 or not 0 < target < act <= hard <= 1:
            raise BudgetError(
                f"Impossible budget: output {reserve}, margin {spare}, overhead {overhead}, "
                f"target {target}, hard limit {hard}.",
                hint=f"All must be positive, and the target below {act}.",
            )
        scale = size - reserve - spare
        if max_input is not None:
            scale = min(scale, max_input - spare)
        budget = cls(scale, scale, scale, resolved=window is not None, aim=target, most=hard)
        return budget.around(overhead)

    def around(self, overhead: int) -> Self:
        """
        Return the budget with another system prompt or other tools.

        Args:
            overhead: Their size, in tokens.

        Raises:
            BudgetError: Nothing is left for messages.
        """
        if self.fixed:
            return replace(self, overhead=overhead)
        limit = int(self.most * self.scale) - overhead
        if limit <= 0:
            raise BudgetError(
                f"Nothing is left for messages: system prompt and tools take {overhead:,} tokens, "
                f"the window less output reserve and margin is {self.scale:,}.",
                hint="Send fewer tool schemas, reserve less output, or use a larger window.",
            )
        # A large overhead must not reduce the target to nothing: keep its share of the rest.
        target = max(round(self.aim * self.scale) - overhead, round(self.aim * limit))
        return replace(self, limit=limit, target=target, overhead=overhead)

    def below(self, tokens: int) -> Self:
        """
        Return the budget for an explicit compaction, whose target is below the current size.

        Args:
            tokens: The size of the messages; if the target would free little or nothing, it
                becomes the usual share of that size.
        """
        if ACT * tokens > self.target:
            return self
        return replace(self, target=min(self.target, max(1, round(self.aim * tokens))))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings for the caller: an assumed window."""
        if self.resolved:
            return ()
        warning = (
            f"The window of the model is not known; {UNKNOWN_WINDOW:,} tokens are assumed. Give "
            "window, or a model that the catalogue knows."
        )
        return (warning,)

    def is_due(self, fraction: float, tokens: int) -> bool:
        """Return True if messages of ``tokens`` tokens have passed the trigger ``fraction``."""
        if self.fixed:
            return tokens > self.limit
        return tokens + self.overhead > fraction * self.scale or tokens > self.limit


_AMOUNT: Final = lazy_pattern(r"([0-9]{1,12}(?:[_,][0-9]{3}){0,4}(?:\.[0-9]{1,6})?)\s*([kKmM%]?)")
_FACTORS: Final = {"": 1, "k": 1_000, "m": 1_000_000}


@frozen
class Amount:
    """
    A number of tokens, or a share of a total.

    Args:
        text: The original text.
        tokens: The number, 0 for a share.
        share: The share as a fraction, 0 for a number.
    """

    text: str
    tokens: int = 0
    share: float = 0.0

    @classmethod
    def parse(cls, text: str, *, shares: bool = True) -> Amount:
        """
        Parse an amount.

        Args:
            text: Such as "8000", "8k" or "25%".
            shares: Whether percentages are accepted.

        Raises:
            BudgetError: It is not an amount, or leaves no room for anything.
        """
        word = text.strip()
        amount = _read(word, shares)
        if amount is None:
            share = ", 8k or 25%" if shares else " or 200k"
            raise BudgetError(f"{word[:40]!r} is not an amount: write tokens such as 8000{share}.")
        if not (amount.tokens or amount.share):
            raise BudgetError(f"{word[:40]!r} leaves no room for anything; it must be more.")
        return amount

    def of(self, whole: int) -> int:
        """Return the number of tokens, at least 1; a share is of ``whole`` tokens."""
        return max(1, int(self.share * whole)) if self.share else self.tokens


def _read(text: str, shares: bool) -> Amount | None:
    if text.startswith("-") and _AMOUNT.fullmatch(text[1:]):
        return Amount(text)  # a negative number is parsed, and rejected like zero
    found = _AMOUNT.fullmatch(text)
    if found is None:
        return None
    number, unit = float(re.sub("[_,]", "", found[1])), found[2].lower()
    if unit == "%":
        return Amount(text, share=number / 100) if shares else None
    return Amount(text, tokens=int(number * _FACTORS[unit]))


COMFORT = 400_000
"""Maximum fill of a large window, in tokens; quality falls long before ten million."""


@frozen
class Thresholds:
    """
    Fill levels that trigger actions, as fractions of the effective window.

    The effective window is the model's window less the output reserve and the margin. Old tool
    results are cleared from ``clear_at`` on, a warning is issued at ``warn_at``, a compaction
    starts at ``act_at``, down to ``target``; the messages never exceed ``hard_at``.

    Raises:
        BudgetError: The fractions are not in this order: 0 < target < act_at, and
            0 < clear_at <= warn_at < act_at < hard_at <= 1.
    """

    clear_at: float = 0.55
    warn_at: float = 0.70
    act_at: float = ACT
    hard_at: float = 1.0
    target: float = TARGET

    def __post_init__(self) -> None:
        for name in ("clear_at", "warn_at", "act_at", "hard_at", "target"):
            positive(f"thresholds.{name}", getattr(self, name), 1.0)
        self._check("clear_at", "warn_at", equal=True)
        self._check("warn_at", "act_at", equal=False)
        self._check("act_at", "hard_at", equal=False)
        self._check("target", "act_at", equal=False)
        if min(self.clear_at, self.warn_at, self.target) <= 0:
            raise BudgetError(
                "A threshold of 0 is always passed.", hint="Give more than 0 for each of them."
            )

    def _check(self, low: str, high: str, *, equal: bool) -> None:
        below, above = getattr(self, low), getattr(self, high)
        if below > above or (below == above and not equal):
            raise BudgetError(
                f"The threshold {low} ({below:g}) must be below {high} ({above:g}).",
                hint=f"Lower {low} or raise {high}.",
            )

    def within(self, tokens: int, scale: int) -> Thresholds:
        """
        Return thresholds scaled to act at a number of tokens at the latest.

        Args:
            tokens: The comfortable size of the messages, in tokens.
            scale: The effective window, in tokens.
        """
        whole("tokens", tokens, 1)
        if self.act_at * scale <= tokens:
            return self
        factor = tokens / (self.act_at * scale)
        lowered = ("clear_at", "warn_at", "act_at", "target")
        return replace(self, **{name: getattr(self, name) * factor for name in lowered})


@frozen
class Levels:
    """The thresholds in tokens of the whole context, including system prompt and tools."""

    target: int
    clear: int
    warn: int
    act: int
    hard: int


@frozen
class Room:
    """
    The window, and the parts of it reserved for other uses than messages, in tokens.

    ``window`` applies if neither the call nor the model defines one. ``output`` is reserved for
    the answer; None for min(16,384, an eighth of the window). ``margin`` is reserved for counting
    errors; None for min(4,096, 2 % of the window). ``max_input`` is the provider's input limit, if
    less than the window.

    Raises:
        BudgetError: A number is negative, or a window is not positive.
    """

    window: int | None = None
    output: int | None = None
    margin: int | None = None
    max_input: int | None = None

    def __post_init__(self) -> None:
        for name, least in (("window", 1), ("output", 0), ("margin", 0), ("max_input", 1)):
            value = getattr(self, name)
            if value is not None:
                whole(f"room.{name}", value, least)


@frozen
class Pacing:
    """
    The frequency of automatic compactions, and when one pays.

    ``growth`` is the minimum growth between two attempts, as a fraction of the effective window. A
    provider's prompt cache is assumed to have expired after ``cache_seconds`` idle seconds; while
    it is warm, a rewrite must pay for itself within ``requests`` requests.

    Raises:
        BudgetError: A number is negative.
    """

    growth: float = 0.05
    cache_seconds: float = 300.0
    requests: int = 20

    def __post_init__(self) -> None:
        positive("pace.growth", self.growth, 1.0)
        positive("pace.cache_seconds", self.cache_seconds)
        whole("pace.requests", self.requests)
