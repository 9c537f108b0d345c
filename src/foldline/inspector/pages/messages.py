"""Messages, fully escaped: one, a whole one, and all that the model saw at a request."""

from __future__ import annotations

from typing import Final

from foldline.evaluation.figures import plural, share, shorten, size
from foldline.inspector.html import Child, Html, h, join
from foldline.inspector.pages.layout import (
    Links,
    ListPage,
    button,
    details,
    draw_bar,
    kind_name,
    link,
    note,
    opening,
    section,
    table,
    walk,
)
from foldline.inspector.timeline import BANDS, Point
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
"""Characters of a part shown before a link to the rest."""


def article(trace: SessionTrace, links: Links, message: Message, most: int = EXCERPT) -> Html:
    """
    Write a message.

    Args:
        trace: The session that it is in.
        links: The addresses of its pages.
        message: The message as it was in view.
        most: Maximum characters shown of a part.
    """
    position = trace.positions.get(message.id)
    number = "made by the compaction" if position is None else f"#{position:,}"
    where = links.message(message.id)
    facts: list[Child] = [h("span", f"{trace.counter.message(message):,} tokens")]
    if message.pinned:
        facts.append(h("span", "pinned", class_="badge"))
    if position is not None:
        if trace.log[position] != message:
            facts.append(h("span", "shortened", class_="badge"))
        facts.append(h("code", trace.handles.get(message.id)))
    return h(
        "article",
        h("h3", role_badge(message), " ", link(number, where)),
        h("p", facts, class_="facts"),
        [_part(part, where, most) for part in message.parts],
        class_="message",
        id=f"m-{message.id[:16]}" if links.live else None,
    )


def role_badge(message: Message) -> Html:
    """Write the role of a message, in its colour."""
    kind = role(message)
    return h("span", kind, class_=f"role {kind.replace(' ', '-')}")


def role(message: Message) -> str:
    """Return the role of a message as readable text."""
    if is_snapshot(message):
        return "snapshot"
    if message.has_results and not message.is_from_user():
        return "tool result"
    return message.role


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
    rest = link(f"{len(text) - most:,} more characters", where)
    more = h("p", rest, class_="more") if len(text) > most else None
    return h("div", h("pre", text[:most], dir="auto"), more)


def _medium(media: Media) -> Html:
    shape = f", {media.width}×{media.height}" if media.width and media.height else ""
    words = f"[{media.kind} {media.media_type}{shape}, {size(media.size)}]"
    return h("p", words, class_="omitted")


def excerpt(message: Message, most: int = 160) -> str:
    """Return the start of a message, on one line."""
    for part in message.parts:
        match part:
            case Text() | Thinking() | ToolResult() if part.text.strip():
                return shorten(part.text, most)
            case ToolCall():
                return shorten(f"{part.name} {part.arguments}", most)
            case Media():
                return f"[{part.kind} {part.media_type}]"
            case Omitted():
                return f"[{part.kind}]"
    return ""


PAGE: Final = 60_000
"""Characters per page."""


def whole_message(trace: SessionTrace, links: Links, number: str, page: int) -> Child:
    """
    Write a message.

    Args:
        trace: The session.
        links: Where its pages are.
        number: The id of the message.
        page: Page of a long message, from 0.

    Returns:
        None if there is no such message.
    """
    message = trace.find(number)
    if message is None:
        return None
    now = next((m for m in trace.segments[-1].messages if m.id == number), None)
    long = sum(map(len, visible_texts(message))) > PAGE
    return join(
        opening(
            role(message).capitalize(),
            _standing(trace, links, message, now),
            _whole(trace, links, message, page) if long else article(trace, links, message, PAGE),
        ),
        _render_current(trace, links, message, now),
    )


def _standing(trace: SessionTrace, links: Links, message: Message, now: Message | None) -> Child:
    handle = trace.handles.get(message.id, "")
    if now == message:
        words: Child = "It is in view, unchanged."
    elif now is not None:
        words = "It is in view, shortened, as below."
    elif trace.is_ours:
        command = h("code", f"foldline recall {handle}")
        words = ["It is out of view. The model can recall it with ", command, "."]
    else:
        words = "It is out of view; only the agent's file still has it."
    fold = None
    if trace.can_fold(message.id):
        fold = button("Compact from here…", links.page(f"fold/{message.id}"))
    return join(note(words), fold)


