"""The transcript: all messages, in order, never edited in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foldline.errors import InputError
from foldline.frozen import field, frozen, replace
from foldline.values.identity import identify
from foldline.values.messages import Message


@frozen
class Transcript:
    """
    An immutable conversation with its surrounding wire data.

    ``system`` is the text of a system prompt outside the messages and ``tools`` the tool schemas
    as sent: both are counted, neither is changed. ``envelope`` is the rest of the input (a request
    body, a file's records); only its format reads it. ``warnings`` are sentences about unreadable
    input.
    """

    messages: tuple[Message, ...]
    dialect: str
    system: str = ""
    tools: tuple[Any, ...] = ()
    envelope: Any = field(default=None, repr=False, compare=False)
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, messages: Sequence[Message], dialect: str, **rest: Any) -> Transcript:
        """Create a transcript and assign an id to every message."""
        return cls(identify(messages), dialect, **rest)

    def with_messages(self, messages: Sequence[Message]) -> Transcript:
        """Return a copy with other messages."""
        return replace(self, messages=tuple(messages))

    def with_warning(self, warning: str) -> Transcript:
        """Return a copy with one more warning; the same object if it is empty."""
        return replace(self, warnings=(*self.warnings, warning)) if warning else self

    def resolve_id(self, message: int | str) -> str:
        """
        Return the id of a message.

        Args:
            message: Its position (a negative one counts from the end) or its id.

        Raises:
            InputError: There is no such message.
        """
        size = len(self.messages)
        if isinstance(message, int) and -size <= message < size:
            return self.messages[message].id
        if not any(message == known.id for known in self.messages):
            raise InputError(
                f"There is no message {str(message)[:40]}",
                hint=f"Give a position from 0 to {size - 1}, or the id of a message.",
            )
        return str(message)

    def pin(self, pins: Sequence[int | str]) -> Transcript:
        """
        Return a copy in which some messages are pinned.

        Args:
            pins: Positions (negative ones count from the end) or ids of messages.

        Raises:
            InputError: There is no such message.
        """
        size = len(self.messages)
        targets = {pin + size if isinstance(pin, int) and pin < 0 else pin for pin in pins}
        if not targets:
            return self
        known = {*range(size), *(message.id for message in self.messages)}
        missing = sorted(map(str, targets - known))
        if missing:
            raise InputError(
                f"There is no message to pin at {', '.join(missing)}",
                hint=f"Give positions from 0 to {size - 1}, or ids of messages.",
            )
        return self.with_messages(
            [
                replace(message, pinned=True) if targets & {index, message.id} else message
                for index, message in enumerate(self.messages)
            ]
        )
