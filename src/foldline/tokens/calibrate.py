"""Learning how far a token count is off from what the provider reports."""

from __future__ import annotations

from typing import Final

from foldline.frozen import frozen

WEIGHT: Final = 0.2
"""Share of a new observation in the mean."""

LARGEST_STEP: Final = 0.15
"""How far one observation moves the ratio at most."""

LOWEST, HIGHEST = 0.5, 2.0
"""Within what the ratio stays."""


@frozen
class Calibration:
    """
    The ratio of reported tokens to counted tokens, learned from one response after another.

    An exponentially weighted mean, as gemini-cli keeps for its estimator: a new observation counts
    a fifth, one observation moves the ratio by 0.15 at most, and the ratio stays within half and
    double, so that one odd response (a cached prefix, an aborted call) cannot spoil the counting.

    Args:
        ratio: Reported over counted tokens; 1.0 before anything was observed.
    """

    ratio: float = 1.0

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
        step = max(-LARGEST_STEP, min(LARGEST_STEP, WEIGHT * (seen - self.ratio)))
        return Calibration(max(LOWEST, min(HIGHEST, self.ratio + step)))

    def apply(self, tokens: int) -> int:
        """Correct a count, in tokens; a positive count stays positive."""
        return max(1, round(tokens * self.ratio)) if tokens > 0 else 0
