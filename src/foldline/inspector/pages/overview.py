"""A session over time: the chart, its figures, and what happened to the view."""

from __future__ import annotations

from dataclasses import replace

from foldline.inspector.chart import Range, legend, over_time
from foldline.inspector.html import Child, Html, h, join
from foldline.inspector.pages.layout import (
    Links,
    brief,
    form,
    moment,
    note,
    number,
    section,
    share,
    table,
    tile,
)
from foldline.inspector.trace import SessionTrace
from foldline.values.messages import Message

LISTED = 200
"""Compactions in the table."""


def overview(trace: SessionTrace, links: Links, drawn: Range | None = None) -> Html:
    """Write the page that a session opens with."""
    points = trace.timeline.points
    whole = Range(0, len(points))
    drawn = drawn or whole
    return join(
        _conversations(trace, links),
        h(
            "section",
            h("h1", "Over time"),
            tiles(trace),
            over_time(trace, links, drawn),
            legend(trace, drawn),
            _walk(links, drawn, whole) if links.live else None,
        ),
        compactions(trace, links),
        [note(f"warning: {words}", "note warning") for words in trace.source.warnings[:20]],
    )


def tiles(trace: SessionTrace) -> Html:
    """Write the figures of a session."""
    now, points = trace.timeline.now, trace.timeline.points
    peak = max(points, key=lambda point: point.tokens)
    changes = sum(s.revision is not None and s.revision.cause != "undo" for s in trace.segments)
    window = trace.model.window
    lost = sum(trace.counter.message(m) for m in find_gone(trace))
    return h(
        "dl",
        tile("in view now", now.tokens, f"tokens, {share(now.tokens, window)} of the window"),
        tile("no longer in view", lost, "tokens that were said and are out of sight"),
        tile("requests", len(points) - 1, f"the fullest took {brief(peak.tokens)} tokens"),
        tile("compactions", changes, "of the agent itself" if not trace.is_ours else None),
        class_="tiles",
    )


def find_gone(trace: SessionTrace) -> list[Message]:
    """Return the messages that were said and are not in view now, whole or shortened."""
    shown = {message.id for message in trace.segments[-1].messages}
    return [message for message in trace.log if message.id not in shown]


def _conversations(trace: SessionTrace, links: Links) -> Child:
    names = trace.source.conversations
    if not names or not links.live:
        return None
    options = [
        h(
            "option",
            f"{index + 1}: {name}",
            value=str(index),
            selected=index == trace.source.chosen,
        )
        for index, name in enumerate(names[:2_000])
    ]
    return form(
        replace(links, around=()),
        "",
        h("label", "Conversation ", h("select", options, name="conversation")),
        h("button", "Show", type="submit"),
    )


def _walk(links: Links, drawn: Range, whole: Range) -> Html:
    """Offer what the chart does with the mouse to those who have none, and without a script."""
    last = str(whole.end - 1)
    goto = h("label", "See request ", number("n", max=last, required=True))
    first = h("label", "Draw requests ", number("first", str(drawn.first), max=last))
    end = h("label", " to ", number("end", str(drawn.end), min="1", max=str(whole.end)))
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
    shown = table("What was taken out of view, and when", heads, rows[::-1][:LISTED])
    return section("Compactions", shown)


def _row(trace: SessionTrace, links: Links, index: int) -> list[Child]:
    segment, before = trace.segments[index], trace.segments[index - 1]
    revision = segment.revision
    old = trace.counter.messages(before.messages)
    new = trace.counter.messages(segment.messages[: segment.start])
    receipt = revision.receipt if revision else None
    cause = revision.cause if revision else "recorded"
    name = f"{'undo' if cause == 'undo' else 'compaction'} {index}"
    by = receipt.reason if receipt else "the agent"
    if revision and revision.undone:
        by = f"{by} (taken back later)"
    at = f"request {trace.timeline.marks[index]:,}"
    when = f"{at}, {moment(revision.time):%Y-%m-%d %H:%M}" if revision and revision.time else at
    return [h("a", name, href=links.compaction(index)), old, new, share(old - new, old), by, when]
