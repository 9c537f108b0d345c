"""Ids for messages that are appended one by one, the same as `identify` gives to a whole list."""

from __future__ import annotations

from collections.abc import Container
from hashlib import blake2b

from foldline.values.identity import ID_BYTES


class MessageIds:
    """
    A generator of ids, whose cost depends neither on the length of the log nor on repetitions.

    Args:
        taken: The ids in the log; it grows with the log.
    """

    def __init__(self, taken: Container[str] = ()) -> None:
        self._taken = taken
        self._given: set[str] = set()
        self._occurrences: dict[str, int] = {}

    def give(self, content: str) -> str:
        """
        Return the id of the next message with this content.

        Args:
            content: The content hash.
        """
        number, occurrence = content, 1
        if self._is_taken(content):
            occurrence = self._occurrences.get(content, 0) or self._last(content)
            while self._is_taken(number):
                occurrence += 1
                number = _hash_occurrence(content, occurrence)
            self._occurrences[content] = occurrence
        self._given.add(number)
        return number

    def confirm(self, number: str) -> None:
        """Mark the id of a message as part of the log."""
        self._given.discard(number)

    def forget(self, number: str, content: str) -> None:
        """Release an id that was given to this content."""
        self._given.discard(number)
        self._occurrences.pop(content, None)

    def _is_taken(self, number: str) -> bool:
        return number in self._given or number in self._taken

    def _last(self, content: str) -> int:
        """Return how often a content occurs in the log, by binary search: there are no gaps."""
        high = 2
        while self._is_taken(_hash_occurrence(content, high)):
            high *= 2
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            if self._is_taken(_hash_occurrence(content, middle)):
                low = middle
            else:
                high = middle
        return low


def _hash_occurrence(content: str, occurrence: int) -> str:
    repeated = f"{content}#{occurrence}".encode()
    return blake2b(repeated, digest_size=ID_BYTES).hexdigest()
