"""Messages that hold results which have to stand in different places: take these apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from foldline.core.edits import Edit, Insert, Rewrite
from foldline.core.groups import pair
from foldline.core.identity import derived_id
from foldline.core.messages import Message, Omitted, ToolResult

Homes: TypeAlias = Mapping[int, Mapping[int, int]]
"""By position of a message and of a part: behind which message this result has to stand."""


def untangled(
    messages: Sequence[Message], anchor: Callable[[int], int], *, alone: bool
) -> list[Edit]:
    """
    Propose to split messages whose results cannot all stay together.

    Results that belong behind different messages part; so do a result that has to move and what
    a user said beside it, which stays.

    Args:
        messages: Messages with ids.
        anchor: Returns, for the position of a message with calls, behind which message their
            results have to stand.
        alone: Whether the results of a turn must share one message.
    """
    homes: dict[int, dict[int, int]] = {}
    for call, result in pair(messages).answers.items():
        if result.message != call.message:
            homes.setdefault(result.message, {})[result.part] = anchor(call.message)
    edits: list[Edit] = []
    for index in sorted(homes):
        for home in _leaving(messages, homes, index, alone=alone):
            edits += _split(messages[index], [p for p, h in homes[index].items() if h == home])
    return edits


def _leaving(messages: Sequence[Message], homes: Homes, index: int, *, alone: bool) -> list[int]:
    """Return the homes whose results leave a message."""
    wanted = sorted(set(homes[index].values()))
    mixed = any(not isinstance(p, (ToolResult, Omitted)) for p in messages[index].parts)
    if not mixed:
        return wanted[:-1]
    newest = wanted[-1]
    between = range(newest + 1, index)
    away = not all(newest in homes.get(i, {}).values() for i in between)
    # What a user said must not stand between the results of one turn.
    shared = any(newest in homes[i].values() for i in homes if i > index or (alone and i < index))
    return wanted if away or shared else wanted[:-1]


def _split(message: Message, positions: list[int]) -> list[Edit]:
    results = tuple(message.parts[position] for position in sorted(positions))
    number = derived_id("split", message.id, str(positions[0]))
    apart = Message("tool", results, id=number, pinned=message.pinned, origin="repair")
    gone = [Rewrite(message.id, position, None, "repair") for position in sorted(positions)]
    return [*gone, Insert(message.id, apart)]
