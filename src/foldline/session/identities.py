"""Ids for messages that come one by one, the same that `identify` gives to all at once."""

from __future__ import annotations

from hashlib import blake2b

from foldline.core.identity import HANDLE_LENGTH, ID_BYTES


class Identities:
    """Gives ids in constant time, however long the log is and however often a message repeats."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._occurrences: dict[str, int] = {}
        self._prefixes: dict[str, int] = {}

    def give(self, content: str) -> str:
        """
        Return the id of the next message with this content.

        Args:
            content: Its content hash.
        """
        occurrence = self._occurrences.get(content, 0) + 1
        number = content if occurrence == 1 else _repeated(content, occurrence)
        while number in self._taken:
            occurrence += 1
            number = _repeated(content, occurrence)
        self.note(number, content)
        self._occurrences[content] = occurrence
        return number

    def note(self, number: str, content: str) -> None:
        """Note an id that a message with this content has got."""
        self._taken.add(number)
        self._occurrences[content] = self._occurrences.get(content, 0) + 1
        prefix = number[:HANDLE_LENGTH]
        self._prefixes[prefix] = self._prefixes.get(prefix, 0) + 1

    def forget(self, number: str, content: str) -> None:
        """Take back the last id that was given to this content."""
        self._taken.discard(number)
        self._occurrences[content] -= 1
        self._prefixes[number[:HANDLE_LENGTH]] -= 1

    def is_alone(self, prefix: str) -> bool:
        """Tell whether only one message has an id that begins with these digits."""
        return self._prefixes.get(prefix) == 1


def _repeated(content: str, occurrence: int) -> str:
    repeated = f"{content}#{occurrence}".encode()
    return blake2b(repeated, digest_size=ID_BYTES).hexdigest()
