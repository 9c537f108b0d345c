"""Learning how far a token count is off from what the provider reports."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Calibration:
    """
    The ratio of reported tokens to counted tokens, learned from one response after another.

    An exponentially weighted mean, as gemini-cli keeps for its estimator: a new observation counts
    a fifth, one observation moves the ratio by 0.15 at most, and the ratio stays within half and
    double, so that one odd response (a cached prefix, an aborted call) cannot spoil the counting.

    Args:
        ratio: Reported over counted tokens; 1.0 before anything was observed.
        weight: Share of a new observation in the mean, above 0 up to 1.
        max_step: Largest change of the ratio by one observation.
        lowest: Smallest ratio.
        highest: Largest ratio.

    Raises:
        ValueError: A bound that leaves no ratio, or a weight or a step that is out of range.
    """

    ratio: float = 1.0
    weight: float = 0.2
    max_step: float = 0.15
    lowest: float = 0.5
    highest: float = 2.0

    def __post_init__(self) -> None:
        if not 0 < self.weight <= 1:
            raise ValueError(f"weight is {self.weight}; it must be above 0 and at most 1")
        if not self.max_step > 0:
            raise ValueError(f"max_step is {self.max_step}; it must be above 0")
        if not 0 < self.lowest <= self.ratio <= self.highest:
            raise ValueError(
                f"ratio {self.ratio} must lie within lowest {self.lowest} (above 0)"
                f" and highest {self.highest}"
            )

    def observe(self, counted: int, reported: int, overhead: int = 0) -> Calibration:
        """
        Learn from one response.

        Args:
            counted: Tokens of the request by our own count, before `apply`.
            reported: Input tokens of the request by the provider, cached ones included.
            overhead: Tokens within ``reported`` that ``counted`` does not cover (tool schemas).

        Returns:
            The calibration with the new ratio; the same object when ``counted`` is not positive.
        """
        if counted <= 0:
            return self
        seen = max(0, reported - overhead) / counted
        step = self.weight * (seen - self.ratio)
        step = max(-self.max_step, min(self.max_step, step))
        return replace(self, ratio=max(self.lowest, min(self.highest, self.ratio + step)))

    def apply(self, tokens: int) -> int:
        """Correct a count, in tokens; a positive count stays positive."""
        return max(1, round(tokens * self.ratio)) if tokens > 0 else 0
