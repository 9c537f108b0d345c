"""What all pages share: their frame, their addresses, and how numbers and times are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote, urlencode

from foldline.inspector.html import Child, Html, h, join
from foldline.inspector.trace import SessionTrace

_LAST: Final = 253_402_128_000.0
"""The end of the year 9999 but for a day of time zones, in seconds since 1970."""

_UNITS: Final = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def brief(number: float) -> str:
    """Write a number shortly: ``812``, ``12.3k``, ``1.2M``."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            value = number / size
            return f"{value:.0f}{unit}" if value >= 100 else f"{value:.1f}{unit}"
    return f"{number:.0f}"


def counted(number: int, noun: str) -> str:
    """Write a number with its noun: ``1 message``, ``1,200 messages``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def share(part: float, whole: float) -> str:
    """Write a share in percent: ``12%``, ``<1%``."""
    fraction = part / whole if whole else 0.0
    return "<1%" if 0 < fraction < 0.005 else f"{fraction:.0%}"


def size(count: int) -> str:
    """Write a number of bytes: ``812 B``, ``1.4 MB``."""
    if count < 1_000:
        return f"{count} B"
    return f"{count / 1e3:.0f} kB" if count < 1_000_000 else f"{count / 1e6:.1f} MB"


def money(usd: float | None) -> str:
    """Write US dollars: ``$0.0042``, ``$12.30``; a dash where they are not known."""
    if usd is None:
        return "–"
    return f"${usd:,.2f}" if usd >= 1 or usd == 0 else f"${usd:.4f}"


def moment(seconds: float) -> datetime:
    """Turn seconds since 1970 into a time here; one that no calendar has becomes the nearest."""
    return datetime.fromtimestamp(min(max(seconds, 0.0), _LAST), UTC).astimezone()


def ago(seconds: float) -> str:
    """Say how long ago something was: ``3 hours ago``."""
    for size_, unit in _UNITS:
        if seconds >= size_:
            return f"{counted(int(seconds // size_), unit)} ago"
    return "just now"


def one_line(text: str, most: int = 120) -> str:
    """Return the beginning of a text as one line."""
    words = " ".join(text[: most * 4].split())
    return words if len(words) <= most else f"{words[: most - 1]}…"


@dataclass(frozen=True, slots=True)
class Links:
    """
    The addresses of one session.

    ``base`` is where it begins, such as ``/s/1f0c2a9b``; "" in a report, which has places instead.
    ``around`` are parameters that every address keeps, such as the chosen conversation.
    """

    base: str
    around: tuple[tuple[str, str], ...] = ()

    @property
    def live(self) -> bool:
        """Whether there is a server that answers."""
        return bool(self.base)

    def page(self, name: str = "", **parameters: str | int) -> str:
        """Return the address of a page of the session; ``_`` at the end of a name is dropped."""
        if not self.base:
            return f"#{name or 'overview'}"
        return f"{self.base}{'/' if name else ''}{name}{self._query(parameters)}"

    def request(self, number: int) -> str | None:
        """Return the address of what the model saw at a request; None in a report."""
        return self.page(f"requests/{number}") if self.base else None

    def compaction(self, index: int, **parameters: str | int) -> str:
        """Return the address of the compaction that a segment begins with."""
        return (
            self.page(f"compactions/{index}", **parameters)
            if self.base
            else f"#compaction-{index}"
        )

    def message(self, number: str, **parameters: str | int) -> str | None:
        """Return the address of a message, whole; None in a report."""
        return self.page(f"messages/{quote(number)}", **parameters) if self.base else None

    def _query(self, parameters: Mapping[str, str | int]) -> str:
        pairs = [*self.around, *((name.rstrip("_"), str(v)) for name, v in parameters.items())]
        return f"?{urlencode(pairs)}" if pairs else ""


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
class PageFrame:
    """
    What a page stands in.

    ``version`` changes when the session does, so that a page that is open can follow it; "" where
    nothing is followed.
    """

    title: str
    version: str = ""
    refresh: int = 0


def page(frame: PageFrame, header: Child, main: Child) -> Html:
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


def session_header(trace: SessionTrace, links: Links, tab: str, now: float) -> Html:
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


def about(trace: SessionTrace, now: float) -> Html:
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


def paging(links: Links, path: str, chosen: int, count: int, **rest: str | int) -> list[Child]:
    """Write the ways to other pages of a list: first, before, after, last."""
    places = (("first", 0), ("before", chosen - 1), ("after", chosen + 1), ("last", count - 1))
    return [
        join(" ", h("a", name, href=links.page(path, page=place, **rest)))
        for name, place in places
        if 0 <= place < count and place != chosen
    ]
