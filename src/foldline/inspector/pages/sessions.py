"""The sessions on this machine or in an archive: a table to filter and to sort."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from foldline.inspector.html import Child, Html, h
from foldline.inspector.pages.layout import note, top
from foldline.inspector.shelf import Listed
from foldline.inspector.words import ago, counted, moment, money, one_line, size

PAGE = 100
"""Sessions on one page."""

COLUMNS = {
    "session": "session",
    "agent": "agent",
    "project": "project",
    "size": "size",
    "messages": "messages",
    "tokens": "tokens in view",
    "compactions": "compactions",
    "price": "price",
    "changed": "last activity",
}
"""Columns by the name that addresses have for them."""


@dataclass(frozen=True, slots=True)
class Surveyed:
    """What is known of a session once it was read; ``usd`` is in US dollars, None if unknown."""

    messages: int
    tokens: int
    compactions: int
    usd: float | None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Order:
    """How the table is shown: words that are looked for, by which column, in which direction."""

    words: str = ""
    column: str = "changed"
    rising: bool = False
    page: int = 0

    @classmethod
    def of(cls, said: Mapping[str, str]) -> Order:
        """Read the fields of an address."""
        column = said.get("sort", "changed")
        page = said.get("page", "0")
        return cls(
            said.get("q", "")[:200],
            column if column in COLUMNS else "changed",
            said.get("order") == "rising",
            int(page) if page.isascii() and page.isdecimal() and len(page) < 7 else 0,
        )


def sessions(
    found: Sequence[Listed], known: Mapping[str, Surveyed], order: Order, now: float, left: int
) -> Html:
    """
    Write the table of sessions.

    Args:
        found: The sessions.
        known: What is known of those that were read, by key.
        order: How they are shown.
        now: In seconds since 1970.
        left: How many are still to be read.
    """
    shown = [one for one in found if _matches(one, order.words)]
    shown.sort(
        key=lambda one: _place(one, known.get(one.key), order.column), reverse=not order.rising
    )
    count = max(1, -(-len(shown) // PAGE))
    page = min(order.page, count - 1)
    rows = [_row(one, known.get(one.key), now) for one in shown[page * PAGE : (page + 1) * PAGE]]
    heads = [_head(name, title, order) for name, title in COLUMNS.items()]
    going = f"; {counted(left, 'session')} still to be measured" if left else ""
    return h(
        "section",
        h("h1", "Sessions"),
        _filter(order),
        h("p", f"{counted(len(shown), 'session')}{going}.", class_="note", id="count"),
        h(
            "div",
            h(
                "table",
                h("caption", "Sessions, with what they took"),
                h("thead", h("tr", heads)),
                h("tbody", rows),
                class_="sessions",
            ),
            class_="wide",
            tabindex="0",
            role="region",
            aria_label="Sessions",
        )
        if rows
        else note(
            "No session was found here. Name a file, a folder or an archive: "
            "foldline inspect PATH."
        ),
        _pages(order, page, count),
    )


def header() -> Html:
    """Write what stands above the table."""
    return h("header", top(()))


def _matches(one: Listed, words: str) -> bool:
    text = f"{one.title} {one.agent} {one.project}".lower()
    return all(word in text for word in words.lower().split())


def _place(one: Listed, known: Surveyed | None, column: str) -> tuple[bool, float | str]:
    """Return where a session stands; those of which nothing is known stand last."""
    fixed: dict[str, float | str] = {
        "session": one.title.lower(),
        "agent": one.agent,
        "project": one.project.lower(),
        "size": one.size,
        "changed": one.changed,
    }
    if column in fixed:
        return (True, fixed[column])
    if known is None or known.error:
        return (False, 0.0)
    values = {
        "messages": known.messages,
        "tokens": known.tokens,
        "compactions": known.compactions,
        "price": -1.0 if known.usd is None else known.usd,
    }
    return (True, values[column])


def _row(one: Listed, known: Surveyed | None, now: float) -> Html:
    when = moment(one.changed)
    numbers: list[Child] = ["…"] * 4
    if known is not None and known.error:
        numbers = [h("span", "unreadable", title=known.error[:400]), "", "", ""]
    elif known is not None:
        numbers = [known.messages, known.tokens, known.compactions, money(known.usd)]
    time = h(
        "time",
        ago(now - one.changed),
        datetime=when.isoformat(timespec="seconds"),
        title=f"{when:%Y-%m-%d %H:%M}",
    )
    return h(
        "tr",
        h("th", h("a", one_line(one.title, 80), href=f"/s/{one.key}"), scope="row"),
        h("td", one.agent),
        h("td", h("span", _tail(one.project), title=one.project)),
        h("td", size(one.size), class_="number"),
        [h("td", number, class_="number") for number in numbers],
        h("td", time),
    )


def _tail(path: str) -> str:
    """Return the end of a path, which tells more than its beginning."""
    return path if len(path) <= 40 else f"…{path[-39:]}"


def _head(name: str, title: str, order: Order) -> Html:
    chosen = name == order.column
    rising = not order.rising if chosen else name in ("session", "agent", "project")
    direction = "rising" if rising else "falling"
    sign = (" ▲" if order.rising else " ▼") if chosen else ""
    sorted_ = ("ascending" if order.rising else "descending") if chosen else None
    number = name not in ("session", "agent", "project", "changed")
    return h(
        "th",
        h("a", f"{title}{sign}", href=_address(order, sort=name, order=direction)),
        scope="col",
        aria_sort=sorted_,
        class_="number" if number else None,
    )


def _address(order: Order, /, **changes: str | int) -> str:
    said: dict[str, str | int] = {
        "q": order.words,
        "sort": order.column,
        "order": "rising" if order.rising else "falling",
    }
    return f"/?{urlencode({**said, **changes})}"


def _filter(order: Order) -> Html:
    return h(
        "form",
        h("input", type="hidden", name="sort", value=order.column),
        h("input", type="hidden", name="order", value="rising" if order.rising else "falling"),
        h(
            "label",
            "Filter ",
            h(
                "input",
                type="search",
                name="q",
                value=order.words,
                id="search",
                placeholder="agent, project or name",
                autocomplete="off",
            ),
        ),
        h("button", "Filter"),
        method="get",
        action="/",
        role="search",
        class_="inline",
        data_live=True,
    )


def _pages(order: Order, page: int, count: int) -> Child:
    if count == 1:
        return None
    places = (("before", page - 1), ("after", page + 1))
    ways = [
        h("a", name, href=_address(order, page=place))
        for name, place in places
        if 0 <= place < count
    ]
    return h(
        "nav",
        f"Page {page + 1} of {count} ",
        [[way, " "] for way in ways],
        class_="pages",
        aria_label="Pages of sessions",
    )
