"""A conversation that is looked through for damage, with what every check has to know of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from foldline.core.groups import Pairing, pair
from foldline.core.messages import Message
from foldline.core.provider_rules import BY_TURN


@dataclass(frozen=True)
class Damaged:
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
