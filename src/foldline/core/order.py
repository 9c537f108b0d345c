"""An order of keys in which one is taken out or put behind another in constant time."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from itertools import pairwise
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)


class Order(Generic[Key]):
    """
    Keys that each know which one stands before and behind them; None is the start and the end.

    Args:
        keys: The first of them, in order, each once.
    """

    def __init__(self, keys: Iterable[Key]) -> None:
        ring = list(pairwise([None, *keys, None]))
        self._behind: dict[Key | None, Key | None] = dict(ring)
        self._before: dict[Key | None, Key | None] = {right: left for left, right in ring}

    def __iter__(self) -> Iterator[Key]:
        key = self._behind[None]
        while key is not None:
            yield key
            key = self._behind[key]

    def before(self, key: Key) -> Key | None:
        """Return what stands before a key, None for the start."""
        return self._before[key]

    def remove(self, key: Key) -> None:
        """Take a key out."""
        left, right = self._before.pop(key), self._behind.pop(key)
        self._behind[left], self._before[right] = right, left

    def put(self, key: Key, after: Key | None) -> None:
        """Put a new key behind another one, None for the start."""
        right = self._behind[after]
        self._behind[after] = self._before[right] = key
        self._before[key], self._behind[key] = after, right
