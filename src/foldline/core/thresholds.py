"""When something happens: fractions of the window, what is left free, and how often to try."""

from __future__ import annotations

from foldline.core.budget import ACT, TARGET
from foldline.core.validation import positive, whole
from foldline.errors import BudgetError
from foldline.frozen import frozen, replace

COMFORT = 400_000
"""Tokens up to which a large window is filled; quality falls long before ten million."""


@frozen
class Thresholds:
    """
    How full the window is when something happens, as fractions of the effective window.

    That is the model's window less the output reserve and the margin. Old tool results are
    cleared from ``clear_at`` on, a warning is given at ``warn_at``, a compaction is made at
    ``act_at``, down to ``target``; the messages may never take more than ``hard_at``.

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
                f"The threshold {low} ({below:g}) has to lie below {high} ({above:g}).",
                hint=f"Lower {low} or raise {high}.",
            )

    def within(self, tokens: int, scale: int) -> Thresholds:
        """
        Return thresholds that act at so many tokens at the latest, in the same proportions.

        Args:
            tokens: What the messages may comfortably take.
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
    """The thresholds in tokens of the whole context, system prompt and tools included."""

    target: int
    clear: int
    warn: int
    act: int
    hard: int


@frozen
class Room:
    """
    The window, and what of it is not for messages, in tokens.

    ``window`` counts where neither the call nor the model tells one. ``output`` is reserved for
    the answer; None for min(16,384, an eighth of the window). ``margin`` is kept free for
    counting errors; None for min(4,096, 2 % of the window). ``max_input`` is the most that the
    provider takes, where that is less than the window.

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
    How often an automatic compaction is tried, and when one pays.

    ``growth`` is how much has to be appended between two attempts, as a fraction of the effective
    window. A provider's prompt cache is taken to have expired after ``cache_seconds`` idle
    seconds; while it is warm, a rewrite has to pay for itself within ``requests`` requests.

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
