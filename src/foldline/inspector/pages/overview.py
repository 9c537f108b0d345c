"""A session over time: the chart, its figures, and the changes of the view."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Final

from foldline.evaluation.figures import brief, local_time, share
from foldline.frozen import replace
from foldline.inspector.comparison import around
from foldline.inspector.html import Child, Html, h, join
from foldline.inspector.pages.layout import (
    Links,
    divide,
    form,
    kind_name,
    link,
    note,
    number,
    opening,
    section,
    table,
    tile,
    tiles,
)
from foldline.inspector.timeline import BANDS, Point, Revision
from foldline.inspector.trace import SessionTrace

LISTED = 200
"""Maximum compactions in the table."""


def overview(trace: SessionTrace, links: Links, drawn: range | None = None) -> Html:
    """Write the start page of a session."""
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
        tile("no longer in view", lost, "tokens of the log that are out of view"),
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
    """Write forms for the mouse actions of the chart, for use without mouse or script."""
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
        words = "Nothing was ever removed from the view: the model still sees every message."
        return section("Compactions", note(words))
    heads = ("change", ">before", ">after", ">saved", "by", "when")
    content = table("Changes of the view", heads, rows[::-1][:LISTED])
    return section("Compactions", content)


def _row(trace: SessionTrace, links: Links, index: int) -> list[Child]:
    revision = trace.segments[index].revision or Revision("recorded")
    old, new = map(trace.counter.messages, around(trace.segments, index))
    by = revision.receipt.reason if revision.receipt else "the agent"
    if revision.undone:
        by = f"{by} (undone later)"
    when = f"request {trace.timeline.marks[index]:,}"
    if revision.time:
        when = f"{when}, {local_time(revision.time)}"
    name = link(f"{revision.name} {index}", links.compaction(index))
    return [name, old, new, share(old - new, old), by, when]


# --- the chart: tokens by kind, lines of limits, marks of changes -----------------------------

COLUMNS: Final = 480
"""Columns of the time axis; of the requests in one column, the fullest is drawn."""

MARKS: Final = 200
"""Maximum compactions marked with a number; beyond that, some have none."""

TALL: Final = 1_000.0
"""The height of the drawing, in its own units; its width is the same."""


def columns(points: Sequence[Point], drawn: range) -> list[Point]:
    """Return the requests to draw: at most `COLUMNS`, the fullest of each column."""
    places = divide(points[drawn.start : drawn.stop], COLUMNS)
    return [max(place, key=lambda point: point.tokens) for place in places]


def over_time(trace: SessionTrace, links: Links, drawn: range) -> Html:
    """
    Draw the tokens of every request by kind.

    Args:
        trace: The session.
        links: The addresses of its pages.
        drawn: The range of requests.
    """
    points = columns(trace.timeline.points, drawn)
    top = _top(trace, points)
    plot = h(
        "svg",
        h("title", "Tokens by kind at every request"),
        list(_areas(points, top)),
        _draw_reported(points, top),
        viewBox=f"0 0 {TALL:.0f} {TALL:.0f}",
        preserveAspectRatio="none",
        x="0",
        y="18",
        width="100%",
        height="260",
        aria_hidden="true",
    )
    drawing = h(
        "svg",
        plot,
        list(_limits(trace, top)),
        list(_breaks(points)),
        list(_marks(trace, links, drawn)),
        h("line", class_="cursor", x1="0", x2="0", y1="18", y2="278", hidden=True),
        h("text", f"request {points[0].request.number}", x="0", y="322", class_="axis"),
        h("text", _last(points[-1]), x="100%", y="322", class_="axis end"),
        class_="over-time",
        width="100%",
        height="328",
        role="group",
        aria_label="Tokens by kind over time",
    )
    requests = [[point.request.number, *point.sizes] for point in points]
    return h(
        "div",
        drawing,
        h("div", class_="scrub", hidden=True),
        h("output", class_="tip", hidden=True),
        class_="chart",
        data_requests=json.dumps(requests, separators=(",", ":")),
        data_bands=json.dumps(BANDS),
        data_href=links.request(0),
    )


def _last(point: Point) -> str:
    coming = point.request.end == point.request.length
    return "the next request" if coming else f"request {point.request.number}"


def _top(trace: SessionTrace, points: Sequence[Point]) -> float:
    """Return the tokens at the upper edge: the fullest request, and limits near it."""
    most = max((point.tokens for point in points), default=1)
    reported = (p.reported.total - p.reported.output for p in points if p.reported)
    most = max(most, max(reported, default=0), 1)
    near = [limit for limit, _ in _lines(trace) if limit <= 2.5 * most]
    return 1.06 * max([most, *near])


def _lines(trace: SessionTrace) -> list[tuple[int, str]]:
    levels = trace.levels
    assumed = "" if trace.model.resolved else ", assumed"
    found = [(trace.model.window, f"window{assumed}")]
    if levels is not None:
        found += [(levels.act, "summarize"), (levels.clear, "clear"), (levels.target, "target")]
    return found


def _places(points: Sequence[Point]) -> list[float]:
    """Return the horizontal positions of requests, from 0 to 1."""
    return [(index + 0.5) / len(points) for index in range(len(points))]


def _areas(points: Sequence[Point], top: float) -> Iterator[Html]:
    edges = [TALL * index / len(points) for index in range(len(points) + 1)]
    across = [x for pair in pairwise(edges) for x in pair]
    stacks = [list(accumulate(point.sizes, initial=0)) for point in points for _ in (0, 1)]

    def edge(band: int) -> list[str]:
        heights = (_height(stack[band], top) for stack in stacks)
        return [f"{x:.1f},{y:.1f}" for x, y in zip(across, heights, strict=True)]

    for band, name in enumerate(BANDS):
        if not any(point.sizes[band] for point in points):
            continue
        line = " ".join((*edge(band + 1), *reversed(edge(band))))
        yield h("polygon", points=line, class_=f"kind-{band}", data_kind=name)


def _height(tokens: float, top: float) -> float:
    return TALL * (1 - tokens / top)


def _draw_reported(points: Sequence[Point], top: float) -> Html | None:
    """Draw the provider's counts, where reported."""
    pairs = [
        f"{TALL * place:.1f},{_height(point.reported.total - point.reported.output, top):.1f}"
        for place, point in zip(_places(points), points, strict=True)
        if point.reported is not None
    ]
    return h("polyline", points=" ".join(pairs), class_="reported") if len(pairs) > 1 else None


