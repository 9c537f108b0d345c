"""When the next automatic compaction may be tried, and whether the prompt cache is still warm."""

from __future__ import annotations

from dataclasses import dataclass, field

from foldline.core.budget import Budget
from foldline.core.thresholds import Pacing


@dataclass(slots=True)
class Pace:
    """
    What happened since the last attempt.

    ``grown`` is how many tokens were appended since, None before the first attempt; ``fitted``
    tells whether the view was within its limit after it. ``active`` is when the model last
    read the view, in seconds. ``rules`` are the numbers that this is judged by.
    """

    grown: int | None = None
    fitted: bool = False
    active: float = 0.0
    rules: Pacing = field(default_factory=Pacing)

    def grow(self, tokens: int) -> None:
        """Note that a message of so many tokens was appended."""
        if self.grown is not None:
            self.grown += tokens

    def attempted(self, fitted: bool, grown: int = 0) -> None:
        """Note an attempt, whether the view fitted after it, and what was appended since."""
        self.grown, self.fitted = grown, fitted

    def holds(self, budget: Budget, tokens: int) -> bool:
        """
        Tell whether an automatic attempt has to wait.

        It waits until the window has grown by ``rules.growth``, whatever the last one gave: one
        that freed nothing will not free more a message later, and one that just worked is not
        repeated. Only a view that has passed its limit since does not wait.
        """
        if self.grown is None or self.grown >= self.rules.growth * budget.scale:
            return False
        return not (self.fitted and self.grown and tokens > budget.limit)

    def is_cold(self, now: float) -> bool:
        """Tell whether the provider's cache has expired by ``now``, in seconds."""
        return now - self.active > self.rules.cache_seconds
