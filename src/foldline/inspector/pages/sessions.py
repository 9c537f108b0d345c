"""The table of sessions, and their measurement."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlencode

from foldline.core.config import Config
from foldline.errors import FoldlineError
from foldline.evaluation.figures import money, parse_whole, plural, shorten, size
from foldline.frozen import frozen
from foldline.inspector.html import Child, Html, h
from foldline.inspector.loading import read_entry
from foldline.inspector.pages.cost import sum_usage
from foldline.inspector.pages.layout import (
    ListPage,
    hidden_field,
    note,
    opening,
    search,
    when,
    wide,
)
from foldline.inspector.trace import SessionEntry, SessionTrace

PAGE = 100
"""Sessions per page."""

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
"""Columns by their names in addresses."""


@frozen
class SessionFigures:
    """Figures of a session that was read; ``usd`` is in US dollars, None if unknown."""

    messages: int
    tokens: int
    compactions: int
    usd: float | None
    error: str = ""


@frozen
class SortOrder:
    """Filter and order of the table: words to search for, the column, and the direction."""

    words: str = ""
    column: str = "changed"
    rising: bool = False
    page: int = 0

    @property
    def direction(self) -> str:
        """The direction, as in addresses."""
        return "rising" if self.rising else "falling"

    @classmethod
    def of(cls, fields: Mapping[str, str]) -> SortOrder:
        """Read the fields of an address."""
        column = fields.get("sort", "changed")
        return cls(
            fields.get("q", "")[:200],
            column if column in COLUMNS else "changed",
            fields.get("order") == "rising",
            parse_whole(fields.get("page", "")) or 0,
        )


def sessions(
    found: Sequence[SessionEntry],
    known: Mapping[str, SessionFigures],
    order: SortOrder,
    now: float,
    left: int,
) -> Html:
    """
    Write the table of sessions.

    Args:
        found: The sessions.
        known: The figures of sessions that were read, by key.
        order: Filter and order.
        now: In seconds since 1970.
        left: Number of sessions still to be read.
    """
    matching = [one for one in found if _matches(one, order.words)]
    matching.sort(
        key=lambda one: _place(one, known.get(one.key), order.column), reverse=not order.rising
    )
    part = ListPage.of(len(matching), PAGE, order.page)
    rows = [_row(one, known.get(one.key), now) for one in matching[part.held]]
    heads = [_head(name, title, order) for name, title in COLUMNS.items()]
    going = f"; {plural(left, 'session')} still to be measured" if left else ""
    return opening(
        "Sessions",
        _filter(order),
        h("p", f"{plural(len(matching), 'session')}{going}.", class_="note", id="count"),
        wide("Sessions", heads, rows, "Sessions and their usage", "sessions")
        if rows
        else note(
            "No session was found here. Name a file, a folder or an archive: "
            "foldline inspect PATH."
        ),
        _pages(order, part.chosen, part.count),
    )


def _matches(one: SessionEntry, words: str) -> bool:
    text = f"{one.title} {one.agent} {one.project}".lower()
    return all(word in text for word in words.lower().split())


def _place(
    one: SessionEntry, known: SessionFigures | None, column: str
) -> tuple[bool, float | str]:
    """Return the sort key of a session; unmeasured sessions come last."""
    if column in ("messages", "tokens", "compactions", "price"):
        if known is None or known.error:
            return False, 0.0
        figure = known.usd if column == "price" else getattr(known, column)
        return True, -1.0 if figure is None else figure
    value = getattr(one, "title" if column == "session" else column)
    return True, value.lower() if isinstance(value, str) else value


def _row(one: SessionEntry, known: SessionFigures | None, now: float) -> Html:
    numbers: list[Child] = ["…"] * 4
    if known is not None and known.error:
        numbers = [h("span", "unreadable", title=known.error[:400]), "", "", ""]
    elif known is not None:
        numbers = [known.messages, known.tokens, known.compactions, money(known.usd)]
    return h(
        "tr",
        h("th", h("a", shorten(one.title, 80), href=f"/s/{one.key}"), scope="row"),
        h("td", one.agent),
        h("td", h("span", _tail(one.project), title=one.project)),
        h("td", size(one.size), class_="number"),
        [h("td", number, class_="number") for number in numbers],
        h("td", when(one.changed, now)),
    )


def _tail(path: str) -> str:
    """Return the end of a path, which is more informative than its start."""
    return path if len(path) <= 40 else f"…{path[-39:]}"


def _head(name: str, title: str, order: SortOrder) -> Html:
    chosen = name == order.column
    rising = not order.rising if chosen else name in ("session", "agent", "project")
    direction = "rising" if rising else "falling"
    sign = (" ▲" if order.rising else " ▼") if chosen else ""
    sorted_ = ("ascending" if order.rising else "descending") if chosen else None
    kind = None if name in ("session", "agent", "project", "changed") else "number"
    way = h("a", f"{title}{sign}", href=_address(order, sort=name, order=direction))
    return h("th", way, scope="col", aria_sort=sorted_, class_=kind)


def _address(order: SortOrder, /, **changes: str | int) -> str:
    fields = {"q": order.words, "sort": order.column, "order": order.direction}
    return f"/?{urlencode({**fields, **changes})}"


def _filter(order: SortOrder) -> Html:
    return h(
        "form",
        hidden_field("sort", order.column),
        hidden_field("order", order.direction),
        h("label", "Filter ", search(order.words, "agent, project or name")),
        h("button", "Filter"),
        method="get",
        action="/",
        role="search",
        class_="inline",
        data_live=True,
    )


def _pages(order: SortOrder, page: int, count: int) -> Child:
    if count == 1:
        return None
    ways = [
        [h("a", name, href=_address(order, page=place)), " "]
        for name, place in (("before", page - 1), ("after", page + 1))
        if 0 <= place < count
    ]
    words = f"Page {page + 1} of {count} "
    return h("nav", words, ways, class_="pages", aria_label="Pages of sessions")


LARGEST: Final = 24_000_000
"""Size in bytes up to which a session is measured for the list; larger ones when opened."""


class SessionSurvey:
    """
    Measures sessions in one thread; results are kept until the session changes.

    Args:
        config: The thresholds; they do not affect the figures.
        model: The model to price for; "" for the session's own.
    """

    def __init__(self, config: Config, model: str = "") -> None:
        self._config = config
        self._model = model
        self._known: dict[str, tuple[float, SessionFigures]] = {}
        self._waiting: deque[SessionEntry] = deque()
        self._running = False
        self._lock = threading.Lock()

    def of(self, found: Sequence[SessionEntry]) -> tuple[dict[str, SessionFigures], int]:
        """
        Return the known figures, and start measuring the other sessions.

        Returns:
            Figures by key, and the number of sessions still to be measured.
        """
        with self._lock:
            known = {one.key: it for one in found if (it := self._figures(one)) is not None}
            missing = [one for one in found if one.key not in known and one.size <= LARGEST]
            self._waiting = deque(missing)
            if missing and not self._running:
                self._running = True
                threading.Thread(target=self._run, daemon=True).start()
        return known, len(missing)

    def record(self, listed: SessionEntry, trace: SessionTrace) -> None:
        """Record the figures of an opened session."""
        self._known[listed.key] = (listed.changed, session_figures(trace))

    def _figures(self, one: SessionEntry) -> SessionFigures | None:
        """Return the figures of a session in its current state, if known."""
        changed, figures = self._known.get(one.key, (None, None))
        return figures if changed == one.changed else None

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._running = False
                    return
                one = self._waiting.popleft()
                is_known = self._figures(one) is not None
            if not is_known:
                self._known[one.key] = (one.changed, self._measure(one))

    def _measure(self, one: SessionEntry) -> SessionFigures:
        try:
            trace = read_entry(one, self._config, lambda *_: None, self._model)
        except (FoldlineError, OSError, ValueError) as error:
            return SessionFigures(0, 0, 0, None, str(error) or type(error).__name__)
        return session_figures(trace)


def session_figures(trace: SessionTrace) -> SessionFigures:
    """Return the figures of a session for the list."""
    tokens = trace.timeline.now.tokens - sum(trace.overhead)
    return SessionFigures(len(trace.log), tokens, trace.compactions, sum_usage(trace).usd)
