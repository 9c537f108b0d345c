"""What turns texts into vectors; any model will do that keeps to this."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable


@runtime_checkable
class Embedder(Protocol):
    """A model of meaning."""

    @property
    def name(self) -> str:
        """Which model, and which version of it; vectors of different ones are never compared."""
        ...

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has."""
        ...

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """
        Return a vector of length 1 for each text.

        A failure is raised: zeros would be indexed, and never found again.
        """
        ...

    def understands(self, text: str) -> bool:
        """Tell whether the model was trained on the language of a text."""
        ...
