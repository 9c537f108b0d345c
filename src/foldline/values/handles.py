"""Handles: short ids by which removed content is recalled."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from heapq import merge
from typing import Final

from foldline.values.identity import HANDLE_LENGTH, shared_length
from foldline.values.messages import Message

LATE: Final = 2_048
"""Maximum number of new ids kept separately, so that adding one does not move all others."""


def handles(messages: Iterable[Message]) -> dict[str, str]:
    """
    Return the handle of every message: the shortest unique prefix of its id.

    Args:
        messages: The whole log, with ids.

    Returns:
        Handle by id; at least 6 hexadecimal digits.
    """
    ids = sorted({message.id for message in messages})
    shared = [0, *map(_common, ids, ids[1:]), 0]
    return {
        number: number[: max(HANDLE_LENGTH, before + 1, behind + 1)]
        for number, before, behind in zip(ids, shared, shared[1:], strict=False)
    }


def _common(left: str, right: str) -> int:
    """Return the length of the common prefix of two ids; 0 if shorter than any handle."""
    if left[:HANDLE_LENGTH] != right[:HANDLE_LENGTH]:
        return 0
    return shared_length(left, right)


class Register:
    """
    A sorted set of ids, for prefix lookups.

    One thread may add to it while others read: their data is never changed in place.

    Args:
        ids: The initial ids, in any order, without repetition.
    """

    def __init__(self, ids: Iterable[str] = ()) -> None:
        self._runs: tuple[Sequence[str], Sequence[str]] = (sorted(ids), ())

    def __len__(self) -> int:
        return sum(map(len, self._runs))

    def __iter__(self) -> Iterator[str]:
        return merge(*self._runs)

    def __contains__(self, number: object) -> bool:
        return isinstance(number, str) and number in self.near(number)

    def add(self, number: str) -> None:
        """Add a new id."""
        ids, late = self._runs
        position = bisect_left(late, number)
        late = (*late[:position], number, *late[position:])
        if len(late) > LATE:
            ids, late = sorted((*ids, *late)), ()
        self._runs = (ids, late)

    def near(self, prefix: str) -> list[str]:
        """Return the ids with a prefix, in order."""
        found: list[str] = []
        for run in self._runs:
            start = bisect_left(run, prefix)
            found += run[start : bisect_left(run, prefix + "\U0010ffff", start)]
        return sorted(found)

    def shared(self, number: str) -> int:
        """Return the most characters that an id has in common with the beginning of others."""
        found = [0]
        for run in self._runs:
            place = bisect_left(run, number)
            beside = run[max(0, place - 1) : place + 2]  # the nearest in order have the most
            found += (_common(number, other) for other in beside if other != number)
        return max(found)


class Handles(Mapping[str, str]):
    """
    The handles of a conversation, each computed on demand.

    Args:
        log: The ids of all messages of the log.
        beside: Messages of the view that may not be in the log: snapshots and repair messages.
    """

    def __init__(self, log: Register, beside: Iterable[Message] = ()) -> None:
        self._log = log
        self._messages = beside

    @cached_property
    def _beside(self) -> Register:
        return Register({message.id for message in self._messages if message.id not in self._log})

    def near(self, prefix: str) -> list[str]:
        """Return the ids with a prefix."""
        return [*self._log.near(prefix), *self._beside.near(prefix)]

    def __contains__(self, number: object) -> bool:
        return number in self._log or number in self._beside

    def __getitem__(self, number: str) -> str:
        if number not in self:
            raise KeyError(number)
        shared = max(self._log.shared(number), self._beside.shared(number))
        return number[: max(HANDLE_LENGTH, shared + 1)]

    def __iter__(self) -> Iterator[str]:
        return merge(self._log, self._beside)

    def __len__(self) -> int:
        return len(self._log) + len(self._beside)


def near(prefix: str, known: Mapping[str, str]) -> list[str]:
    """Return the ids with a prefix among the keys of known handles."""
    if isinstance(known, Handles):
        return known.near(prefix)
    return [number for number in known if number.startswith(prefix)]


def part_handle(handle: str, message: Message, part: int) -> str:
    """
    Return the handle of one part of a message.

    It is the message's handle alone if there is only one part, or if a repair has rearranged the
    recorded parts.
    """
    alone = len(message.parts) == 1 or message.origin == "repair"
    return handle if alone else f"{handle}.{part}"
