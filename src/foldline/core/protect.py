"""What no rung may remove: the task, pins, unread results and calls that are still running."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, TypeAlias

from foldline.core.groups import Group
from foldline.core.messages import Message
from foldline.core.snapshot_mark import SNAPSHOT_HEADER

Reason: TypeAlias = Literal["system", "task", "latest", "pinned", "unread", "pending"]


def unread(messages: Sequence[Message]) -> frozenset[str]:
    """Return the ids of the messages with results that the model has not answered yet."""
    answered = _answered(messages)
    return frozenset(message.id for message in messages[answered + 1 :] if _tells(message))


def protected(
    messages: Sequence[Message], groups: Sequence[Group], late: Collection[str] = ()
) -> dict[int, Reason]:
    """
    Find the messages that must stay.

    Protected are the system messages at the start ("system"), the first and the latest thing a
    user said ("task", "latest"), groups with a pinned member ("pinned"), tool results that the
    model has not answered yet, with their calls ("unread"), and groups with a call that is still
    running ("pending").

    Args:
        messages: What is shown.
        groups: Its groups.
        late: Ids of further messages with results that the model has not answered yet.

    Returns:
        The reason by position.
    """
    found: dict[int, Reason] = {}
    answered = _answered(messages)
    for group in groups:
        reason: Reason | None = None
        if any(messages[i].pinned for i in group.members):
            reason = "pinned"
        elif group.state == "pending":
            reason = "pending"
        elif any(_is_unread(messages, i, answered, late) for i in group.members):
            reason = "unread"
        if reason:
            found.update(dict.fromkeys(group.members, reason))
    found.update(_spoken(messages))
    for index, message in enumerate(messages):
        if message.role != "system":
            break
        found[index] = "system"
    first = next((i for i, m in enumerate(messages) if m.role != "system"), None)
    if first is not None and messages[first].origin == "repair":
        # It stands there because a conversation must not start with the model.
        found[first] = "task"
    return found


def _answered(messages: Sequence[Message]) -> int:
    last = range(len(messages) - 1, -1, -1)
    return next((index for index in last if messages[index].role == "assistant"), -1)


def _is_unread(
    messages: Sequence[Message], index: int, answered: int, late: Collection[str]
) -> bool:
    return (index > answered and _tells(messages[index])) or messages[index].id in late


def _tells(message: Message) -> bool:
    """Tell whether a message brings results, or the note that a repair made of some."""
    return bool(message.results) or message.origin == "repair"


def _spoken(messages: Sequence[Message]) -> dict[int, Reason]:
    spoken = [i for i, m in enumerate(messages) if m.is_spoken() and not is_snapshot(m)]
    if not spoken:
        return {}
    return {spoken[-1]: "latest", spoken[0]: "task"}


def is_snapshot(message: Message) -> bool:
    """Return True if a message is a snapshot of an earlier compaction and nothing else."""
    return message.role == "user" and (
        message.origin == "snapshot" or message.is_sealed(SNAPSHOT_HEADER)
    )
