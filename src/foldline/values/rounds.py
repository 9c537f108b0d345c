"""Rounds: a message with words of the user and everything that follows it."""

from __future__ import annotations

from collections.abc import Sequence

from foldline.values.frames import has_words
from foldline.values.messages import Message


def rounds(messages: Sequence[Message]) -> tuple[tuple[Message, ...], ...]:
    """
    Divide a conversation into rounds, each starting with words of the user.

    Messages before the first user words, such as a system prompt, are not a round.

    Args:
        messages: The conversation in order.

    Returns:
        The rounds, oldest first; the last one may be incomplete.
    """
    starts = [index for index, message in enumerate(messages) if has_words(message)]
    ends = [*starts[1:], len(messages)]
    return tuple(tuple(messages[start:end]) for start, end in zip(starts, ends, strict=False))