def _render_current(
    trace: SessionTrace, links: Links, message: Message, now: Message | None
) -> Child:
    if now is None or now == message:
        return None
    parts = any(not isinstance(part, Omitted) for part in now.parts)
    content = article(trace, links, now, most=PAGE) if parts else note("Nothing.")
    return section("As the model sees it", content)


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


# --- what the model saw at a request --------------------------------------------------------

AT_ONCE = 60
"""Messages per page."""


def step(trace: SessionTrace, links: Links, number: int, page: int | None = None) -> Html:
    """
    Write the view of the model at a request.

    Args:
        trace: The session.
        links: Where its pages are.
        number: Number of the request, from 0.
        page: Page of `AT_ONCE` messages, from 0; None for the newest.
    """
    point = trace.timeline.points[number]
    view = trace.view(point.request)
    part = ListPage.of(len(view), AT_ONCE, page)
    nav = part.nav(links, f"requests/{number}", part.words("Messages"), "Pages of messages")
    segment = trace.segments[point.request.segment]
    answer = segment.messages[point.request.length : point.request.end]
    articles = [article(trace, links, message) for message in view[part.held]]
    return join(
        opening(
            _title(point), _steps(trace, links, point), _source(trace), _figures(trace, point)
        ),
        section("What the model saw", nav, articles, nav if len(view) > AT_ONCE else None),
        section(
            "What it answered",
            [article(trace, links, message) for message in answer]
            or note("This request has not been sent yet: it is what the model would see."),
            class_="answer",
        ),
    )


def _title(point: Point) -> str:
    if point.request.end == point.request.length:
        return "What the model would see now"
    return f"What the model saw at request {point.request.number:,}"


def _source(trace: SessionTrace) -> Html:
    if trace.is_ours:
        return note("Replayed from the log and its edits: this was sent, word for word.")
    return note(
        "From the agent's own file: the messages that it recorded. "
        "Anything else that its program added to a request is not in the file."
    )


def _steps(trace: SessionTrace, links: Links, point: Point) -> Html:
    number, last = point.request.number, len(trace.timeline.points) - 1
    before = links.request(number - 1) if number else None
    after = links.request(number + 1) if number < last else None
    index = point.request.segment
    since = trace.timeline.marks[index]
    words: Child = None
    if index:
        gap = number - since
        when = "just before this request" if not gap else f"{plural(gap, 'request')} ago"
        change = h("a", f"{index}", href=links.compaction(index))
        words = h("span", "Last change of the view: ", change, f", {when}")
    ask = h("a", "Does it know…?", href=links.page("knows", at=number))
    return walk("request", before, after, " ", ask, " ", words)


def _figures(trace: SessionTrace, point: Point) -> Html:
    whole = point.tokens
    rows: list[list[Child]] = [
        [kind_name(name), tokens, share(tokens, whole)]
        for name, tokens in zip(BANDS, point.sizes, strict=True)
        if tokens
    ]
    rows.append(["total", whole, f"{share(whole, trace.model.window)} of the window"])
    inexact = "" if trace.counter.texts.exact else ", not exact"
    caption = f"Tokens by kind, counted by {trace.counter.name}{inexact}"
    kinds = table(caption, ("kind", ">tokens", ">share"), rows)
    words = f"{point.cached:,} tokens match the previous request, {point.written:,} are new."
    if point.lost:
        words += f" Cache break: {point.lost:,} tokens of the previous request no longer match."
    counted_by_provider: Child = None
    if point.reported:
        used = point.reported
        counted_by_provider = note(
            f"The provider counted {used.total - used.output:,} tokens of input, "
            f"{used.cache_read:,} of them from the cache, and {used.output:,} of output."
        )
    return h(
        "div",
        draw_bar(point.sizes, max(whole, 1)),
        details(f"{whole:,} tokens, by kind", kinds),
        note(words),
        counted_by_provider,
    )
