"""Calibration of token counts to the usage that the provider reports."""

from __future__ import annotations

from typing import Final

from foldline.frozen import frozen

WEIGHT: Final = 0.2
"""Weight of a new observation in the mean."""

LARGEST_STEP: Final = 0.15
"""Maximum change of the ratio by one observation."""

LOWEST, HIGHEST = 0.5, 2.0
"""Bounds of the ratio."""


@frozen
class Calibration:
    """
    The ratio of reported tokens to counted tokens, updated with every response.

    An exponentially weighted mean, as in gemini-cli: a new observation has a weight of a fifth,
    changes the ratio by 0.15 at most, and the ratio stays between half and double, so that one
    outlier (a cached prefix, an aborted call) cannot distort the counts.

    Args:
        ratio: Reported over counted tokens; 1.0 before the first observation.
    """

    ratio: float = 1.0

    def observe(self, counted: int, reported: int, overhead: int = 0) -> Calibration:
        """
        Update the ratio with one response.

        Args:
            counted: Tokens of the request by our own count, before `apply`.
            reported: Input tokens of the request by the provider, cached ones included.
            overhead: Tokens within ``reported`` that ``counted`` does not cover (tool schemas).

        Returns:
            The calibration with the new ratio; the same object if ``counted`` is not positive.
        """
        if counted <= 0:
            return self
        seen = max(0, reported - overhead) / counted
        step = max(-LARGEST_STEP, min(LARGEST_STEP, WEIGHT * (seen - self.ratio)))
        return Calibration(max(LOWEST, min(HIGHEST, self.ratio + step)))

    def apply(self, tokens: int) -> int:
        """Correct a count, in tokens; a positive count stays positive."""
        return max(1, round(tokens * self.ratio)) if tokens > 0 else 0
