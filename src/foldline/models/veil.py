"""A stream without the key: a server may echo it, cut in two between pieces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from foldline.models.completion import Delta
from foldline.redaction import SHORTEST, without


class Veil:
    """
    Holds back the end of a piece for as long as a key may begin there.

    Args:
        keys: What must not be shown.
    """

    def __init__(self, keys: Iterable[str]) -> None:
        self._keys = tuple(key for key in keys if len(key) >= SHORTEST)
        self._held: Delta | None = None

    def over(self, deltas: Iterable[Delta]) -> Iterator[Delta]:
        """Yield pieces without keys; an end that may begin one comes with a later piece."""
        for piece in deltas:
            if not self._keys:
                yield piece
                continue
            delta = replace(piece, name=without(piece.name, self._keys))
            held, self._held = self._held, None
            if held is not None and (held.kind, held.index) != (delta.kind, delta.index):
                yield held
                held = None
            text = without((held.text if held else "") + delta.text, self._keys)
            end = len(text) - self._begun(text)
            if text[end:]:
                self._held = replace(delta, text=text[end:], name="")
            if text[:end] or delta.name or not text:
                yield replace(delta, text=text[:end])

    def rest(self) -> Iterator[Delta]:
        """Yield what is held back at the end."""
        if self._held is not None:
            yield self._held
            self._held = None

    def _begun(self, text: str) -> int:
        """Return how many characters at the end of a text may begin a key."""
        longest = 0
        for key in self._keys:
            for size in range(min(len(key) - 1, len(text)), longest, -1):
                if text.endswith(key[:size]):
                    longest = size
                    break
        return longest
