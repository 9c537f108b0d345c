"""A conversation as a bar of tokens by kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from foldline.cli.output import Segment
from foldline.evaluation.breakdown import by_kind
from foldline.values.messages import Message
from foldline.values.tokens import TokenCounter

STYLES: Final = {
    "system": "magenta",
    "snapshot": "bright_magenta",
    "user": "green",
    "assistant": "cyan",
    "reasoning": "bright_black",
    "tool calls": "blue",
    "tool results": "yellow",
    "media": "red",
}
"""The colour of each kind; `breakdown.KINDS` has the kinds."""


def segments(messages: Sequence[Message], counter: TokenCounter) -> list[Segment]:
    """Return the parts of the bar of a conversation."""
    return [
        Segment(share.name, share.tokens, STYLES[share.name])
        for share in by_kind(messages, counter)
    ]
