"""
A damaged conversation, and the repairs within its messages.

Messages are split whose results cannot stay together, repeated call ids are replaced, and results
are sorted in the order of their calls.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cached_property

from foldline.frozen import field, frozen, replace
from foldline.values.edits import Edit, Fold, Insert, Rewrite
from foldline.values.groups import Pairing, Site, pair
from foldline.values.identity import derived_id
from foldline.values.messages import Message, Omitted, Part, ToolCall, ToolResult
from foldline.values.provider_rules import ANY_ORDER, BY_TURN, ONE_ANSWER


@frozen
class DamagedHistory:
    """
    Messages of a view, which their provider may reject.

    Args:
        messages: Messages with ids.
        dialect: The dialect whose rules apply.
        known: The result of `pair` for the messages, where that is known.
    """

    messages: Sequence[Message]
    dialect: str
    known: Pairing | None = field(default=None, repr=False)

    @cached_property
    def pairing(self) -> Pairing:
        """The results of the calls."""
        return self.known or pair(self.messages)

    @cached_property
    def anchors(self) -> Sequence[int]:
        """For each message, the position of the message that results of its calls must follow."""
        anchors = list(range(len(self.messages)))
        if self.dialect in BY_TURN:
            for index in range(len(anchors) - 2, -1, -1):
                if self.messages[index + 1].role == "assistant":
                    anchors[index] = anchors[index + 1]
        return anchors


def untangle_messages(history: DamagedHistory) -> list[Edit]:
    """
    Split messages whose results cannot all stay together.

    Results that belong behind different messages are separated; so is a result that must move
    from text of the user in the same message, which stays.

    Args:
        history: The conversation.
    """
    if history.dialect in ANY_ORDER:
        return []
    parts: dict[int, dict[int, list[int]]] = {}
    for call, result in history.pairing.answers.items():
        if result.message != call.message:
            home = history.anchors[call.message]
            parts.setdefault(result.message, {}).setdefault(home, []).append(result.part)
    members: dict[int, list[int]] = {}
    for index in sorted(parts):
        for home in parts[index]:
            members.setdefault(home, []).append(index)
    alone = history.dialect in ONE_ANSWER
    edits: list[Edit] = []
    for index in sorted(parts):
        message, homes = history.messages[index], sorted(parts[index])
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
        index: Its position.
        home: Position of the message that its newest results must follow.
        members: Positions of the results that must follow that message, in order.
        alone: Whether the results of a turn must share one message.
    """
    if all(isinstance(part, (ToolResult, Omitted)) for part in message.parts):
        return True
    # Text of a user must not come between the results of one turn.
    if members[-1] > index or (alone and members[0] < index):
        return False
    between = bisect_left(members, index) - bisect_left(members, home + 1)
    return between == max(0, index - home - 1)


def _split(message: Message, positions: list[int]) -> list[Edit]:
    results = tuple(message.parts[position] for position in sorted(positions))
    number = derived_id("split", message.id, str(positions[0]))
    apart = Message("tool", results, id=number, pinned=message.pinned, origin="repair")
    removals = [Rewrite(message.id, position, None, "repair") for position in sorted(positions)]
    return [*removals, Insert(message.id, apart)]


# --- call ids, and the order of results --------------------------------------------------------


def part_at(messages: Sequence[Message], site: Site) -> ToolCall:
    """Return the call at a site."""
    call = messages[site.message].parts[site.part]
    assert isinstance(call, ToolCall)  # noqa: S101  # callers have the site from pair()
    return call


def renumber(history: DamagedHistory) -> list[Edit]:
    """
    Replace the ids of calls whose id occurred before, in the calls and their results.

    Where a provider only needs ids to be unique among calls that wait for a result, an id may
    occur again after that.

    Args:
        history: The conversation; every result is behind its call.
    """
    if history.dialect in ONE_ANSWER:
        return []
    messages = history.messages
    changed: dict[Site, Part] = {}
    for site, number in _find_repeated(history).items():
        changed[site] = replace(part_at(messages, site), id=number)
        answer = history.pairing.answers.get(site)
        if answer is not None:
            result = messages[answer.message].parts[answer.part]
            if isinstance(result, ToolResult):
                changed[answer] = replace(result, call_id=number)
    return _replace_parts(messages, changed)


def reorder(history: DamagedHistory) -> list[Edit]:
    """
    Sort the results of a turn in the order of its calls, by which Gemini matches them.

    Args:
        history: The conversation; every result is behind its call.
    """
    if history.dialect not in ONE_ANSWER:
        return []
    part_order: dict[int, list[int]] = {}
    for _, result in sorted(history.pairing.answers.items()):
        part_order.setdefault(result.message, []).append(result.part)
    changed = {
        Site(index, place): history.messages[index].parts[part]
        for index, parts in part_order.items()
        for place, part in zip(sorted(parts), parts, strict=True)
        if place != part
    }
    return _replace_parts(history.messages, changed)


def _replace_parts(messages: Sequence[Message], changed: Mapping[Site, Part]) -> list[Edit]:
    """Replace each message with changed parts."""
    edits: list[Edit] = []
    for index in sorted({site.message for site in changed}):
        message = messages[index]
        sites = (Site(index, place) for place in range(len(message.parts)))
        parts = tuple(map(changed.get, sites, message.parts))
        other = replace(message.with_parts(parts), id=derived_id("renumbered", message.id))
        edits.append(Fold((message.id,), other, "repair"))
    return edits


def _find_repeated(history: DamagedHistory) -> dict[Site, str]:
    """Return a new id for each call whose id is already taken."""
    everywhere = history.dialect in BY_TURN
    taken: dict[str, Site] = {}
    found: dict[Site, str] = {}

    def waits(call: Site, index: int) -> bool:
        """Return True if a call is unanswered before a position."""
        answer = history.pairing.answers.get(call)
        return answer is None or answer.message > index

    for index, message in enumerate(history.messages):
        for position, part in enumerate(message.parts):
            if not isinstance(part, ToolCall) or not part.id:
                continue
            site, number = Site(index, position), part.id
            if number in taken and (everywhere or waits(taken[number], index)):
                number = found[site] = _free(number, message.id, position, taken)
            taken[number] = site
    return found


def _free(number: str, message: str, position: int, taken: Mapping[str, Site]) -> str:
    """Return an unused id; the same for the same message in every process."""
    free = f"{number[:40]}_{message[:8]}_{position}"
    while free in taken:
        free += "_"
    return free
