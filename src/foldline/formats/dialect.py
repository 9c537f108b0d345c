"""The interface of every wire format (decode, encode, validate), and shared checks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

from foldline.errors import InputError
from foldline.formats.fields import body, bounded_nesting
from foldline.frozen import frozen
from foldline.values.messages import Message
from foldline.values.transcript import Transcript


@frozen
class Violation:
    """
    One violation of a provider's rules.

    ``index`` is the position of the wire message, ``field`` the path in it, ``rule`` a short name.
    """

    index: int
    field: str
    rule: str
    message: str

    def __str__(self) -> str:
        where = f"message {self.index}" + (f", field {self.field}" if self.field else "")
        return f"{where}: {self.message} [{self.rule}]"


class Dialect(ABC):
    """
    A provider's wire format.

    ``decode`` accepts the list of messages, or the whole request body,
    which has them under ``key``. ``encode`` returns the same shape; messages that are ``intact``
    and of this dialect are emitted as the original objects, messages of another dialect are built
    from their parts. ``encode(decode(x))`` equals ``x`` for every valid ``x``.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    provider: ClassVar[str]
    key: ClassVar[str] = "messages"

    @abstractmethod
    def recognises(self, wire: Any) -> float:
        """Return the confidence that a value is in this dialect, from 0 to 1."""

    @abstractmethod
    def read(self, item: Any, index: int) -> Message:
        """
        Read one message.

        Raises:
            InputError: Naming the message index and the field.
        """

    def unwrap(self, wire: Any) -> tuple[list[Any], Any]:
        """
        Return the messages of a value, and the body that held them; None for a bare list.

        Raises:
            InputError: It holds no list of messages.
        """
        return body(wire, self.key)

    def link(self, messages: list[Message]) -> list[Message]:
        """Return messages completed with data from neighbouring messages."""
        return messages

    def system_and_tools(self, around: dict[str, Any]) -> tuple[str, tuple[Any, ...]]:
        """Return the system text and the tools of a request body."""
        tools = around.get("tools")
        return "", tuple(tools) if isinstance(tools, list) else ()

    def decode(self, wire: Any) -> Transcript:
        """
        Read a conversation: a list of messages, or a request body.

        Raises:
            InputError: Naming the message index and the field.
        """
        items, envelope = self.unwrap(wire)
        with bounded_nesting():
            around = envelope if isinstance(envelope, dict) else {}
            system, tools = self.system_and_tools(around)
            messages = self.link([self.read(item, index) for index, item in enumerate(items)])
            return Transcript.of(
                messages, self.name, system=system, tools=tools, envelope=envelope
            )

    def encode(self, transcript: Transcript) -> Any:
        """
        Write a conversation in its original shape.

        One of another dialect becomes a list, or a request body if it has a system prompt or
        tools that a list cannot hold.
        """
        own, envelope = transcript.dialect == self.name, transcript.envelope
        if own and isinstance(envelope, dict) and self.key in envelope:
            return {**envelope, self.key: self.messages(transcript.messages)}
        return self.convert(transcript, own=own)

    @abstractmethod
    def convert(self, transcript: Transcript, *, own: bool) -> Any:
        """Write a conversation that has no request body, or is of another dialect."""

    @abstractmethod
    def messages(self, messages: Sequence[Message]) -> list[Any]:
        """Write only the messages, without a body; one may become several, or none."""

    def validate(self, wire: Any) -> list[Violation]:
        """Check the provider's strict rules; an empty list means that the value is valid."""
        try:
            items, around = self.unwrap(wire)
        except InputError as error:
            return [Violation(0, error.field, "type", error.message)]
        return [*self.rules(items), *self.body_rules(around if isinstance(around, dict) else {})]

    @abstractmethod
    def rules(self, items: list[Any], /) -> list[Violation]:
        """Check messages against the strict rules of the API."""

    def body_rules(self, _: dict[str, Any]) -> Iterable[Violation]:
        """Check the request body that the messages came in."""
        return ()


def in_body(items: list[Any], key: str, around: Mapping[str, Any]) -> Any:
    """
    Return a list of messages, wrapped in a request body if there are other fields.

    Args:
        items: The messages.
        key: The field of the body that holds them.
        around: Further fields of the body; empty ones are omitted.
    """
    filled = {name: value for name, value in around.items() if value}
    return {**filled, key: items} if filled else items


@frozen
class PairingTurn:
    """
    The input of the pairing rule for one wire message.

    ``calls`` are the ids of its calls with their fields; ``answers`` is the call id of a result,
    None if the message is not a result.
    """

    index: int
    calls: tuple[tuple[str, str], ...] = ()
    answers: str | None = None


def check_pairing(checked: Iterable[Violation | PairingTurn]) -> list[Violation]:
    """
    Report results without a call directly before, calls without a result, and repeated ids.

    The calls of the last message with calls may be pending if nothing else follows.

    Args:
        checked: The turns, and the violations already found.

    Returns:
        All violations in the order of the messages.
    """
    found: list[Violation] = []
    late: list[Violation] = []
    waiting: dict[str, Violation] = {}
    for turn in checked:
        if isinstance(turn, Violation):
            found.append(turn)
            continue
        if turn.answers is not None:
            if waiting.pop(turn.answers, None) is None:
                text = f"the result of {turn.answers!r} does not follow a message with that call"
                late.append(Violation(turn.index, "tool_call_id", "pairing", text))
            continue
        late += waiting.values()
        waiting = {}
        for number, field in turn.calls:
            if number in waiting:
                text = f"the id {number!r} occurs twice"
                late.append(Violation(turn.index, field, "duplicate", text))
            text = f"the call {number!r} has no result behind it"
            waiting[number] = Violation(turn.index, field, "pairing", text)
    return sorted([*found, *late], key=lambda violation: violation.index)


FieldCheck: TypeAlias = tuple[str, Callable[[Any], Any], str, str]
"""The name of a field, the check of its value, and the rule and message of a violation."""


def check_fields(
    wire: Mapping[str, Any], checks: Iterable[FieldCheck], index: int, path: str = ""
) -> Iterator[Violation]:
    """
    Check fields of an object.

    Args:
        wire: The object.
        checks: The checks to apply.
        index: Position of its message.
        path: Its path in the message, "" for the message itself.
    """
    for field, is_good, rule, message in checks:
        if not is_good(wire.get(field)):
            yield Violation(index, f"{path}.{field}" if path else field, rule, message)


def is_a(*kinds: type) -> Callable[[Any], bool]:
    """Return a check that a value has one of some types."""
    return lambda value: isinstance(value, kinds)


def is_filled(value: Any) -> bool:
    """Return True for a string that is not empty."""
    return isinstance(value, str) and bool(value)
