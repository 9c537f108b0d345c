"""What every page has around it: its head, the way to the others, and its outline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from foldline.inspector.html import Child, Html, h, join
from foldline.inspector.links import Links
from foldline.inspector.trace import Trace
from foldline.inspector.words import ago, counted, moment, size

TABS = (
    ("", "Over time"),
    ("forgotten", "What it forgot"),
    ("tokens", "Where the tokens are"),
    ("knows", "Does it still know…?"),
    ("what-if", "What if"),
    ("cost", "Cost"),
)
"""The pages of a session and what they are called."""


@dataclass(frozen=True, slots=True)
class Frame:
    """
    What a page stands in.

    ``version`` changes when the session does, so that a page that is open can follow it; "" where
    nothing is followed.
    """

    title: str
    version: str = ""
    refresh: int = 0


def page(frame: Frame, header: Child, main: Child) -> Html:
    """Write a whole page."""
    return join(
        Html("<!doctype html>"),
        h(
            "html",
            h(
                "head",
                h("meta", charset="utf-8"),
                h("meta", name="viewport", content="width=device-width, initial-scale=1"),
                h("meta", name="color-scheme", content="light dark"),
                h("meta", http_equiv="refresh", content=frame.refresh) if frame.refresh else None,
                h("title", f"{frame.title} · foldline inspect"),
                h("link", rel="stylesheet", href="/static/inspect.css"),
                h("link", rel="icon", href="data:,"),
                h("script", src="/static/inspect.js", defer=True),
            ),
            h(
                "body",
                h("a", "Skip to the content", href="#content", class_="skip"),
                header,
                h("main", main, id="content", tabindex="-1", data_version=frame.version),
                h("p", id="news", role="status", aria_live="polite", class_="unseen"),
                footer(),
            ),
            lang="en",
        ),
    )


def footer() -> Html:
    """Say how the pages are used with the keyboard."""
    keys = (("/", "search"), ("←", "request before"), ("→", "request after"), ("t", "theme"))
    return h(
        "footer",
        h("p", "Keys: ", [join(h("kbd", key), f" {what}  ") for key, what in keys]),
        h("p", "Nothing on these pages leaves this machine."),
    )


def top(crumbs: Sequence[tuple[str, str | None]]) -> Html:
    """Write the line at the top: where one is, and the way back."""
    items = [
        h("li", h("a", name, href=href) if href else h("span", name, aria_current="page"))
        for name, href in crumbs
    ]
    return h(
        "nav",
        h("ol", h("li", h("a", "foldline inspect", href="/", class_="brand")), items),
        h("button", "Theme", type="button", id="theme", hidden=True),
        class_="crumbs",
        aria_label="Where you are",
    )


def session_header(trace: Trace, links: Links, tab: str, now: float) -> Html:
    """Write what stands above every page of a session."""
    tabs = [
        h(
            "li",
            h("a", name, href=links.page(path), aria_current="page" if path == tab else None),
        )
        for path, name in TABS
    ]
    return h(
        "header",
        top(((trace.source.title, links.page()),)),
        h("nav", h("ul", tabs), class_="tabs", aria_label="Views of this session"),
        about(trace, now),
    )


def about(trace: Trace, now: float) -> Html:
    """Say in one line what a session is."""
    source, model = trace.source, trace.model
    facts: list[Child] = [source.agent]
    if source.project:
        facts.append(source.project)
    named = model.name or "model not named"
    facts.append(named if model.resolved else f"{named} (window assumed)")
    facts.append(counted(len(trace.log), "message"))
    facts.append(size(source.size))
    changed = moment(source.changed)
    facts.append(
        h(
            "time",
            ago(now - source.changed),
            datetime=changed.isoformat(timespec="seconds"),
            title=f"{changed:%Y-%m-%d %H:%M}",
        )
    )
    kind = "an archive of Foldline" if trace.is_ours else "an agent's own file, never changed"
    return h("p", [join(h("span", fact), " ") for fact in facts], h("span", kind), class_="about")


def tile(name: str, value: Child, note: Child = None) -> Html:
    """Write a figure with its name."""
    return h("div", h("dt", name), h("dd", value, h("small", note) if note else None))


def note(words: Child, kind: str = "note") -> Html:
    """Write a remark that stands apart."""
    return h("p", words, class_=kind)


def table(
    caption: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[Child]],
    *,
    class_: str = "",
) -> Html:
    """
    Write a table.

    Args:
        caption: What it is about.
        heads: Names of columns; ``>`` before one makes a column of numbers.
        rows: Cells; the first of each names its row.
        class_: Of the table.
    """
    numbers = [head.startswith(">") for head in heads]
    cells = [
        h("th", head.lstrip(">"), scope="col", class_="number" if right else None)
        for head, right in zip(heads, numbers, strict=True)
    ]
    body = [
        h(
            "tr",
            [
                h(
                    "th" if index == 0 else "td",
                    cell,
                    scope="row" if index == 0 else None,
                    class_="number" if numbers[index] else None,
                )
                for index, cell in enumerate(row)
            ],
        )
        for row in rows
    ]
    return h(
        "div",
        h(
            "table",
            h("caption", caption),
            h("thead", h("tr", cells)),
            h("tbody", body),
            class_=class_ or None,
        ),
        class_="wide",
        tabindex="0",
        role="region",
        aria_label=caption,
    )
