"""One message, whole, a page of it at a time."""

from __future__ import annotations

from foldline.inspector.changing import can_fold
from foldline.inspector.html import Child, h, join
from foldline.inspector.links import Links
from foldline.inspector.pages.layout import note
from foldline.inspector.pages.messages import article, role
from foldline.inspector.pages.step import paging
from foldline.inspector.trace import Trace
from foldline.values.messages import Message, Omitted, visible_texts

PAGE = 60_000
"""Characters on one page."""


def whole_message(trace: Trace, links: Links, number: str, page: int) -> Child:
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


def _standing(trace: Trace, links: Links, message: Message, now: Message | None) -> Child:
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
    if can_fold(trace, message.id):
        fold = h(
            "p",
            h("a", "Compact from here…", href=links.page(f"fold/{message.id}"), class_="button"),
        )
    return join(note(words), fold)


def _as_shown(trace: Trace, links: Links, message: Message, now: Message | None) -> Child:
    if now is None or now == message:
        return None
    parts = any(not isinstance(part, Omitted) for part in now.parts)
    shown = article(trace, links, now, most=PAGE) if parts else note("Nothing of it.")
    return h("section", h("h2", "As the model sees it"), shown)


def _whole(trace: Trace, links: Links, message: Message, page: int) -> Child:
    """Write a part of a long message as plain text."""
    text = "\n\n".join(visible_texts(message))
    count = -(-len(text) // PAGE)
    page = min(max(page, 0), count - 1)
    start = page * PAGE
    words = f"Characters {start + 1:,} to {min(len(text), start + PAGE):,} of {len(text):,}"
    ways = paging(links, f"messages/{message.id}", page, count)
    return h(
        "article",
        h("p", f"{trace.counter.message(message):,} tokens", class_="facts"),
        h("nav", h("span", words), ways, class_="pages", aria_label="Pages of this message"),
        h("pre", text[start : start + PAGE], dir="auto"),
        class_="message",
    )
