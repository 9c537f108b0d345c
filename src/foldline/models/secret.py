"""Keys: held so that no repr, log, error or traceback shows them, and removed from streams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from foldline.models.completion import Delta
from foldline.redaction import SHORTEST, without


class Secret:
    """
    A text that only `reveal` returns.

    Args:
        value: The key; "" for none.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str = "") -> None:
        self._value = value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __repr__(self) -> str:
        return f"Secret({'***' if self._value else ''})"

    def __reduce__(self) -> str:
        raise TypeError("A key is not pickled.")

    def reveal(self) -> str:
        """Return the key itself."""
        return self._value


def reveal_all(secrets: Iterable[Secret]) -> tuple[str, ...]:
    """Return the keys themselves, to be looked for."""
    return tuple(secret.reveal() for secret in secrets)


class SecretFilter:
    """
    Holds back the end of a piece for as long as a key may begin there.

    Args:
        keys: What must not be shown.
    """

    def __init__(self, keys: Iterable[str]) -> None:
        self._keys = tuple(key for key in keys if len(key) >= SHORTEST)
        self._held: Delta | None = None

    def filter(self, deltas: Iterable[Delta]) -> Iterator[Delta]:
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

    def flush(self) -> Iterator[Delta]:
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
