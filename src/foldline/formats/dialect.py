"""What every wire format offers: decode, encode, validate; and the checks that they share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
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


@contextmanager
def bounded_nesting() -> Iterator[None]:
    """
    Name the reason when a value is nested deeper than the interpreter follows.

    Raises:
        InputError: Instead of the RecursionError.
    """
    try:
        yield
    except RecursionError as error:
        raise InputError(
            "A value is nested too deeply",
            hint="Flatten it; no model reads hundreds of levels.",
        ) from error


@dataclass(frozen=True, slots=True)
class PairingTurn:
    """
    What the rule looks at in one wire message.

    ``calls`` are the ids of its calls with their fields; ``answers`` is the id that a result
    names, None where the message is not a result.
    """

    index: int
    calls: tuple[tuple[str, str], ...] = ()
    answers: str | None = None


def pairing_violations(turns: Iterable[PairingTurn]) -> list[Violation]:
    """
    Report results without a call directly before, calls without a result, and repeated ids.

    The calls of the last message with calls may still wait while nothing else follows.
    """
    found: list[Violation] = []
    waiting: dict[str, Violation] = {}
    for turn in turns:
        if turn.answers is not None:
            if waiting.pop(turn.answers, None) is None:
                text = f"the result of {turn.answers!r} does not follow a message with that call"
                found.append(Violation(turn.index, "tool_call_id", "pairing", text))
            continue
        found += waiting.values()
        waiting = {}
        for number, field in turn.calls:
            if number in waiting:
                text = f"the id {number!r} occurs twice"
                found.append(Violation(turn.index, field, "duplicate", text))
            text = f"the call {number!r} has no result behind it"
            waiting[number] = Violation(turn.index, field, "pairing", text)
    return found
