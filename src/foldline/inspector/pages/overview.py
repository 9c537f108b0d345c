"""A session over time: the chart, its figures, and what happened to the view."""

from __future__ import annotations

from dataclasses import replace

from foldline.inspector.chart import legend, over_time
from foldline.inspector.comparison import around
from foldline.inspector.html import Child, Html, h, join
from foldline.inspector.pages.layout import (
    Links,
    brief,
    form,
    link,
    moment,
    note,
    number,
    opening,
    section,
    share,
    table,
    tile,
    tiles,
)
from foldline.inspector.timeline import Revision
from foldline.inspector.trace import SessionTrace

LISTED = 200
"""Compactions in the table."""


def overview(trace: SessionTrace, links: Links, drawn: range | None = None) -> Html:
    """Write the page that a session opens with."""
    points = trace.timeline.points
    whole = range(len(points))
    drawn = drawn or whole
    return join(
        _conversations(trace, links),
        opening(
            "Over time",
            figures(trace),
            over_time(trace, links, drawn),
            legend(trace, drawn),
            _walk(links, drawn, whole) if links.live else None,
        ),
        compactions(trace, links),
        [note(f"warning: {words}", "note warning") for words in trace.current.warnings[:20]],
    )


def figures(trace: SessionTrace) -> Html:
    """Write the figures of a session."""
    now, points = trace.timeline.now, trace.timeline.points
    peak = max(points, key=lambda point: point.tokens)
    filled = share(now.tokens, trace.model.window)
    view_ids = {message.id for message in trace.segments[-1].messages}
    lost = sum(trace.counter.message(m) for m in trace.log if m.id not in view_ids)
    return tiles(
        tile("in view now", now.tokens, f"tokens, {filled} of the window"),
        tile("no longer in view", lost, "tokens that were said and are out of sight"),
        tile("requests", len(points) - 1, f"the fullest took {brief(peak.tokens)} tokens"),
        tile("compactions", trace.compactions, None if trace.is_ours else "of the agent itself"),
    )


def _conversations(trace: SessionTrace, links: Links) -> Child:
    names = trace.conversations
    if not names or not links.live:
        return None
    options = [
        h("option", f"{index + 1}: {name}", value=str(index), selected=index == trace.chosen)
        for index, name in enumerate(names[:2_000])
    ]
    choice = h("label", "Conversation ", h("select", options, name="conversation"))
    show = h("button", "Show", type="submit")
    return form(replace(links, around=()), "", choice, show)


def _walk(links: Links, drawn: range, whole: range) -> Html:
    """Offer what the chart does with the mouse to those who have none, and without a script."""
    last = str(whole.stop - 1)
    goto = h("label", "See request ", number("n", max=last, required=True))
    first = h("label", "Draw requests ", number("first", str(drawn.start), max=last))
    end = h("label", " to ", number("end", str(drawn.stop), min="1", max=str(whole.stop)))
    return h(
        "div",
        form(links, "/requests", goto, h("button", "What the model saw")),
        form(links, "", first, end, h("button", "Draw")),
        class_="controls",
    )


def compactions(trace: SessionTrace, links: Links) -> Html:
    """List the changes of the view, the newest first."""
    rows = [_row(trace, links, index) for index in range(1, len(trace.segments))]
    if not rows:
        words = "Nothing was ever taken out of its view: it still sees all that was said."
        return section("Compactions", note(words))
    heads = ("change", ">before", ">after", ">saved", "by", "when")
    content = table("What was taken out of view, and when", heads, rows[::-1][:LISTED])
    return section("Compactions", content)


def _row(trace: SessionTrace, links: Links, index: int) -> list[Child]:
    revision = trace.segments[index].revision or Revision("recorded")
    old, new = map(trace.counter.messages, around(trace.segments, index))
    by = revision.receipt.reason if revision.receipt else "the agent"
    if revision.undone:
        by = f"{by} (taken back later)"
    when = f"request {trace.timeline.marks[index]:,}"
    if revision.time:
        when = f"{when}, {moment(revision.time):%Y-%m-%d %H:%M}"
    name = link(f"{revision.name} {index}", links.compaction(index))
    return [name, old, new, share(old - new, old), by, when]
