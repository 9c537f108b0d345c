"""Which lines of a file stay, and where new messages stand among them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from foldline.values.messages import Message

Slot: TypeAlias = int | Message
"""A line of the file as it was, by its number, or a message that has no line yet."""

Places: TypeAlias = Mapping[str, tuple[int, ...]]
"""The lines of each message by its id, in the order of the conversation."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The slots of a changed file in order, and which lines no longer stand where they stood."""

    slots: tuple[Slot, ...]
    moved: frozenset[int] = frozenset()


def arranged(
    slots: Sequence[Slot], places: Places, messages: Sequence[Message], start: int = 0
) -> Arrangement:
    """
    Bring a file into the order of a changed conversation.

    Lines that belong to no message of the conversation stay. Lines of messages that were left out
    go. New messages, and the fewest possible old ones whose order changed, come right before the
    first line of the next message that stays.

    Args:
        slots: The file.
        places: Where the messages stood.
        messages: The conversation as it is now.
        start: The first line of the conversation proper; what stands before it belongs to an
            earlier one too, and nothing new is put there.
    """
    standing = _standing(places, messages)
    anchors = frozenset(slot for slot in slots if isinstance(slot, int) and slot >= start)
    ahead, behind, last = _waiting(places, messages, standing, anchors)
    owners = {line: key for key, lines in places.items() for line in lines}
    out: list[Slot] = []
    for slot in slots:
        if isinstance(slot, Message):
            out.append(slot)
            continue
        out += _slots(ahead.get(slot, ()), places)
        if owners.get(slot) in standing or slot not in owners:
            out.append(slot)
        if slot == last:
            out += _slots(behind, places)
            behind = []
    out += _slots(behind, places)
    moved = (m.id for m in messages if m.id in places and m.id not in standing)
    return Arrangement(tuple(out), frozenset(line for key in moved for line in places[key]))


def _standing(places: Places, messages: Sequence[Message]) -> frozenset[str]:
    """Choose the largest set of messages that are still in the order of the file."""
    rank = {key: number for number, key in enumerate(places)}
    keys = [message.id for message in messages if message.id in rank]
    tails: list[int] = []
    lengths = []
    for key in keys:
        position = bisect_left(tails, rank[key])
        tails[position : position + 1] = [rank[key]]
        lengths.append(position)
    chosen: set[str] = set()
    wanted, bound = len(tails) - 1, len(rank)
    for key, length in zip(reversed(keys), reversed(lengths), strict=True):
        if length == wanted and rank[key] < bound:
            chosen.add(key)
            wanted, bound = wanted - 1, rank[key]
    return frozenset(chosen)


def _waiting(
    places: Places, messages: Sequence[Message], standing: frozenset[str], anchors: frozenset[int]
) -> tuple[dict[int, list[Message]], list[Message], int]:
    """Find the line before which each other message comes; the rest comes behind the last one."""
    ahead: dict[int, list[Message]] = {}
    waiting: list[Message] = []
    low = -1
    for message in messages:
        if message.id not in standing:
            waiting.append(message)
            continue
        first = places[message.id][0]
        if first > low and first in anchors:
            ahead[first], waiting, low = waiting, [], first
    stay = [line for key in standing for line in places[key]]
    every = stay or [line for lines in places.values() for line in lines]
    return ahead, waiting, max(every, default=-1)


def _slots(messages: Sequence[Message], places: Places) -> Iterator[Slot]:
    for message in messages:
        yield from places.get(message.id, (message,))
