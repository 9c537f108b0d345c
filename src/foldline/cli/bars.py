"""A conversation as a bar of tokens by kind, with its legend; drawn by rich."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from foldline.evaluation.breakdown import by_kind
from foldline.values.messages import Message
from foldline.values.tokens import TokenCounter

if TYPE_CHECKING:
    from rich.text import Text

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


@dataclass(frozen=True, slots=True)
class BarSegment:
    """A part of a bar: how many tokens, of what, in which colour."""

    name: str
    tokens: int
    style: str


def bar(segments: Sequence[BarSegment], whole: int, width: int, encoding: str = "utf-8") -> Text:
    """
    Draw tokens as a bar.

    Args:
        segments: From left to right.
        whole: The tokens that fill the whole width.
        width: In characters.
        encoding: Of the terminal; one without blocks gets ``#``.
    """
    from rich.text import Text

    block, rest = ("█", "░") if encoding.lower().startswith("utf") else ("#", ".")
    out, done, total = Text(), 0, 0
    for segment in segments:
        total += segment.tokens
        until = round(width * total / max(1, whole))
        out.append(block * (until - done), style=segment.style)
        done = max(done, until)
    if total and not done:
        out.append(block, style=segments[0].style)  # something is never drawn as nothing
        done = 1
    out.append(rest * max(0, width - done), style="bright_black")
    return out


def legend(segments: Sequence[BarSegment], width: int, encoding: str = "utf-8") -> Text:
    """Return the colours of a bar with their names, in lines of at most ``width`` characters."""
    from rich.text import Text

    mark = "■" if encoding.lower().startswith("utf") else "#"
    out, used = Text(), 0
    for segment in segments:
        if not segment.tokens:
            continue
        needed = len(segment.name) + 4
        if used and used + needed > width:
            out.append("\n")
            used = 0
        out.append(f"{mark} ", style=segment.style).append(f"{segment.name}  ")
        used += needed
    return out


def segments(messages: Sequence[Message], counter: TokenCounter) -> list[BarSegment]:
    """Return the parts of the bar of a conversation."""
    return [
        BarSegment(share.name, share.tokens, STYLES[share.name])
        for share in by_kind(messages, counter)
    ]
