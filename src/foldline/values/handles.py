"""Handles: short ids under which removed content is recalled."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from heapq import merge
from itertools import pairwise, takewhile
from typing import Final

from foldline.values.identity import HANDLE_LENGTH, shared_length
from foldline.values.messages import Message

LATE: Final = 2_048
"""So many new ids are kept apart, so that adding one does not move all the others."""


def handles(messages: Iterable[Message]) -> dict[str, str]:
    """
    Give every message its handle: the shortest prefix of its id that no other one shares.

    Args:
        messages: The whole log, with ids.

    Returns:
        Handle by id; at least 6 hexadecimal digits.
    """
    ids = sorted({message.id for message in messages})
    shared = [0, *(_common(left, right) for left, right in pairwise(ids)), 0]
    return {
        number: number[: max(HANDLE_LENGTH, before + 1, behind + 1)]
        for number, (before, behind) in zip(ids, pairwise(shared), strict=False)
    }


def _common(left: str, right: str) -> int:
    """Return how many digits two ids begin with in common; 0 where a handle tells them apart."""
    if left[:HANDLE_LENGTH] != right[:HANDLE_LENGTH]:
        return 0
    return shared_length(left, right)


class Register:
    """
    Ids in order, so that what is near to one is found without looking at all.

    One thread may add to it while others read: nothing that they see is changed in place.

    Args:
        ids: The first of them, in any order; no id comes twice.
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
        """Add an id that is not there."""
        ids, late = self._runs
        position = bisect_left(late, number)
        late = (*late[:position], number, *late[position:])
        if len(late) > LATE:
            ids, late = sorted((*ids, *late)), ()
        self._runs = (ids, late)

    def near(self, prefix: str) -> list[str]:
        """Return the ids that begin with some digits, in order."""
        found: list[str] = []
        for run in self._runs:
            start = bisect_left(run, prefix)
            coming = (run[position] for position in range(start, len(run)))
            found += takewhile(lambda number: number.startswith(prefix), coming)
        return sorted(found)


class Handles(Mapping[str, str]):
    """
    The handles of a conversation, each computed on demand.

    Args:
        log: The ids of all messages of the log.
        beside: What is shown and may not be in the log: snapshots, and what a repair inserted.
    """

    def __init__(self, log: Register, beside: Iterable[Message] = ()) -> None:
        self._log = log
        self._messages = beside

    @cached_property
    def _beside(self) -> Register:
        return Register({message.id for message in self._messages if message.id not in self._log})

    def near(self, prefix: str) -> list[str]:
        """Return the ids that begin with some digits."""
        return [*self._log.near(prefix), *self._beside.near(prefix)]

    def __getitem__(self, number: str) -> str:
        near = self.near(number[:HANDLE_LENGTH])
        if number not in near:
            raise KeyError(number)
        shared = max((_common(number, other) for other in near if other != number), default=0)
        return number[: max(HANDLE_LENGTH, shared + 1)]

    def __iter__(self) -> Iterator[str]:
        return merge(self._log, self._beside)

    def __len__(self) -> int:
        return len(self._log) + len(self._beside)


def near(prefix: str, known: Mapping[str, str]) -> list[str]:
    """Return the ids among the keys of known handles that begin with some digits."""
    if isinstance(known, Handles):
        return known.near(prefix)
    return [number for number in known if number.startswith(prefix)]


def part_handle(handle: str, message: Message, part: int) -> str:
    """
    Name one part of a message.

    The message's handle stands alone where it has only one part, or where a repair has put the
    parts together otherwise than they were recorded.
    """
    alone = len(message.parts) == 1 or message.origin == "repair"
    return handle if alone else f"{handle}.{part}"
