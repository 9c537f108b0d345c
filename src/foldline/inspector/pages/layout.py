"""The layout shared by all pages: frame, navigation, addresses, tables and form fields."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final
from urllib.parse import quote, urlencode

from foldline.evaluation.figures import local_time, moment, plural, size
from foldline.frozen import frozen
from foldline.inspector.html import Child, Html, Value, h, join, rect
from foldline.inspector.timeline import BANDS, Point
from foldline.inspector.trace import SessionTrace

_UNITS: Final = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def ago(seconds: float) -> str:
    """Write an age: ``3 hours ago``."""
    for size_, unit in _UNITS:
        if seconds >= size_:
            return f"{plural(int(seconds // size_), unit)} ago"
    return "just now"


@frozen
class Links:
    """
    The addresses of one session.

    ``base`` is their prefix, such as ``/s/1f0c2a9b``; "" in a report, which has anchors instead.
    ``around`` are parameters kept in every address, such as the selected conversation.
    """

    base: str
    around: tuple[tuple[str, str], ...] = ()

    @property
    def live(self) -> bool:
        """Whether a server answers the links."""
        return bool(self.base)

    def page(self, name: str = "", **parameters: str | int) -> str:
        """Return the address of a page of the session."""
        if not self.base:
            return f"#{name or 'overview'}"
        query = urlencode([*self.around, *parameters.items()])
        return f"{self.base}{'/' if name else ''}{name}{'?' if query else ''}{query}"

    def request(self, number: int) -> str | None:
        """Return the address of the view at a request; None in a report."""
        return self.page(f"requests/{number}") if self.base else None

    def compaction(self, index: int) -> str:
        """Return the address of the compaction that a segment begins with."""
        return self.page(f"compactions/{index}") if self.base else f"#compaction-{index}"

    def message(self, number: str) -> str | None:
        """Return the address of a whole message; None in a report."""
        return self.page(f"messages/{quote(number)}") if self.base else None


TABS = (
    ("", "Over time"),
    ("forgotten", "What it forgot"),
    ("tokens", "Where the tokens are"),
    ("knows", "Does it still know…?"),
    ("what-if", "What if"),
    ("cost", "Cost"),
)
"""The pages of a session and their titles."""


def page(title: str, header: Child, main: Child, version: str = "", refresh: int = 0) -> Html:
    """
    Write a whole page.

    Args:
        title: Its title.
        header: The content above the main part.
        main: The main content.
        version: Changes with the session, so that an open page can follow it; "" if
            it need not.
        refresh: Seconds after which the page reloads; 0 for never.
    """
    return join(
        Html("<!doctype html>"),
        h(
            "html",
            h(
                "head",
                h("meta", charset="utf-8"),
                h("meta", name="viewport", content="width=device-width, initial-scale=1"),
                h("meta", name="color-scheme", content="light dark"),
                h("meta", http_equiv="refresh", content=refresh) if refresh else None,
                h("title", f"{title} · foldline inspect"),
                h("link", rel="stylesheet", href="/static/inspect.css"),
                h("link", rel="icon", href="data:,"),
                h("script", src="/static/inspect.js", defer=True),
            ),
            h(
                "body",
                h("a", "Skip to the content", href="#content", class_="skip"),
                header,
                h("main", main, id="content", tabindex="-1", data_version=version),
                h("p", id="news", role="status", aria_live="polite", class_="unseen"),
                footer(),
            ),
            lang="en",
        ),
    )


def footer() -> Html:
    """Write the footer: keyboard shortcuts, and a note that nothing leaves this machine."""
    keys = (("/", "search"), ("←", "previous request"), ("→", "next request"), ("t", "theme"))
    return h(
        "footer",
        h("p", "Keys: ", [join(h("kbd", key), f" {what}  ") for key, what in keys]),
        h("p", "Nothing on these pages leaves this machine."),
    )


def top(crumbs: Sequence[tuple[str, str | None]]) -> Html:
    """Write the breadcrumbs at the top of a page."""
    items = [
        h("li", link(name, href) if href else h("span", name, aria_current="page"))
        for name, href in crumbs
    ]
    return h(
        "nav",
        h("ol", h("li", h("a", "foldline inspect", href="/", class_="brand")), items),
        h("button", "Theme", type="button", id="theme", hidden=True),
        class_="crumbs",
        aria_label="Where you are",
    )


def session_header(trace: SessionTrace, links: Links, tab: str, now: float) -> Html:
    """Write the header of every page of a session: breadcrumbs, tabs, and a description."""
    tabs = [
        h("li", link(name, links.page(path), aria_current="page" if path == tab else None))
        for path, name in TABS
    ]
    return h(
        "header",
        top(((trace.source.title, links.page()),)),
        h("nav", h("ul", tabs), class_="tabs", aria_label="Views of this session"),
        about(trace, now),
    )


def about(trace: SessionTrace, now: float) -> Html:
    """Describe a session in one line."""
    source, model = trace.source, trace.model
    facts: list[Child] = [
        source.agent,
        source.project or None,
        f"{model.name or 'model unknown'}{'' if model.resolved else ' (window assumed)'}",
        plural(len(trace.log), "message"),
        size(source.size),
        when(source.changed, now),
    ]
    kind = "an archive of Foldline" if trace.is_ours else "an agent's own file, never changed"
    spans = [join(h("span", fact), " ") for fact in facts if fact is not None]
    return h("p", spans, h("span", kind), class_="about")


def link(words: Child, href: str | None, **attributes: Value) -> Child:
    """Write a link, or only its text if it has no target."""
    return h("a", words, href=href, **attributes) if href else words


def button(words: str, href: str, **attributes: Value) -> Html:
    """Write a link that looks like a button."""
    return h("p", h("a", words, href=href, class_="button", **attributes))


def walk(noun: str, before: str | None, after: str | None, *more: Child) -> Html:
    """Write the links to the previous and the next item."""
    return h(
        "p",
        link(f"← {noun} before", before, rel="prev") if before else None,
        " ",
        link(f"{noun} after →", after, rel="next") if after else None,
        more,
        class_="walk",
    )


def opening(title: str, *content: Child, **attributes: Value) -> Html:
    """Write the first section of a page, under the title of the page."""
    return h("section", h("h1", title), *content, **attributes)


def section(title: str, *content: Child, **attributes: Value) -> Html:
    """Write a section of a page under its title."""
    return h("section", h("h2", title), *content, **attributes)


def form(links: Links, path: str, *fields: Child, class_: str = "inline", **rest: Value) -> Html:
    """Write a form that requests a page of a session, with the parameters of every address."""
    keep = [hidden_field(name, value) for name, value in links.around]
    action = f"{links.base}{path}"
    return h("form", keep, fields, method="get", action=action, class_=class_, **rest)


def hidden_field(name: str, value: str) -> Html:
    """Write a hidden field."""
    return h("input", type="hidden", name=name, value=value)


def number(name: str, value: Value = None, **attributes: Value) -> Html:
    """Write a field for a non-negative number."""
    return h("input", **{"type": "number", "name": name, "min": "0", "value": value, **attributes})


def search(value: str, placeholder: str, **attributes: Value) -> Html:
    """Write the search field of a page."""
    fixed: dict[str, Value] = {"type": "search", "name": "q", "id": "search"}
    asks: dict[str, Value] = {"placeholder": placeholder, "autocomplete": "off"}
    return h("input", value=value, **fixed, **asks, **attributes)


def when(changed: float, now: float) -> Html:
    """Write how long ago something changed; both times in seconds since 1970."""
    at = moment(changed).astimezone()
    exact, words = at.isoformat(timespec="seconds"), local_time(changed)
    return h("time", ago(now - changed), datetime=exact, title=words)


def tiles(*figures: Html) -> Html:
    """Write figures with their names, side by side; see `tile`."""
    return h("dl", figures, class_="tiles")


def details(summary: Child, *content: Child, **attributes: Value) -> Html:
    """Write a summary that expands to show its content."""
    return h("details", h("summary", summary), content, **attributes)


def tile(name: str, value: Child, note: Child = None) -> Html:
    """Write a figure with its name."""
    return h("div", h("dt", name), h("dd", value, h("small", note) if note else None))


def note(words: Child, kind: str = "note") -> Html:
    """Write a note in its own paragraph."""
    return h("p", words, class_=kind)


def table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[Child]]) -> Html:
    """
    Write a table.

    Args:
        caption: Its title.
        heads: Names of columns; ``>`` before one makes a column of numbers.
        rows: Cells; the first of each names its row.
    """
    kinds = ["number" if head.startswith(">") else None for head in heads]
    cells = [
        h("th", head.lstrip(">"), scope="col", class_=kind)
        for head, kind in zip(heads, kinds, strict=True)
    ]
    body = []
    for first, *others in rows:
        rest = [h("td", cell, class_=kind) for cell, kind in zip(others, kinds[1:], strict=True)]
        body.append(h("tr", h("th", first, scope="row", class_=kinds[0]), rest))
    return wide(caption, cells, body)


def wide(label: str, heads: Child, rows: Child, caption: str = "", class_: Value = None) -> Html:
    """Write a table from elements; it scrolls if it does not fit."""
    head = h("thead", h("tr", heads))
    drawn = h("table", h("caption", caption or label), head, h("tbody", rows), class_=class_)
    return h("div", drawn, class_="wide", tabindex="0", role="region", aria_label=label)


@frozen
class ListPage:
    """One page of a list of ``size`` items, ``most`` per page: the ``chosen`` one, from 0."""

    size: int
    most: int
    chosen: int

    @classmethod
    def of(cls, size: int, most: int, requested: int | None) -> ListPage:
        """Return the page nearest to a requested one; None requests the last."""
        last = max(0, (size - 1) // most)
        return cls(size, most, last if requested is None else min(max(requested, 0), last))

    @property
    def count(self) -> int:
        """The number of pages."""
        return max(1, -(-self.size // self.most))

    @property
    def held(self) -> slice:
        """The slice of the list on this page."""
        return slice(self.chosen * self.most, min(self.size, (self.chosen + 1) * self.most))

    def words(self, noun: str) -> str:
        """Describe which items the page has."""
        first, end = self.held.start, self.held.stop
        return f"{noun} {first + 1:,} to {end:,} of {self.size:,}" if self.size else f"No {noun}"

    def nav(
        self, links: Links, path: str, words: str, label: str = "Pages", **rest: str | int
    ) -> Html:
        """Write the page number, with links to the first, previous, next and last page."""
        at, end = self.chosen, self.count
        places = (("first", 0), ("before", at - 1), ("after", at + 1), ("last", end - 1))
        ways = [
            join(" ", h("a", name, href=links.page(path, page=place, **rest)))
            for name, place in places
            if links.live and 0 <= place < end and place != at
        ]
        return h("nav", h("span", words), ways, class_="pages", aria_label=label)


# --- drawings: columns, and kinds of tokens in their colours ---------------------------------


def divide(points: Sequence[Point], most: int) -> list[Sequence[Point]]:
    """Divide requests among at most ``most`` columns of a drawing."""
    count = min(most, len(points))
    edges = [len(points) * index // max(1, count) for index in range(count + 1)]
    return [points[start:end] for start, end in pairwise(edges)]


def kind_name(kind: str) -> Html:
    """Write the name of a kind after its colour."""
    colour = h("span", class_=f"swatch kind-{BANDS.index(kind)}", aria_hidden="true")
    return join(colour, " ", _label(kind))


def _label(kind: str) -> str:
    short = {"tools": "tool schemas", "tool calls": "calls", "tool results": "results"}
    return short.get(kind, kind)


def draw_bar(sizes: Sequence[int], whole: int) -> Html:
    """Draw the tokens of one request as a bar."""
    pieces, left = [], 0.0
    for band, tokens in enumerate(sizes):
        width = 100 * tokens / max(1, whole)
        if tokens:
            name = h("title", f"{_label(BANDS[band])}: {tokens:,}")
            place = (f"{left:.2f}%", "0", f"{width:.2f}%", "12")
            pieces.append(rect(*place, name, class_=f"kind-{band}"))
        left += width
    return join(h("svg", pieces, class_="bar", width="100%", height="12", aria_hidden="true"))
