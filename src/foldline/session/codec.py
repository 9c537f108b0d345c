"""Conversion between the wire, messages, and the JSON in which messages are stored."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from foldline.errors import InputError
from foldline.formats.dialect import Dialect
from foldline.formats.registry import detect_with_score, dialect, message_problem
from foldline.frozen import replace
from foldline.session.damage import interpreting
from foldline.stores.protocol import StoredMessage
from foldline.values.edit_json import message_from_json, message_to_json
from foldline.values.identity import content_hash
from foldline.values.messages import Message, Opaque

SURE: Final = 0.9
"""Minimum certainty at which a message settles the dialect of its session."""

CONTEXT: Final = 16
"""Number of messages before a tool result that are searched for its call."""

OBJECT: Final = "foldline.object"
"""Key that marks a JSON value as a message object of LangChain."""

PLAIN: Final = "value"
"""Marker in place of a class name: the fields are the wire value itself."""


class Codec:
    """
    The dialect in which the messages of one session are read and written.

    Args:
        dialect: The dialect; None to detect it from the messages.
        named: Whether the caller named it: then it is certain, and unknown messages are kept.
    """

    def __init__(self, dialect: Dialect | None, *, named: bool = True) -> None:
        self.dialect = dialect
        self.named = self.settled = named and dialect is not None

    @property
    def name(self) -> str:
        """The name of the dialect, "" while it is unknown."""
        return "" if self.dialect is None else self.dialect.name

    def choose(self, wires: list[Any], log: Sequence[Message]) -> tuple[Dialect, bool]:
        """
        Return the dialect for new messages, and whether they make it final.

        Two dialects may agree on plain text and differ on the first tool call. Then the session
        switches to the other dialect, provided that it reads the whole log the same.

        Raises:
            InputError: No dialect recognises the messages.
        """
        if not self.named:
            _check_roles(wires)
        if self.dialect is not None and self.settled:
            return self.dialect, True
        if self.dialect is not None and self.dialect.recognises(wires) >= SURE:
            return self.dialect, True
        try:
            found, sure = detect_with_score(wires)
        except InputError:
            if self.dialect is None:
                raise
            return self.dialect, False  # as the messages before; its reader says what is wrong
        if self.dialect is None or (sure >= SURE and _reads_same(found, log)):
            return found, sure >= SURE
        return self.dialect, False

    def follow(self, name: str) -> None:
        """Switch to the dialect recorded in the store, if it is another one."""
        if name and name != self.name:
            self.dialect = dialect(name)

    def settle(self, dialect: Dialect, *, final: bool) -> None:
        """Use a dialect from now on; final means that only this dialect fits the messages."""
        self.dialect = dialect
        self.settled = self.settled or final


def _check_roles(wires: Sequence[Any]) -> None:
    """Refuse roles that no dialect knows; items that have a type may be what a provider made."""
    for index, wire in enumerate(wires):
        if isinstance(wire, dict) and "role" in wire and "type" not in wire:
            problem = message_problem(wire, index)
            if problem is not None:
                raise problem


def read(dialect: Dialect, wires: list[Any], log: Sequence[Message]) -> list[tuple[Message, Any]]:
    """
    Read new messages.

    Args:
        dialect: The dialect of the session.
        wires: The wire messages.
        log: The messages before them.

    Returns:
        Each message, with its content hash as id, and its form: the message as a JSON value if it
        cannot be read from its wire message alone, else None.

    Raises:
        InputError: A message cannot be read; ``index`` is its position in ``wires``.
    """
    messages = dialect.decode(wires).messages
    if len(messages) != len(wires):
        raise InputError(
            f"{len(wires)} wire messages were read as {len(messages)}",
            hint="Append wire messages one by one, not request bodies.",
        )
    out: list[tuple[Message, Any]] = []
    for index, message in enumerate(messages):
        _check_calls(dialect, message, index)
        alone = dialect.decode([message.raw]).messages[0] if len(messages) > 1 else message
        if alone.results:
            recent = [*log[-CONTEXT:], *(message for message, _ in out[-CONTEXT:])]
            out.append(_in_context(dialect, alone, recent[-CONTEXT:]))
        else:
            out.append((alone, None))
    return out


def _check_calls(dialect: Dialect, message: Message, index: int) -> None:
    """Refuse calls and results in the notation of another dialect: nothing here pairs them."""
    wire = message.raw
    if message.calls or message.results or not isinstance(wire, dict):
        return
    carried = any(isinstance(part, Opaque) for part in message.parts)
    if not carried and wire.keys().isdisjoint(_CALLS):
        return
    try:
        other, sure = detect_with_score([wire])
        seen = other.decode([wire]).messages[0]
    except InputError:
        return
    if other is not dialect and sure == 1.0 and (seen.calls or seen.results):
        raise InputError(
            f"it holds a tool call or result of the format {other.name}",
            index=index,
            hint=f"The session is in {dialect.name}; write it so, or start another session.",
        )


_CALLS: Final = frozenset({"tool_calls", "tool_call_id", "function_call"})
"""Fields of messages that hold a call or a result."""


def _in_context(
    dialect: Dialect, alone: Message, recent: Sequence[Message]
) -> tuple[Message, Any]:
    """Read a tool result together with its call; some wires pair them by name and order."""
    known = {call.id for message in recent for call in message.calls if call.id}
    if all(result.call_id in known for result in alone.results):
        return alone, None
    wires = [message.raw for message in recent]
    message = dialect.decode([*wires, alone.raw]).messages[-1]
    if message == alone:
        return alone, None
    message = replace(message, id=content_hash(message))
    return message, message_to_json(replace(message, raw=None), freeze)


def reread(dialect: Dialect, log: Sequence[Message]) -> list[Message]:
    """Read a log in another dialect; ids, pins and usage are kept."""
    messages = dialect.decode([message.raw for message in log]).messages
    return [
        replace(new, id=old.id, pinned=old.pinned, usage=old.usage)
        for new, old in zip(messages, log, strict=True)
    ]


def _reads_same(dialect: Dialect, log: Sequence[Message]) -> bool:
    try:
        return reread(dialect, log) == list(log)
    except (InputError, ValueError):
        return False


# --- storage -------------------------------------------------------------------------------


def encode_stored(message: Message, form: Any, time: float) -> StoredMessage:
    """
    Return a message as it is stored.

    Args:
        message: The message.
        form: See `read`.
        time: In seconds since 1970.
    """
    wire = freeze(message.raw)
    return StoredMessage(
        message.id, message.role, wire, form, time, pinned=message.pinned, usage=message.usage
    )


def decode_stored(dialect: Dialect | None, stored: StoredMessage) -> Message:
    """
    Restore a stored message; its id is the content hash, as when it was first read.

    ``dialect`` may be None if the message was stored with its form.

    Raises:
        StoreError: This version of Foldline cannot read it.
    """
    with interpreting(f"The stored message {stored.id}"):
        raw = thaw(stored.wire)
        if stored.form is not None:
            return replace(message_from_json(stored.form, thaw), raw=raw)
        if dialect is not None:
            return dialect.decode([raw]).messages[0]
        raise InputError("its format is not known")


def freeze(raw: Any) -> Any:
    """
    Convert a wire message into a JSON value; only LangChain's message objects need this.

    The ``artifact`` of a tool message, which the model does not see, is dropped if it is not
    JSON. A value of the user that looks like the marker is marked itself.
    """
    if isinstance(raw, dict) and raw.keys() == {OBJECT, "fields"}:
        return {OBJECT: PLAIN, "fields": raw}
    if raw is None or isinstance(raw, (dict, list, str, int, float)):
        return raw
    if isinstance(raw, tuple):
        return [freeze(piece) for piece in raw]
    dump = getattr(raw, "model_dump", None)
    if dump is None:
        raise InputError(
            f"A message of the type {type(raw).__name__} cannot be stored",
            hint="Give messages as JSON values, or as messages of langchain_core.",
        )
    fields = dump()
    try:
        json.dumps(fields.get("artifact"))
    except (TypeError, ValueError):
        fields["artifact"] = None
    return {OBJECT: type(raw).__name__, "fields": fields}


def thaw(value: Any) -> Any:
    """
    Convert a JSON value back into the wire message.

    Raises:
        InputError: It is an object of LangChain, which is not installed.
    """
    if not isinstance(value, dict) or value.keys() != {OBJECT, "fields"}:
        return value
    name = value[OBJECT]
    if name == PLAIN:
        return value["fields"]
    from foldline.formats.langchain_shapes import restore_message

    return restore_message(name, value["fields"])
