"""
Repair: the few edits that make a real, damaged history acceptable to its provider.

Processes die between a call and its result, logs lose lines, results arrive late. A compaction
that passes such damage on makes the provider reject the whole conversation; so it mends first, by
edits like any other: recorded, reversible, named in the receipt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from foldline.core.edits import Drop, Edit, Fold, Insert, Move, apply
from foldline.core.groups import Site, is_pending, pair
from foldline.core.identity import derived_id
from foldline.core.messages import Message, Omitted, Part, Text, ToolCall, ToolResult

NO_RESULT = "[No result of this call was recorded.]"
ORPHAN = "[Result of a tool call that is not part of this history]"
START = "[The recorded history starts here, with work that was already under way.]"

ANY_ORDER = frozenset({"openai-responses", "codex"})
"""Dialects in which a result only has to come after its call."""

BY_TURN = frozenset({"anthropic", "claude-code"})
"""Dialects that merge neighbouring assistant messages, so that results may follow all of them."""


def repair(messages: Sequence[Message], dialect: str) -> tuple[Edit, ...]:
    """
    Propose the edits that make a conversation valid.

    Empty messages are left out; a call that will never be answered gets a result that says so; a
    result without a call becomes a note with the same text; a result that does not stand behind
    its call moves there, and nothing else moves; a conversation that starts with the model gets a
    first user message.

    Args:
        messages: Messages with ids.
        dialect: Whose rules count.

    Returns:
        Edits, none for a valid conversation.
    """
    edits: list[Edit] = []
    shown = tuple(messages)
    for step in (_empty, _orphans, _unanswered, _displaced, _headless):
        found = step(shown, dialect)
        edits += found
        shown = apply(shown, found)
    return tuple(edits)


def _says_nothing(part: Part) -> bool:
    match part:
        case Text(text):
            return not text.strip()
        case Omitted():
            return True
        case _:
            return False


def _empty(messages: Sequence[Message], _: str) -> list[Edit]:
    gone = tuple(m.id for m in messages if all(_says_nothing(part) for part in m.parts))
    return [Drop(gone, "repair")] if gone else []


def _orphans(messages: Sequence[Message], _: str) -> list[Edit]:
    pairing = pair(messages)
    lost: dict[int, set[int]] = {}
    for site in (*pairing.orphans, *pairing.late):
        lost.setdefault(site.message, set()).add(site.part)
    return [_note(messages[index], parts) for index, parts in lost.items()]


def _note(message: Message, lost: set[int]) -> Fold:
    parts: list[Part] = []
    for index, part in enumerate(message.parts):
        if index in lost and isinstance(part, ToolResult):
            parts.append(Text(f"{ORPHAN}\n{part.text}"))
        else:
            parts.append(part)
    # Results have to stand before text in one message.
    parts.sort(key=lambda part: not isinstance(part, ToolResult))
    keeps_results = any(isinstance(part, ToolResult) for part in parts)
    role = message.role if keeps_results else "user"
    note = replace(
        message,
        id=derived_id("note", message.id),
        role=role,
        parts=tuple(parts),
        raw=message.raw if role == message.role else None,
        intact=False,
        origin="repair",
    )
    return Fold((message.id,), note, "repair")


def _unanswered(messages: Sequence[Message], _: str) -> list[Edit]:
    dead = [site for site in pair(messages).open if not is_pending(messages, site)]
    return [Insert(messages[site.message].id, _closing(messages, site)) for site in reversed(dead)]


def _closing(messages: Sequence[Message], site: Site) -> Message:
    call = messages[site.message].parts[site.part]
    assert isinstance(call, ToolCall)  # noqa: S101  # what pair() calls open is a call
    result = ToolResult(call.id, (Text(NO_RESULT),), call.name, is_error=True)
    number = derived_id("closing", messages[site.message].id, str(site.part))
    return Message("tool", (result,), id=number, origin="repair")


def _displaced(messages: Sequence[Message], dialect: str) -> list[Edit]:
    if dialect in ANY_ORDER:
        return []
    wanted = _wanted_order(messages, dialect)
    current = list(range(len(messages)))
    if wanted == current:
        return []
    edits: list[Edit] = []
    for before, index in pairwise(wanted):
        if not messages[index].results or current[current.index(index) - 1] == before:
            continue
        current.remove(index)
        current.insert(current.index(before) + 1, index)
        edits.append(Move(messages[index].id, messages[before].id))
    return edits


def _wanted_order(messages: Sequence[Message], dialect: str) -> list[int]:
    """Return the positions in the order in which results stand behind their calls."""
    behind: dict[int, set[int]] = {}
    for call, result in pair(messages).answers.items():
        if result.message != call.message:
            anchor = _anchor(messages, call.message, dialect)
            behind.setdefault(anchor, set()).add(result.message)
    order: list[int] = []
    placed: set[int] = set()
    for index in range(len(messages)):
        for position in (index, *sorted(behind.get(index, ()))):
            if position not in placed:
                placed.add(position)
                order.append(position)
    return order


def _anchor(messages: Sequence[Message], index: int, dialect: str) -> int:
    """Return the message behind which results have to stand."""
    if dialect in BY_TURN:
        while index + 1 < len(messages) and messages[index + 1].role == "assistant":
            index += 1
    return index


def _headless(messages: Sequence[Message], _: str) -> list[Edit]:
    first = next((m for m in messages if m.role != "system"), None)
    if first is None or first.role == "user":
        return []
    before = [m.id for m in messages[: messages.index(first)]]
    start = Message("user", (Text(START),), id=derived_id("start", first.id), origin="repair")
    return [Insert(before[-1] if before else "", start)]
