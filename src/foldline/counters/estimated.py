"""The counter for when no vocabulary is at hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from foldline.core.estimate import estimate
from foldline.core.estimate_weights import DEFAULT_FAMILY, WEIGHTS


@dataclass(frozen=True, slots=True)
class EstimatedCounter:
    """
    Estimates tokens with fitted weights.

    Args:
        family: Vocabulary to imitate; one without weights of its own counts as o200k.
    """

    exact: ClassVar[bool] = False
    family: str = DEFAULT_FAMILY

    @property
    def name(self) -> str:
        """``estimate:`` and the family whose weights are used."""
        return f"estimate:{self.family if self.family in WEIGHTS else DEFAULT_FAMILY}"

    def count(self, text: str) -> int:
        """Estimate the tokens of ``text``: 0 for the empty text, never an exception."""
        return estimate(text, self.family)
