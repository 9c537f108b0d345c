"""Messages on a page, every word escaped; and one message, whole, a page of it at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from foldline.inspector.html import Child, Html, h, join
from foldline.inspector.pages.layout import (
    Links,
    ListPage,
    button,
    link,
    note,
    one_line,
    section,
    size,
)
from foldline.inspector.trace import SessionTrace
from foldline.values.messages import (
    Media,
    Message,
    Omitted,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    visible_texts,
)
from foldline.values.protect import is_snapshot

EXCERPT: Final = 2_400
"""Characters of a part that are shown before the rest has to be asked for."""


def article(
    trace: SessionTrace,
    links: Links,
    message: Message,
    badges: Sequence[str] = (),
    most: int = EXCERPT,
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
            link(number, where),
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


def _badges(trace: SessionTrace, message: Message) -> Iterator[str]:
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
        more = h("p", link(words, where), class_="more")
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
                return one_line(part.text, most)
            case ToolCall():
                return one_line(f"{part.name} {part.arguments}", most)
            case Media():
                return f"[{part.kind} {part.media_type}]"
            case Omitted():
                return f"[{part.kind}]"
    return ""


PAGE: Final = 60_000
"""Characters on one page."""


def whole_message(trace: SessionTrace, links: Links, number: str, page: int) -> Child:
    """
    Write a message.

    Args:
        trace: The session.
        links: Where its pages are.
        number: Its id.
        page: Which part of a long one, from 0.

    Returns:
        None where there is no such message.
    """
    message = trace.find(number)
    if message is None:
        return None
    now = next((m for m in trace.segments[-1].messages if m.id == number), None)
    size = sum(map(len, visible_texts(message)))
    return join(
        h(
            "section",
            h("h1", f"{role(message)}".capitalize()),
            _standing(trace, links, message, now),
            _whole(trace, links, message, page)
            if size > PAGE
            else article(trace, links, message, most=PAGE),
        ),
        _as_shown(trace, links, message, now),
    )


def _standing(trace: SessionTrace, links: Links, message: Message, now: Message | None) -> Child:
    handle = trace.handles.get(message.id, "")
    if now == message:
        words: Child = "It stands in view as it is."
    elif now is not None:
        words = "It is in view shortened: below is what is shown of it."
    elif trace.is_ours:
        words = [
            "It is out of view. The model gets it back with ",
            h("code", f"foldline recall {handle}"),
            ".",
        ]
    else:
        words = "It is out of view; only the agent's file still has it."
    fold = None
    if trace.can_fold(message.id):
        fold = button("Compact from here…", links.page(f"fold/{message.id}"))
    return join(note(words), fold)


def _as_shown(trace: SessionTrace, links: Links, message: Message, now: Message | None) -> Child:
    if now is None or now == message:
        return None
    parts = any(not isinstance(part, Omitted) for part in now.parts)
    shown = article(trace, links, now, most=PAGE) if parts else note("Nothing of it.")
    return section("As the model sees it", shown)


def _whole(trace: SessionTrace, links: Links, message: Message, page: int) -> Child:
    """Write a part of a long message as plain text."""
    text = "\n\n".join(visible_texts(message))
    part = ListPage.of(len(text), PAGE, page)
    path, words = f"messages/{message.id}", part.words("Characters")
    return h(
        "article",
        h("p", f"{trace.counter.message(message):,} tokens", class_="facts"),
        part.nav(links, path, words, "Pages of this message"),
        h("pre", text[part.held], dir="auto"),
        class_="message",
    )
