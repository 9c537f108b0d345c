"""The shape of a fitted model of use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from foldline.core.names import Kind


@dataclass(frozen=True, slots=True)
class Model:
    """A logistic model: bias, one weight for every feature, and one for every kind of item."""

    bias: float
    weights: tuple[float, ...]
    kind: Mapping[Kind, float]
