"""What every wire format offers: decode, encode, validate, and its way of writing a part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from foldline.errors import InputError
from foldline.values.messages import Message
from foldline.values.transcript import Transcript


@dataclass(frozen=True, slots=True)
class Violation:
    """
    One broken rule of a provider.

    ``index`` is the position of the wire message, ``field`` the path in it, ``rule`` a short name.
    """

    index: int
    field: str
    rule: str
    message: str

    def __str__(self) -> str:
        where = f"message {self.index}" + (f", field {self.field}" if self.field else "")
        return f"{where}: {self.message} [{self.rule}]"


class Dialect(Protocol):
    """
    A provider's wire format.

    ``decode`` accepts what people have at hand: the list of messages, or the whole request body.
    ``encode`` returns the same shape; messages that are ``intact`` and of this dialect are
    emitted as the very objects that came in, messages of another dialect are built from their
    parts. ``encode(decode(x))`` equals ``x`` for every valid ``x``.
    """

    name: str
    title: str
    provider: str

    def recognises(self, wire: Any) -> float:
        """Return how sure it is that this value is in the dialect, from 0 to 1."""
        ...

    def decode(self, wire: Any) -> Transcript:
        """
        Read a conversation.

        Raises:
            InputError: Naming the message index and the field.
        """
        ...

    def encode(self, transcript: Transcript) -> Any:
        """Write a conversation in the shape in which it came."""
        ...

    def messages(self, messages: Sequence[Message]) -> list[Any]:
        """Write messages only, without what surrounds them."""
        ...

    def validate(self, wire: Any) -> list[Violation]:
        """Check the provider's strict rules; an empty list means that it would be accepted."""
        ...


def expect(value: Any, kinds: type | tuple[type, ...], index: int | None, field: str) -> Any:
    """
    Return ``value`` if it has one of the types.

    Raises:
        InputError: Naming message, field, what was found and what was expected.
    """
    if isinstance(value, kinds) and not (isinstance(value, bool) and bool not in _tuple(kinds)):
        return value
    wanted = " or ".join(_NAMES.get(kind, kind.__name__) for kind in _tuple(kinds))
    found = _NAMES.get(type(value), type(value).__name__)
    raise InputError(f"expected {wanted}, found {found}", index=index, field=field)


def _tuple(kinds: type | tuple[type, ...]) -> tuple[type, ...]:
    return kinds if isinstance(kinds, tuple) else (kinds,)


_NAMES = {
    dict: "an object",
    list: "a list",
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}


def body(wire: Any, key: str) -> tuple[list[Any], dict[str, Any] | None]:
    """
    Split a request body into its messages and the rest.

    Args:
        wire: A list of messages, or a dict that holds them under ``key``.
        key: Where the messages are, such as "messages", "input" or "contents".

    Returns:
        The messages, and the body that held them (None when a bare list came).
    """
    if isinstance(wire, dict):
        return expect(wire.get(key), list, None, key), wire
    return expect(wire, list, None, ""), None
