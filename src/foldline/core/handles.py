"""Handles: short ids under which removed content is recalled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from foldline.core.identity import HANDLE_LENGTH
from foldline.core.messages import Message


def handles(messages: Iterable[Message]) -> dict[str, str]:
    """
    Give every message its handle: the shortest prefix of its id that no other one shares.

    Args:
        messages: The whole log, with ids.

    Returns:
        Handle by id; at least 6 hexadecimal digits.
    """
    ids = sorted({message.id for message in messages})
    out = {}
    for index, number in enumerate(ids):
        neighbours = ids[max(0, index - 1) : index] + ids[index + 1 : index + 2]
        shared = max((_common(number, other) for other in neighbours), default=0)
        out[number] = number[: max(HANDLE_LENGTH, shared + 1)]
    return out


def _common(left: str, right: str) -> int:
    length = 0
    for a, b in zip(left, right, strict=False):
        if a != b:
            break
        length += 1
    return length


class Handles(Mapping[str, str]):
    """
    The handles of a conversation, worked out when the first one is asked for.

    Args:
        messages: The whole log, with ids; it is read only then.
    """

    def __init__(self, messages: Iterable[Message]) -> None:
        self._messages = messages

    @cached_property
    def _known(self) -> dict[str, str]:
        return handles(self._messages)

    def __getitem__(self, number: str) -> str:
        return self._known[number]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


def part_handle(handle: str, message: Message, part: int) -> str:
    """
    Name one part of a message.

    The message's handle stands alone where it has only one part, or where a repair has put the
    parts together otherwise than they were recorded.
    """
    alone = len(message.parts) == 1 or message.origin == "repair"
    return handle if alone else f"{handle}.{part}"
