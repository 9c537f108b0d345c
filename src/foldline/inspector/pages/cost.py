"""The cost of a session's requests, and of the same session under other policies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import accumulate
from typing import Final

from foldline.core.config import POLICY_NAMES
from foldline.engine.policies import policy as named_policy
from foldline.errors import FoldlineError
from foldline.evaluation.figures import brief, money, share
from foldline.evaluation.pricing import (
    Bill,
    Show,
    as_wire,
    clear_every_step,
    in_session,
    nothing,
    replay,
)
from foldline.frozen import frozen
from foldline.inspector.html import Child, Html, h, join, rect
from foldline.inspector.pages.layout import (
    Links,
    ListPage,
    button,
    divide,
    link,
    note,
    opening,
    section,
    table,
    tile,
    tiles,
)
from foldline.inspector.timeline import Point
from foldline.inspector.trace import SessionTrace
from foldline.models.info import price
from foldline.values.messages import Usage
from foldline.values.transcript import Transcript

MOST: Final = 6_000
"""Maximum messages of a session to replay under other policies: each request sends all of them."""


@frozen
class Total:
    """Total usage of requests, in tokens; ``usd`` in US dollars, None without prices."""

    usage: Usage
    requests: int
    usd: float | None


@frozen
class Alternative:
    """The cost of a session under another policy; ``error`` explains a missing result."""

    name: str
    bill: Bill | None
    usd: float | None
    error: str = ""


def requests_made(trace: SessionTrace) -> tuple[Point, ...]:
    """Return the requests that were made, without the next one."""
    return trace.timeline.points[:-1]


def total(trace: SessionTrace, usages: Iterable[Usage]) -> Total:
    """Add up requests, each priced separately."""
    paid = list(usages)
    costs = [price(trace.model, usage) for usage in paid]
    whole = None if None in costs else sum(filter(None, costs))
    return Total(sum(paid, start=Usage()), len(paid), whole)


def sum_usage(trace: SessionTrace) -> Total:
    """Return the usage of the requests: as reported by the provider, else as counted here."""
    return total(trace, (point.usage for point in requests_made(trace)))


def sum_counted(trace: SessionTrace) -> Total:
    """Return the usage of the requests as counted here, ignoring reported usage."""
    return total(trace, (point.counted for point in requests_made(trace)))


def alternatives(
    trace: SessionTrace, progress: Callable[[float, str], None]
) -> tuple[Alternative, ...]:
    """
    Replay a session under other policies, each request with the prompt cache modelled.

    The whole log is the history; each policy decides what is sent of it.

    Args:
        trace: The session, of at most `MOST` messages.
        progress: Called with the completed fraction and the next step.
    """
    if len(trace.log) > MOST:
        words = f"a session of more than {MOST:,} messages is not replayed"
        return (Alternative("every policy", None, None, words),)
    window = trace.model.window
    history = as_wire(Transcript(trace.log, trace.current.dialect))
    ways: dict[str, Callable[[], Show]] = {
        "everything, never compacted": nothing,
        "results cleared at every step": clear_every_step,
    }
    for name in POLICY_NAMES:
        ways[name.replace("_", "-")] = partial(
            in_session, named_policy(name), window, trace.counter, trace.config
        )
    made = []
    for index, (name, make) in enumerate(ways.items()):
        progress(index / len(ways), f"Replaying: {name}")
        try:
            bill = replay(history, make(), window, trace.counter)
            made.append(Alternative(name, bill, price(trace.model, bill.usage)))
        except FoldlineError as error:
            made.append(Alternative(name, None, None, str(error)))
    return tuple(made)


PAGE = 100
COLUMNS = 240
"""Maximum bars of the drawing; with more requests, neighbours share a bar."""

PARTS = ("cached", "written", "fresh input", "output")


def cost(
    trace: SessionTrace, links: Links, page: int, others: Sequence[Alternative] | None = None
) -> Html:
    """
    Write the cost page of a session.

    Args:
        trace: The session.
        links: The addresses of its pages.
        page: Page of requests, from 0.
        others: The cost under other policies, if it was computed.
    """
    whole = sum_usage(trace)
    used = whole.usage
    cached = share(used.cache_read, used.read)
    reported = sum(point.reported is not None for point in requests_made(trace))
    words = (
        f"Reported by the provider for {reported:,} of {whole.requests:,} requests; "
        "the others are counted here, with a cache that never expires."
    )
    if trace.model.prices is None:
        words += " The model has no known price; name one with foldline inspect --model NAME."
    return join(
        opening(
            "Cost",
            tiles(
                tile("together", money(whole.usd), f"{whole.requests:,} requests"),
                tile("from the cache", brief(used.cache_read), f"{cached} of input"),
                tile("written to the cache", brief(used.cache_write), "tokens"),
                tile("fresh input", brief(used.input), "tokens"),
                tile("output", brief(used.output), "tokens"),
            ),
            note(words),
            _drawing(trace),
            _legend(),
        ),
        _policies(trace, links, others),
        _requests(trace, links, page),
    )


def parts(usage: Usage) -> tuple[int, int, int, int]:
    """Return the usage of a request, in the order of `PARTS`."""
    return usage.cache_read, usage.cache_write, usage.input, usage.output


def _drawing(trace: SessionTrace) -> Html:
    points = requests_made(trace)
    bars = divide(points, COLUMNS)
    sums = [
        [part / len(bar) for part in parts(sum((p.usage for p in bar), Usage()))] for bar in bars
    ]
    top = max(map(sum, sums), default=1.0) or 1.0
    drawn: list[Html] = []
    for index, (bar, sizes) in enumerate(zip(bars, sums, strict=True)):
        x, wide = f"{100 * index / len(bars):.3f}%", f"{86 / len(bars):.3f}%"
        ends = accumulate(190 * size / top for size in sizes)
        pieces = [
            rect(x, 200 - end, wide, 190 * size / top, class_=f"paid-{part}")
            for part, (size, end) in enumerate(zip(sizes, ends, strict=True))
        ]
        words = f"request {bar[0].request.number:,}: " + ", ".join(
            f"{name} {size:,.0f}" for name, size in zip(PARTS, sizes, strict=True)
        )
        drawn.append(h("g", h("title", words), pieces))
    words = "Tokens by billing type at every request; the table has the same figures"
    drawing = h("svg", drawn, width="100%", height="200", role="img", aria_label=words)
    return h("div", drawing, class_="bars")


def _legend() -> Html:
    items = [
        h("li", h("span", class_=f"swatch paid-{i}"), f" {name}") for i, name in enumerate(PARTS)
    ]
    return h("ul", items, class_="legend")


def _policies(trace: SessionTrace, links: Links, others: Sequence[Alternative] | None) -> Html:
    title = "Compared with other policies"
    if others is None:
        way = links.page("cost", compare=1)
        ask = button("Replay it under every policy", way) if links.live else None
        return section(title, note("The cost of this session under other policies."), ask)
    own = sum_counted(trace)
    rows: list[list[Child]] = [["as it was", money(own.usd), own.requests, 0, *parts(own.usage)]]
    for one in others:
        if one.bill is None:
            figures: list[Child] = [one.error, *[""] * 6]
        else:
            bill = one.bill
            figures = [money(one.usd), bill.requests, bill.over, *parts(bill.usage)]
        rows.append([one.name, *figures])
    heads = ("policy", ">price", ">requests", ">too long", *(f">{name}" for name in PARTS))
    words = (
        "All rows are counted here, with a cache that never expires, so that they are comparable; "
        f"the window is {trace.model.window:,} tokens. "
        "Consecutive answers of the agent count as a request each, except in the first row."
    )
    return section(title, table("The same session under other policies", heads, rows), note(words))


def _requests(trace: SessionTrace, links: Links, page: int) -> Html:
    points = requests_made(trace)
    part = ListPage.of(len(points), PAGE, page)
    rows = [_row(trace, links, point) for point in points[part.held]]
    heads = ("request", ">price", *(f">{name}" for name in PARTS), "from", "cache")
    return section(
        "Request by request",
        part.nav(links, "cost", f"Page {part.chosen + 1} of {part.count:,}"),
        table("Usage of each request", heads, rows),
    )


def _row(trace: SessionTrace, links: Links, point: Point) -> list[Child]:
    number = point.request.number
    origin = "provider" if point.reported else "counted here"
    broke = f"broken: {point.lost:,} lost" if point.lost else ""
    name = link(f"{number:,}", links.request(number))
    return [name, money(price(trace.model, point.usage)), *parts(point.usage), origin, broke]
