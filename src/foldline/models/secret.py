"""Keys: held so that no repr, log, error or traceback of Foldline shows them."""

from __future__ import annotations

from collections.abc import Iterable


class Secret:
    """
    A text that shows itself only when it is asked to.

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


def revealed(secrets: Iterable[Secret]) -> tuple[str, ...]:
    """Return the keys themselves, to be looked for."""
    return tuple(secret.reveal() for secret in secrets)
