"""
Edits: the recorded changes of what is shown, and the one function that applies them.

Nothing is ever edited in place. ``apply(messages, edits)`` is the view; leaving out the newest
edits is undo; repeating them on the next call keeps the prompt prefix stable.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

from foldline.core.messages import Media, Message, Omitted, Part, Text, ToolCall, ToolResult


@dataclass(frozen=True, slots=True)
class Rewrite:
    """
    Show other text in place of one part; None leaves the part out.

    ``kind`` names the rung (clear, truncate, dedupe, reasoning, repair), ``handle`` is where the
    original is recalled. Media inside a tool result stay where ``keep_media`` says so.
    """

    message: str
    part: int
    text: str | None
    kind: str
    handle: str = ""
    keep_media: bool = False


@dataclass(frozen=True, slots=True)
class Drop:
    """Leave messages out."""

    messages: tuple[str, ...]
    kind: str
    handle: str = ""


@dataclass(frozen=True, slots=True)
class Fold:
    """Show one message, the snapshot, in place of many; it stands where the first one stood."""

    messages: tuple[str, ...]
    snapshot: Message
    kind: str = "summarize"


@dataclass(frozen=True, slots=True)
class Insert:
    """Show a message that nobody sent, behind the one with the id ``after`` ("" for the start)."""

    after: str
    message: Message
    kind: str = "repair"


@dataclass(frozen=True, slots=True)
class Move:
    """Show a message behind another one than it came."""

    message: str
    after: str
    kind: str = "repair"


Edit: TypeAlias = Rewrite | Drop | Fold | Insert | Move


def apply(messages: Iterable[Message], edits: Iterable[Edit]) -> tuple[Message, ...]:
    """
    Apply edits in order.

    An edit that names messages which are not shown (any more) has no effect, so that the edits of
    a session can always be replayed on its log.

    Args:
        messages: Messages with ids.
        edits: Edits in the order in which they were made.

    Returns:
        What the model sees; untouched messages are the same objects.
    """
    return tuple(applied({message.id: message for message in messages}, edits).values())


def applied(shown: dict[str, Message], edits: Iterable[Edit]) -> dict[str, Message]:
    """Apply edits to messages by id; see `apply`. The dictionary may be changed or replaced."""
    for edit in edits:
        shown = _applied(shown, edit)
    return shown


def _applied(shown: dict[str, Message], edit: Edit) -> dict[str, Message]:
    """Apply one edit; the dictionary may be changed or replaced."""
    match edit:
        case Rewrite():
            message = shown.get(edit.message)
            if message is not None and edit.part < len(message.parts):
                shown[edit.message] = rewritten(message, edit)
        case Drop():
            for gone in edit.messages:
                shown.pop(gone, None)
        case Fold():
            return _fold(shown, edit)
        case Insert() if not edit.after or edit.after in shown:
            return _inserted(shown, edit.message, edit.after)
        case Move() if {edit.message, edit.after} <= shown.keys() and edit.message != edit.after:
            return _inserted(shown, shown.pop(edit.message), edit.after)
    return shown


def _inserted(shown: dict[str, Message], message: Message, after: str) -> dict[str, Message]:
    out: dict[str, Message] = {} if after else {message.id: message}
    for key, value in shown.items():
        out[key] = value
        if key == after:
            out[message.id] = message
    return out


def _fold(shown: dict[str, Message], edit: Fold) -> dict[str, Message]:
    gone = frozenset(edit.messages)
    coming = iter(shown.items())
    out: dict[str, Message] = {}
    for key, value in coming:
        if key in gone:
            out.setdefault(edit.snapshot.id, edit.snapshot)
            break
        out[key] = value
    return out | {key: value for key, value in coming if key not in gone}


def following(ids: frozenset[str], edits: Iterable[Edit]) -> frozenset[str]:
    """
    Follow messages through a repair, which may show others in their place or beside them.

    Args:
        ids: Ids of messages before the edits.
        edits: Edits in the order in which they were made.

    Returns:
        The same ids and those of what stands for them now.
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


def rewritten(message: Message, edit: Rewrite) -> Message:
    """Return the message with one of its parts showing other text."""
    return message.with_part(edit.part, _with_text(message.parts[edit.part], edit))


def _with_text(part: Part, edit: Rewrite) -> Part:
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
