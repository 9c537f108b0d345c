"""LangChain messages: thread state, serialized constructors, or the living objects themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from foldline.errors import InputError
from foldline.formats.dialect import Dialect, Violation
from foldline.formats.fields import expect
from foldline.formats.foreign import is_own
from foldline.formats.langchain.read import NAME, read_message
from foldline.formats.langchain.rules import violations
from foldline.formats.langchain.write import write_messages
from foldline.formats.langchain_shapes import TYPES, Shape, fields_of, new_message, shape_of
from foldline.values.messages import Message
from foldline.values.transcript import Transcript


@dataclass(frozen=True, slots=True)
class ThreadState:
    """
    What surrounded the messages.

    ``wire`` is the thread state (None for a bare list), ``shape`` the shape of the messages.
    """

    wire: dict[str, Any] | None = field(repr=False)
    shape: Shape


class LangChainDialect(Dialect):
    """The messages of LangChain and LangGraph."""

    name = NAME
    title = "LangChain messages"
    provider = "langchain"

    def recognises(self, wire: Any) -> float:
        """Return how sure it is that this value is in the dialect, from 0 to 1."""
        try:
            items = _items(wire)
        except InputError:
            return 0.0
        if not items or not all(_is_message(item) for item in items):
            return 0.0
        chat_types = {"human", "ai", "tool"}
        known = any(TYPES.get(str(fields_of(item).get("type"))) in chat_types for item in items)
        return 1.0 if known or shape_of(items[0]) != "dict" else 0.4

    read = staticmethod(read_message)
    rules = staticmethod(violations)

    def decode(self, wire: Any) -> Transcript:
        """Read a list of messages, ``{"messages": [...]}`` or a thread state with ``values``."""
        items = _items(wire)
        shape = shape_of(items[0]) if items else None
        state = ThreadState(wire if isinstance(wire, dict) else None, shape or "dict")
        return replace(super().decode(items), envelope=state)

    def encode(self, transcript: Transcript) -> Any:
        """Write a conversation in the shape in which it came; a foreign one becomes a list."""
        state = transcript.envelope
        if isinstance(state, ThreadState):
            items, wire = write_messages(transcript.messages, state.shape), state.wire
            if wire is None:
                return items
            if isinstance(wire.get("values"), dict):
                return {**wire, "values": {**wire["values"], "messages": items}}
            return {**wire, "messages": items}
        return self.convert(transcript, own=transcript.dialect == self.name)

    def convert(self, transcript: Transcript, *, own: bool) -> Any:
        """Write a list; a system prompt becomes the first message."""
        del own
        items = self.messages(transcript.messages)
        if transcript.system:
            items.insert(0, new_message("system", {"content": transcript.system}, "dict"))
        return items

    def messages(self, messages: Sequence[Message]) -> list[Any]:
        """Write messages; new ones have the shape of the first that was LangChain's before."""
        own = (message.raw for message in messages if is_own(message, self.name))
        return write_messages(messages, shape_of(next(own, {})) or "dict")

    def validate(self, wire: Any) -> list[Violation]:
        """Check what providers demand of a conversation."""
        try:
            items = _items(wire)
        except InputError as error:
            return [Violation(0, error.field, "type", error.message)]
        return self.rules(items)


def _items(wire: Any) -> list[Any]:
    items = wire
    if isinstance(wire, dict):
        inner = wire.get("values")
        items = inner.get("messages") if isinstance(inner, dict) else wire.get("messages")
    found: list[Any] = expect(items, list, None, "messages" if items is not wire else "")
    return found


def _is_message(item: Any) -> bool:
    if shape_of(item) is None:
        return False
    fields = fields_of(item)
    kind = fields.get("type")
    return isinstance(kind, str) and kind in TYPES and "content" in fields
