"""Everything that can be set, in one immutable object that is validated when it is made."""

from __future__ import annotations

from dataclasses import dataclass, field

from foldline.core.spending import Limits


@dataclass(frozen=True, slots=True)
class Config:
    """
    How context is managed.

    ``limits`` is what one compaction may spend on a model.
    """

    limits: Limits = field(default_factory=Limits)
