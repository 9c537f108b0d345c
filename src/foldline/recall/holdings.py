"""What can be recalled: a log, and the snapshots that stand for messages of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from foldline.values.messages import Message


@dataclass(frozen=True, slots=True)
class Folded:
    """The ids of what a snapshot stands for, and how long the log was when it was made."""

    messages: tuple[str, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Holdings:
    """
    What can be recalled.

    Args:
        messages: The log by id, in order.
        snapshots: Everything that stands or stood for messages of it.
        moments: The lengths of the log when handles were given out.
        shortened: Ids of messages that are shown, or were, with a part cut or cleared.
    """

    messages: Mapping[str, Message]
    snapshots: Mapping[str, Folded] = field(default_factory=dict)
    moments: tuple[int, ...] = ()
    shortened: frozenset[str] = frozenset()

    def first_seen(self, prefix: str = "") -> dict[str, int]:
        """
        Return how long the log was when each of these came into it, by id.

        Args:
            prefix: How the ids begin that are wanted.
        """
        log = enumerate(self.messages, 1)
        seen = {number: index for index, number in log if number.startswith(prefix)}
        folds = self.snapshots.items()
        return seen | {n: folded.at for n, folded in folds if n.startswith(prefix)}

    def folded(self, number: str) -> list[str]:
        """Return the messages that a snapshot stands for, those of snapshots in it included."""
        out: set[str] = set()
        waiting, seen = [number], set()
        while waiting:
            current = waiting.pop()
            if current in self.messages:
                out.add(current)
            elif current not in seen:
                seen.add(current)
                fold = self.snapshots.get(current)
                waiting += fold.messages if fold else ()
        return self.in_order(out)

    def in_order(self, numbers: set[str]) -> list[str]:
        """Return ids in the order of the log."""
        return [number for number in self.messages if number in numbers]
