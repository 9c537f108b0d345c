"""What the model saw at one request: every message of it, exactly as it was shown."""

from __future__ import annotations

from foldline.inspector.chart import label, stacked, swatch
from foldline.inspector.html import Child, Html, h, join
from foldline.inspector.pages.layout import (
    Links,
    ListPage,
    counted,
    link,
    note,
    section,
    share,
    table,
)
from foldline.inspector.pages.messages import article
from foldline.inspector.timeline import BANDS, Point
from foldline.inspector.trace import SessionTrace

PAGE = 60
"""Messages on one page."""


def step(trace: SessionTrace, links: Links, number: int, page: int | None = None) -> Html:
    """
    Write what the model saw.

    Args:
        trace: The session.
        links: Where its pages are.
        number: Of the request, from 0.
        page: Which messages of it, `PAGE` at a time from 0; None for the newest.
    """
    point = trace.timeline.points[number]
    view = trace.view(point.request)
    part = ListPage.of(len(view), PAGE, page)
    nav = part.nav(links, f"requests/{number}", part.words("Messages"), "Pages of messages")
    answer = trace.segments[point.request.segment].messages[
        point.request.length : point.request.end
    ]
    shown = [article(trace, links, message) for message in view[part.held]]
    return join(
        h(
            "section",
            h("h1", _title(point)),
            _walk(trace, links, point),
            _source(trace),
            _figures(trace, point),
        ),
        section("What the model saw", nav, shown, nav if len(view) > PAGE else None),
        section(
            "What it answered",
            [article(trace, links, message) for message in answer]
            or note("It has not been asked yet: this is what it would see."),
            class_="answer",
        ),
    )


def _title(point: Point) -> str:
    if point.request.end == point.request.length:
        return "What the model would see now"
    return f"What the model saw at request {point.request.number:,}"


def _source(trace: SessionTrace) -> Html:
    if trace.is_ours:
        return note("Replayed from the log and its edits: this is what was sent, word for word.")
    return note(
        "From the agent's own file: these are the messages that it recorded. "
        "What its program added to a request besides is not in the file."
    )


def _walk(trace: SessionTrace, links: Links, point: Point) -> Html:
    number, last = point.request.number, len(trace.timeline.points) - 1
    before = links.request(number - 1) if number else None
    after = links.request(number + 1) if number < last else None
    index = point.request.segment
    since = trace.timeline.marks[index]
    words: Child = None
    if index:
        gap = number - since
        when = "just before this request" if not gap else f"{counted(gap, 'request')} ago"
        words = h(
            "span",
            "Last change of the view: ",
            h("a", f"{index}", href=links.compaction(index)),
            f", {when}",
        )
    return h(
        "p",
        link("← request before", before, rel="prev") if before else None,
        " ",
        link("request after →", after, rel="next") if after else None,
        " ",
        h("a", "Does it know…?", href=links.page("knows", at=number)),
        " ",
        words,
        class_="walk",
    )


def _figures(trace: SessionTrace, point: Point) -> Html:
    whole = point.tokens
    rows: list[list[Child]] = [
        [join(swatch(band), " ", label(name)), point.sizes[band], share(point.sizes[band], whole)]
        for band, name in enumerate(BANDS)
        if point.sizes[band]
    ]
    rows.append(["together", whole, f"{share(whole, trace.model.window)} of the window"])
    counted_by = (
        trace.counter.name if trace.counter.texts.exact else f"{trace.counter.name}, not exact"
    )
    words = f"{point.cached:,} tokens begin as the request before did, {point.written:,} are new."
    if point.lost:
        words += f" Cache break: {point.lost:,} tokens of the request before stand there no more."
    said: Child = None
    if point.reported:
        used = point.reported
        said = note(
            f"The provider counted {used.total - used.output:,} tokens of input, "
            f"{used.cache_read:,} of them from the cache, and {used.output:,} of output."
        )
    return h(
        "div",
        stacked(point.sizes, max(whole, 1)),
        h(
            "details",
            h("summary", f"{whole:,} tokens, by kind"),
            table(f"Tokens by kind, counted by {counted_by}", ("kind", ">tokens", ">share"), rows),
        ),
        note(words),
        said,
    )
