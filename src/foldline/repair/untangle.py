"""A conversation that is looked through for damage, with what every check has to know of it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from foldline.values.edits import Edit, Insert, Rewrite
from foldline.values.groups import Pairing, pair
from foldline.values.identity import derived_id
from foldline.values.messages import Message, Omitted, ToolResult
from foldline.values.provider_rules import ANY_ORDER, BY_TURN, ONE_ANSWER


@dataclass(frozen=True)
class DamagedHistory:
    """
    Messages as they are shown, which may not be as their provider wants them.

    Args:
        messages: Messages with ids.
        dialect: Whose rules count.
        known: What `pair` found in them, where that is known.
    """

    messages: Sequence[Message]
    dialect: str
    known: Pairing | None = field(default=None, repr=False)

    @cached_property
    def pairing(self) -> Pairing:
        """Which result answers which call."""
        return self.known or pair(self.messages)

    @cached_property
    def anchors(self) -> Sequence[int]:
        """Behind which message the results of calls have to stand, by the position of these."""
        anchors = list(range(len(self.messages)))
        if self.dialect in BY_TURN:
            for index in range(len(anchors) - 2, -1, -1):
                if self.messages[index + 1].role == "assistant":
                    anchors[index] = anchors[index + 1]
        return anchors


def untangle_messages(shown: DamagedHistory) -> list[Edit]:
    """
    Propose to split messages whose results cannot all stay together.

    Results that belong behind different messages part; so do a result that has to move and what
    a user said beside it, which stays.

    Args:
        shown: The conversation.
    """
    if shown.dialect in ANY_ORDER:
        return []
    parts: dict[int, dict[int, list[int]]] = {}
    for call, result in shown.pairing.answers.items():
        if result.message != call.message:
            home = shown.anchors[call.message]
            parts.setdefault(result.message, {}).setdefault(home, []).append(result.part)
    members: dict[int, list[int]] = {}
    for index in sorted(parts):
        for home in parts[index]:
            members.setdefault(home, []).append(index)
    alone = shown.dialect in ONE_ANSWER
    edits: list[Edit] = []
    for index in sorted(parts):
        message, homes = shown.messages[index], sorted(parts[index])
        newest = homes[-1]
        stays = _stays(message, index, newest, members[newest], alone=alone)
        for home in homes[:-1] if stays else homes:
            edits += _split(message, parts[index][home])
    return edits


def _stays(
    message: Message, index: int, home: int, members: Sequence[int], *, alone: bool
) -> bool:
    """
    Return True if the newest results of a message may stay in it.

    Args:
        message: The message.
        index: Where it stands.
        home: Behind which message its newest results have to stand.
        members: Where results stand that have to stand there, in order.
        alone: Whether the results of a turn must share one message.
    """
    if all(isinstance(part, (ToolResult, Omitted)) for part in message.parts):
        return True
    # What a user said must not stand between the results of one turn.
    if members[-1] > index or (alone and members[0] < index):
        return False
    between = bisect_left(members, index) - bisect_left(members, home + 1)
    return between == max(0, index - home - 1)


def _split(message: Message, positions: list[int]) -> list[Edit]:
    results = tuple(message.parts[position] for position in sorted(positions))
    number = derived_id("split", message.id, str(positions[0]))
    apart = Message("tool", results, id=number, pinned=message.pinned, origin="repair")
    gone = [Rewrite(message.id, position, None, "repair") for position in sorted(positions)]
    return [*gone, Insert(message.id, apart)]
