"""
Edits: the recorded changes of the view, and the one function that applies them.

Nothing is ever edited in place. ``apply(messages, edits)`` is the view; omitting the newest edits
is undo; repeating them on the next call keeps the prompt prefix stable.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from itertools import pairwise, takewhile
from typing import Generic, TypeAlias, TypeVar

from foldline.frozen import frozen, replace
from foldline.values.messages import Media, Message, Omitted, Part, Text, ToolCall, ToolResult


@frozen
class Rewrite:
    """
    Replace the text of one part; None omits the part.

    ``kind`` names the rung (clear, truncate, dedupe, reasoning, repair), ``handle`` recalls the
    original. Media inside a tool result are kept if ``keep_media`` is True.
    """

    message: str
    part: int
    text: str | None
    kind: str
    handle: str = ""
    keep_media: bool = False


@frozen
class Drop:
    """Omit messages."""

    messages: tuple[str, ...]
    kind: str
    handle: str = ""


@frozen
class Fold:
    """Replace messages by one, the snapshot, at the position of the first."""

    messages: tuple[str, ...]
    snapshot: Message
    kind: str = "summarize"


@frozen
class Insert:
    """Insert a message after the one with the id ``after`` ("" for the start)."""

    after: str
    message: Message
    kind: str = "repair"


@frozen
class Move:
    """Move a message behind another one."""

    message: str
    after: str
    kind: str = "repair"


Edit: TypeAlias = Rewrite | Drop | Fold | Insert | Move


def apply(messages: Iterable[Message], edits: Iterable[Edit]) -> tuple[Message, ...]:
    """
    Apply edits in order.

    An edit of messages that are not in the view has no effect, so that the edits of a session can
    always be replayed on its log.

    Args:
        messages: Messages with ids.
        edits: Edits in the order in which they were made.

    Returns:
        The view; unchanged messages are the same objects.
    """
    return tuple(apply_by_id({message.id: message for message in messages}, edits).values())


def apply_by_id(messages: dict[str, Message], edits: Iterable[Edit]) -> dict[str, Message]:
    """Apply edits to messages by id; see `apply`. The dictionary may be changed or replaced."""
    changing = _Changing(messages)
    for edit in edits:
        changing.take(edit)
    return changing.done()


class _Changing:
    """
    Messages while edits are applied to them, each in time proportional to the edit.

    The order is stored separately once an edit changes it, and changed messages are assembled
    after the last edit.
    """

    def __init__(self, messages: dict[str, Message]) -> None:
        self._messages = messages
        self._order: LinkedKeys[str] | None = None
        self._parts: dict[str, list[Part]] = {}

    def take(self, edit: Edit) -> None:
        """Apply one edit."""
        match edit:
            case Rewrite():
                self._rewrite(edit)
            case Drop():
                for number in edit.messages:
                    self._remove(number)
            case Fold():
                self._fold(edit)
            case Insert() if not edit.after or edit.after in self._messages:
                self._put(edit.message, edit.after or None)
            case Move() if edit.after != edit.message and edit.after in self._messages:
                message = self._messages.get(edit.message)
                if message is not None:
                    self._linked_order().remove(edit.message)
                    self._linked_order().put(edit.message, edit.after)

    def done(self) -> dict[str, Message]:
        """Return the edited messages."""
        for number, parts in self._parts.items():
            self._messages[number] = self._messages[number].with_parts(tuple(parts))
        if self._order is None:
            return self._messages
        return {number: self._messages[number] for number in self._order}

    def _linked_order(self) -> LinkedKeys[str]:
        if self._order is None:
            self._order = LinkedKeys(self._messages)
        return self._order

    def _rewrite(self, edit: Rewrite) -> None:
        message = self._messages.get(edit.message)
        if message is not None and 0 <= edit.part < len(message.parts):
            parts = self._parts.get(edit.message) or list(message.parts)
            self._parts[edit.message] = parts
            parts[edit.part] = rewrite_text(parts[edit.part], edit)

    def _remove(self, number: str) -> None:
        if self._messages.pop(number, None) is not None:
            self._parts.pop(number, None)
            if self._order is not None:
                self._order.remove(number)

    def _put(self, message: Message, after: str | None) -> None:
        """Place a message behind another one; a message already in the view is not moved."""
        if message.id not in self._messages:
            self._linked_order().put(message.id, after)
        self._parts.pop(message.id, None)
        self._messages[message.id] = message

    def _fold(self, edit: Fold) -> None:
        folded = self._messages.keys() & edit.messages
        if not folded:
            return
        if self._order is None and 2 * len(folded) >= len(self._messages):
            self._fold_most(edit.snapshot, folded)
            return
        order = self._linked_order()
        firsts = [number for number in folded if order.before(number) not in folded]
        first = firsts[0] if len(firsts) == 1 else next(one for one in order if one in folded)
        after = order.before(first)
        for number in folded:
            self._remove(number)
        if edit.snapshot.id not in self._messages:
            self._put(edit.snapshot, after)

    def _fold_most(self, snapshot: Message, folded: set[str]) -> None:
        """Fold most of the view: copying the rest is faster than removing many messages."""
        rest = {n: message for n, message in self._messages.items() if n not in folded}
        if snapshot.id not in rest:
            before = {n: rest[n] for n in takewhile(rest.__contains__, self._messages)}
            rest = before | {snapshot.id: snapshot} | rest
        self._messages = rest
        for number in self._parts.keys() & folded:
            del self._parts[number]


def following(ids: frozenset[str], edits: Iterable[Edit]) -> frozenset[str]:
    """
    Follow messages through a repair, which may replace them or add others beside them.

    Args:
        ids: Ids of messages before the edits.
        edits: Edits in the order in which they were made.

    Returns:
        The same ids and those of their replacements.
    """
    if not ids:
        return ids
    found = set(ids)
    for edit in edits:
        if edit.kind != "repair":
            continue
        if isinstance(edit, Fold) and not found.isdisjoint(edit.messages):
            found.add(edit.snapshot.id)
        elif isinstance(edit, Insert) and edit.after in found:
            found.add(edit.message.id)
    return frozenset(found)


def rewrite_part(message: Message, edit: Rewrite) -> Message:
    """Return the message with the text of one part replaced."""
    return message.with_part(edit.part, rewrite_text(message.parts[edit.part], edit))


def rewrite_text(part: Part, edit: Rewrite) -> Part:
    """Return a part with its text replaced, or a placeholder where the edit omits it."""
    if edit.text is None:
        return Omitted(edit.kind)
    match part:
        case ToolResult():
            kept = tuple(c for c in part.content if edit.keep_media and isinstance(c, Media))
            return replace(part, content=(Text(edit.text), *kept))
        case ToolCall():
            return replace(part, arguments=edit.text)
        case _:
            return Text(edit.text)


Key = TypeVar("Key", bound=Hashable)


class LinkedKeys(Generic[Key]):
    """
    A doubly linked list of unique keys; None is the start and the end.

    Args:
        keys: The initial keys, in order.
    """

    def __init__(self, keys: Iterable[Key]) -> None:
        ring = list(pairwise([None, *keys, None]))
        self._behind: dict[Key | None, Key | None] = dict(ring)
        self._before: dict[Key | None, Key | None] = {right: left for left, right in ring}

    def __iter__(self) -> Iterator[Key]:
        key = self._behind[None]
        while key is not None:
            yield key
            key = self._behind[key]

    def before(self, key: Key) -> Key | None:
        """Return the key before a key, None for the start."""
        return self._before[key]

    def remove(self, key: Key) -> None:
        """Remove a key."""
        left, right = self._before.pop(key), self._behind.pop(key)
        self._behind[left], self._before[right] = right, left

    def put(self, key: Key, after: Key | None) -> None:
        """Insert a new key after another one, None for the start."""
        right = self._behind[after]
        self._behind[after] = self._before[right] = key
        self._before[key], self._behind[key] = after, right
