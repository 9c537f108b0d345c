"""Rounds: what a user said, with everything that followed it until the user spoke again."""

from __future__ import annotations

from collections.abc import Sequence

from foldline.core.frames import has_words
from foldline.core.messages import Message


def rounds(messages: Sequence[Message]) -> tuple[tuple[Message, ...], ...]:
    """
    Divide a conversation into rounds.

    What stands before the first words of a user, a system prompt say, is no round.

    Args:
        messages: The conversation in order.

    Returns:
        The rounds, the oldest first; the last one may still be under way.
    """
    starts = [index for index, message in enumerate(messages) if has_words(message)]
    ends = [*starts[1:], len(messages)]
    return tuple(tuple(messages[start:end]) for start, end in zip(starts, ends, strict=False))
