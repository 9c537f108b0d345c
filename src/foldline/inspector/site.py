"""The routes of the inspector: from an authorized request to its response."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from foldline.archive import Archive
from foldline.errors import FoldlineError
from foldline.evaluation.figures import parse_whole
from foldline.frozen import field, frozen, replace
from foldline.inspector.html import Child, Html, h
from foldline.inspector.loading import Progress
from foldline.inspector.pages import sessions as listing
from foldline.inspector.pages.compaction import (
    against_log,
    compaction,
    confirm_fold,
    confirm_undo,
    render_forgotten,
)
from foldline.inspector.pages.cost import alternatives, cost
from foldline.inspector.pages.knows import knows
from foldline.inspector.pages.layout import Links, note, opening, page, session_header, top
from foldline.inspector.pages.messages import step, whole_message
from foldline.inspector.pages.overview import overview
from foldline.inspector.pages.sessions import SessionSurvey
from foldline.inspector.pages.tokens import group_messages, tokens
from foldline.inspector.pages.what_if import as_toml, read_settings, what_if
from foldline.inspector.session_cache import Job, SessionCache
from foldline.inspector.trace import SessionEntry, SessionTrace
from foldline.session import Session

STATIC: Final = {"inspect.css": "text/css", "inspect.js": "text/javascript"}
_FOLDER: Final = Path(__file__).with_name("static")
_KEY: Final = re.compile(r"[0-9a-f]{16}")


@frozen
class PageRequest:
    """A request: its method, path segments, query fields and form fields."""

    method: str
    path: tuple[str, ...]
    query: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] = field(default_factory=dict)

    def number(self, name: str) -> int | None:
        """Return a field as a whole number, or None if it is not one."""
        return parse_whole(self.query.get(name, ""))


@frozen
class PageResponse:
    """A response."""

    body: str
    status: int = 200
    kind: str = "text/html"
    headers: Mapping[str, str] = field(default_factory=dict)


class InspectorSite:
    """
    All pages.

    Args:
        cache: The sessions.
        survey: Measures the sessions of the list.
        token: Included in every form that makes changes.
        clock: Returns seconds since 1970.
    """

    def __init__(
        self,
        cache: SessionCache,
        survey: SessionSurvey,
        token: str,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._cache = cache
        self._survey = survey
        self._token = token
        self._clock = clock

    def answer(self, call: PageRequest) -> PageResponse:
        """Answer a request; every error is a page."""
        try:
            return self._answer(call)
        except FoldlineError as error:
            return _message_page("Error", "This cannot be shown", str(error), 422, "note warning")

    def _answer(self, call: PageRequest) -> PageResponse:
        match call.path:
            case () | ("",):
                return self._sessions(call)
            case ("static", name) if name in STATIC:
                return PageResponse((_FOLDER / name).read_text("utf-8"), kind=STATIC[name])
            case ("s", key, *rest) if _KEY.fullmatch(key):
                listed = self._cache.find_entry(key)
                if listed is not None:
                    return self._session(call, listed, tuple(rest))
        return not_found("There is no such page.")

    def _sessions(self, call: PageRequest) -> PageResponse:
        found = self._cache.sessions()
        known, left = self._survey.of(found)
        if call.query.get("version"):
            return _version(f"{len(found)}-{left}")
        order = listing.SortOrder.of(call.query)
        main = listing.sessions(found, known, order, self._clock(), left)
        version = f"{len(found)}-{left}"
        return PageResponse(page("Sessions", h("header", top(())), main, version))

    def _session(
        self, call: PageRequest, listed: SessionEntry, rest: tuple[str, ...]
    ) -> PageResponse:
        conversation = call.number("conversation")
        listed = replace(listed, conversation=conversation)
        if rest == ("version",):
            return _version(self._cache.version(listed))
        opened = self._cache.open(listed)
        if isinstance(opened, Job):
            return _progress_page(listed.title, opened)
        opened.once("warm", _prepare_pages)
        self._survey.record(listed, opened)
        around = () if conversation is None else (("conversation", str(conversation)),)
        links = Links(f"/s/{listed.key}", around)
        pages = _SessionPages(self._cache, call, listed, opened, links, self._token)
        return pages.answer(rest, self._clock())


@frozen
class _SessionPages:
    """The pages of one session, for one request."""

    cache: SessionCache
    call: PageRequest
    listed: SessionEntry
    trace: SessionTrace
    links: Links
    token: str

    def answer(self, rest: tuple[str, ...], now: float) -> PageResponse:
        call, links, trace = self.call, self.links, self.trace
        if call.method == "POST":
            return self._change(rest)
        if rest == ("what-if", "foldline.toml"):
            return _download(as_toml(read_settings(call.query).config(trace.config)))
        if rest == ("requests",):
            where = links.request(call.number("n") or 0) or ""
            return PageResponse("", 303, headers={"Location": where})
        main = self._page(rest)
        if main is None:
            return not_found("There is no such page in this session.")
        if isinstance(main, PageResponse):
            return main
        header = session_header(trace, links, rest[0] if rest else "", now)
        version = self.cache.version(self.listed)
        return PageResponse(page(self.listed.title, header, main, version))

    def _page(self, rest: tuple[str, ...]) -> Child | PageResponse:
        call, trace, links = self.call, self.trace, self.links
        match rest:
            case ():
                return overview(trace, links, _range(call, len(trace.timeline.points)))
            case ("forgotten",):
                fate, number = call.query.get("fate", ""), call.number("page") or 0
                return render_forgotten(trace, links, fate, number)
            case ("tokens",):
                return tokens(trace, links)
            case ("knows",):
                return knows(trace, links, call.query.get("q", ""), self._at())
            case ("what-if",):
                return self._what_if()
            case ("cost",):
                return self._cost()
            case ("undo",):
                return confirm_undo(trace, links, self.token)
            case (name, what):
                return self._item(name, what)
        return None

    def _at(self) -> int | None:
        """Return the selected model request; None for now."""
        number = self.call.number("at")
        return None if number is None else min(number, len(self.trace.timeline.points) - 1)

    def _item(self, name: str, what: str) -> Child:
        call, trace, links = self.call, self.trace, self.links
        number, index = call.number("page"), parse_whole(what)
        if name == "requests" and index is not None and index < len(trace.timeline.points):
            return step(trace, links, index, number)
        if name == "compactions" and index is not None and 0 < index < len(trace.segments):
            return compaction(trace, links, index, call.query.get("fate", ""), number or 0)
        if name == "messages":
            return whole_message(trace, links, what, number or 0)
        if name == "fold":
            return confirm_fold(trace, links, what, self.token)
        return None

    def _what_if(self) -> Child | PageResponse:
        fields, at = dict(self.call.query), self._at()

        def work(progress: Progress) -> Html:
            progress(0.1, "Simulating these settings")
            return what_if(self.trace, self.links, fields, at)

        job = self._run_job(f"what-if {sorted(fields.items())}", work)
        if isinstance(job, PageResponse):
            return job
        return job.result if job.error is None else _error_note(job.error)

    def _cost(self) -> Child | PageResponse:
        others = None
        if self.call.query.get("compare"):
            job = self._run_job("alternatives", partial(alternatives, self.trace))
            if isinstance(job, PageResponse):
                return job
            others = job.result
        return cost(self.trace, self.links, self.call.number("page") or 0, others)

    def _run_job(self, name: str, work: Callable[[Progress], Any]) -> Job[Any] | PageResponse:
        """Return a finished job, or the page that shows its progress."""
        job = self.cache.start_job(self.listed, name, work)
        return job if job.wait(0.5) else _progress_page(self.listed.title, job)

    def _change(self, rest: tuple[str, ...]) -> PageResponse:
        """Make the change of a form; its token has been checked already."""
        listed = self.listed
        if not self.trace.is_ours:
            return not_found("An agent's own file is never changed.")
        change: Callable[[], object]
        match rest:
            case ("undo",):
                change = partial(_undo, listed.place, listed.name)
            case ("fold", number):
                focus = self.call.form.get("focus", "")
                change = partial(_compact_from, listed.place, listed.name, number, focus)
            case _:
                return not_found("There is no such change.")
        try:
            change()
        finally:  # a failure may mean that another program has changed the session
            self.cache.forget(listed)
        return PageResponse("", 303, headers={"Location": self.links.page()})


def _undo(path: Path, name: str) -> None:
    """
    Undo the last compaction of a session.

    Raises:
        FoldlineError: None is in effect.
        StoreError: Another program changed the session meanwhile.
    """
    with Archive.open(path) as archive:
        if archive.undo(name) is None:
            raise FoldlineError("No compaction is in effect.")


def _compact_from(path: Path, name: str, number: str, focus: str) -> None:
    """
    Fold everything from a message on into a snapshot, without a model.

    Raises:
        FoldlineError: The message is not in view, or nothing after it may be folded.
    """
    with Session.open(path, name, summarizer="embedded") as session:
        receipt = session.compact(start=number, focus=focus[:1_000])
    if receipt.status != "compacted":
        raise FoldlineError(f"Nothing was changed: {receipt.reason}.")


def _prepare_pages(trace: SessionTrace) -> Job[object]:
    """Compute slow results for the other pages in the background."""
    return Job(
        lambda _: (
            trace.once("groups", group_messages),
            trace.once("forgotten", against_log),
            trace.stats,
        )
    )


def _error_note(error: Exception) -> Html:
    return note(f"{type(error).__name__}: {error}", "note warning")


def not_found(words: str) -> PageResponse:
    """Return the page for a missing address."""
    return _message_page("Not found", "Not found", words, 404)


def refusal_page() -> PageResponse:
    """Return the page for a request without access."""
    words = "Open this page with the link that foldline inspect printed at startup."
    return _message_page("Closed", "This page is closed", words, 403)


def entry_page(path: str) -> PageResponse:
    """Return the page that redirects from the first link, to keep its token out of the history."""
    path = path if path.startswith("/") and not path.startswith(("//", "/\\")) else "/"
    body = opening("Opening…", h("p", h("a", "Continue", href=path)))
    head = Html(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Opening</title>'
    )
    icon = h("link", rel="icon", href="data:,")
    onwards = h("meta", http_equiv="refresh", content=f"0;url={path}")
    return PageResponse(Html(f"{head}{icon}{onwards}</head>{h('body', h('main', body))}</html>"))


def _message_page(
    title: str, heading: str, words: str, status: int, kind: str = "note"
) -> PageResponse:
    body = opening(heading, note(words, kind))
    return PageResponse(page(title, h("header", top(())), body), status)


def _progress_page(title: str, job: Job[Any]) -> PageResponse:
    """Return the page that shows the progress of a job; it reloads by itself."""
    percent = f"{100 * job.fraction:.0f}"
    bar = h("progress", f"{percent} %", max="100", value=percent, aria_label="Progress")
    body = opening(title, h("p", f"{job.words}…", role="status"), bar)
    header = h("header", top(((title, None),)))
    return PageResponse(page(title, header, body, refresh=1), 202)


def _version(version: str) -> PageResponse:
    return PageResponse(json.dumps({"version": version}), kind="application/json")


def _download(text: str) -> PageResponse:
    name = 'attachment; filename="foldline.toml"'
    return PageResponse(text, kind="application/toml", headers={"Content-Disposition": name})


def _range(call: PageRequest, size: int) -> range | None:
    first, end = call.number("first"), call.number("end")
    if first is None or end is None:
        return None
    first = min(first, size - 1)
    return range(first, min(size, max(end, first + 1)))