def _limits(trace: SessionTrace, top: float) -> Iterator[Html]:
    for limit, name in _lines(trace):
        if limit > top:
            continue
        words = f"{name} {brief(limit)}"
        y = f"{18 + 260 * (1 - limit / top):.1f}"
        yield h("line", x1="0", x2="100%", y1=y, y2=y, class_=f"limit {name.split(',')[0]}")
        yield h("text", words, x="100%", y=f"{float(y) - 4:.1f}", class_="limit end")
    yield h("text", f"{brief(top / 1.06)} tokens", x="0", y="12", class_="axis")


def _breaks(points: Sequence[Point]) -> Iterator[Html]:
    """Mark the requests whose start was no longer cached."""
    for place, point in zip(_places(points), points, strict=True):
        if point.lost:
            title = h("title", f"cache break at request {point.request.number}")
            yield h("circle", title, cx=f"{100 * place:.2f}%", cy="284", r="3", class_="break")


def _marks(trace: SessionTrace, links: Links, drawn: range) -> Iterator[Html]:
    marks = enumerate(trace.timeline.marks)
    found = [(index, at) for index, at in marks if index and at in drawn]
    every = max(1, -(-len(found) // MARKS))
    for index, at in found[::every]:
        x = f"{100 * (at - drawn.start) / max(1, len(drawn)):.2f}%"
        name = (trace.segments[index].revision or Revision("compaction")).name
        line = h("line", x1=x, x2=x, y1="18", y2="278", class_=f"mark {name}")
        label = h("text", str(index), x=x, y="296", class_="mark")
        circle = h("circle", cx=x, cy="292", r="9", class_="mark")
        words = f"{name} {index}, before request {at}"
        yield h("a", line, circle, label, href=links.compaction(index), aria_label=words)


def legend(trace: SessionTrace, drawn: range) -> Html:
    """Write the legend of the chart, with the tokens of the next request."""
    top = _top(trace, columns(trace.timeline.points, drawn))
    above = [f"{name} {brief(limit)}" for limit, name in _lines(trace) if limit > top]
    now, used = trace.timeline.now, trace.timeline.points
    items = [
        h("li", kind_name(name), " ", h("b", now.sizes[band]))
        for band, name in enumerate(BANDS)
        if any(point.sizes[band] for point in used)
    ]
    if any(point.reported for point in used):
        words = " as counted by the provider, with content outside the session"
        items.append(h("li", h("span", class_="line reported"), words))
    if any(point.lost for point in used):
        items.append(h("li", h("span", class_="dot break"), " cache break"))
    if above:
        items.append(h("li", f"above the drawing: {', '.join(above)}"))
    return h("ul", items, class_="legend", aria_label="Colours; tokens now")
