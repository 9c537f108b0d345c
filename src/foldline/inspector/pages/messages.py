"""Messages on a page: every word escaped, long ones cut with the way to the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from foldline.inspector.html import Child, Html, h
from foldline.inspector.links import Links
from foldline.inspector.trace import Trace
from foldline.inspector.words import size
from foldline.values.messages import (
    Media,
    Message,
    Omitted,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from foldline.values.protect import is_snapshot

EXCERPT: Final = 2_400
"""Characters of a part that are shown before the rest has to be asked for."""

PAGE: Final = 60_000
"""Characters of a message on a page of its own."""


def article(
    trace: Trace, links: Links, message: Message, badges: Sequence[str] = (), most: int = EXCERPT
) -> Html:
    """
    Write a message.

    Args:
        trace: The session that it is in.
        links: Where the pages of the session are.
        message: As it was shown.
        badges: Words about it.
        most: Characters of a part that are shown.
    """
    position = trace.positions.get(message.id)
    number = "made by the compaction" if position is None else f"#{position:,}"
    where = links.message(message.id)
    words = [*badges, *_badges(trace, message)]
    return h(
        "article",
        h(
            "h3",
            h("span", role(message), class_=f"role {role(message).replace(' ', '-')}"),
            " ",
            h("a", number, href=where) if where else number,
        ),
        h(
            "p",
            h("span", f"{trace.counter.message(message):,} tokens"),
            [h("span", word, class_="badge") for word in words],
            h("code", trace.handles.get(message.id)) if position is not None else None,
            class_="facts",
        ),
        [_part(part, where, most) for part in message.parts],
        class_="message",
        id=f"m-{message.id[:16]}" if links.live else None,
    )


def role(message: Message) -> str:
    """Return what a message is, as people call it."""
    if is_snapshot(message):
        return "snapshot"
    if message.has_results and not message.is_spoken():
        return "tool result"
    return message.role


def _badges(trace: Trace, message: Message) -> Iterator[str]:
    if message.pinned:
        yield "pinned"
    position = trace.positions.get(message.id)
    if position is not None and trace.log[position] != message:
        yield "shown shortened"


def _part(part: Part, where: str | None, most: int) -> Html:
    match part:
        case ToolCall():
            return _block(f"call {part.name}", part.arguments, where, most, "call")
        case ToolResult():
            name = "error" if part.is_error else "result"
            media = [_medium(piece) for piece in part.content if isinstance(piece, Media)]
            title = f"{name} of {part.name}" if part.name else name
            return h("div", _block(title, part.text, where, most, name), media)
        case Thinking():
            return _block("reasoning", part.text or "(hidden)", where, most, "reasoning")
        case Media():
            return _medium(part)
        case Omitted():
            return h("p", f"[{part.kind}: this part is not sent]", class_="omitted")
        case Text():
            return _text(part.text, where, most)
        case _:
            return _block(part.kind, part.text or "(opaque)", where, most, "opaque")


def _block(title: str, text: str, where: str | None, most: int, kind: str) -> Html:
    return h("div", h("h4", title[:200]), _text(text, where, most), class_=f"part {kind}")


def _text(text: str, where: str | None, most: int) -> Html:
    rest = len(text) - most
    more: Child = None
    if rest > 0:
        words = f"{rest:,} more characters"
        more = h("p", h("a", words, href=where) if where else words, class_="more")
    return h("div", h("pre", text[:most], dir="auto"), more)


def _medium(media: Media) -> Html:
    shape = f", {media.width}×{media.height}" if media.width and media.height else ""
    return h(
        "p", f"[{media.kind} {media.media_type}{shape}, {size(media.size)}]", class_="omitted"
    )


def excerpt(message: Message, most: int = 160) -> str:
    """Return how a message begins, on one line."""
    for part in message.parts:
        match part:
            case Text() | Thinking() | ToolResult() if part.text.strip():
                return _line(part.text, most)
            case ToolCall():
                return _line(f"{part.name} {part.arguments}", most)
            case Media():
                return f"[{part.kind} {part.media_type}]"
            case Omitted():
                return f"[{part.kind}]"
    return ""


def _line(text: str, most: int) -> str:
    words = " ".join(text[: most * 4].split())
    return words if len(words) <= most else f"{words[: most - 1]}…"
