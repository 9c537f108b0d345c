from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.cli.sample import write_conversation
from tests.inspector.sample import NAME, make_archive

from foldline.archive import Archive
from foldline.core.config import Config
from foldline.inspector.pages.sessions import SessionSurvey
from foldline.inspector.session_cache import Job, SessionCache, SessionEntry, archive_entries
from foldline.inspector.site import InspectorSite, PageRequest, PageResponse, entry_page
from foldline.inspector.trace import SessionTrace


class Visitor:
    """A site over an archive and a file, and a client that requests its pages."""

    def __init__(self, folder: Path) -> None:
        self.archive = make_archive(folder)
        self.file = write_conversation(folder / "s.json")
        self.cache = SessionCache(self._listed, Config())
        self.site = InspectorSite(self.cache, SessionSurvey(Config()), "t0ken")
        self.ours, self.foreign = (f"/s/{one.key}" for one in self._listed())

    def _listed(self) -> list[SessionEntry]:
        size = self.file.stat().st_size
        return [
            *archive_entries(self.archive),
            SessionEntry("s.json", "transcript", "file", self.file, size=size, changed=1.0),
        ]

    def ask(self, path: str, method: str = "GET", **query: str) -> PageResponse:
        parts = tuple(part for part in path.split("/") if part)
        while True:
            answer = self.site.answer(PageRequest(method, parts, query))
            if answer.status != 202:
                return answer


@pytest.fixture
def visitor(tmp_path: Path) -> Visitor:
    return Visitor(tmp_path)


def test_every_link_on_every_page_leads_to_a_page(visitor: Visitor) -> None:
    waiting, seen = ["/"], set()
    kinds = set()
    while waiting:
        address = waiting.pop()
        kind = re.sub(r"[0-9a-f]{16,32}|\d+", "N", address)
        if address in seen or (sum(k == kind for k in kinds) > 0 and len(seen) > 60):
            continue
        seen.add(address)
        kinds.add(kind)
        path, _, query = address.partition("?")
        said = dict(pair.split("=", 1) for pair in query.split("&") if pair)
        answer = visitor.ask(path, **said)
        assert answer.status in (200, 303), f"{address}: {answer.status}"
        links = re.findall(r'(?:href|action)="(/[^"]*)"', answer.body)
        waiting += [link.replace("&amp;", "&") for link in links]
    assert len(seen) > 40
    assert {"/", "/s/N", "/s/N/tokens", "/s/N/messages/N", "/static/inspect.css"} <= kinds


def test_an_unknown_page_session_or_number_is_not_found(visitor: Visitor) -> None:
    for path in (
        "/x",
        "/s/0123456789abcdef",
        f"{visitor.ours}/x",
        f"{visitor.ours}/requests/99999",
        f"{visitor.ours}/compactions/0",
        f"{visitor.ours}/messages/zz",
        "/static/x.py",
    ):
        assert visitor.ask(path).status == 404, path


def test_undo_restores_the_view_after_a_confirmation(visitor: Visitor) -> None:
    with Archive.open(visitor.archive) as archive:
        before = [batch.undone_at for batch in archive.compactions(NAME)]
        asked = visitor.ask(f"{visitor.ours}/undo")
        assert 'value="t0ken"' in asked.body
        assert [batch.undone_at for batch in archive.compactions(NAME)] == before
        done = visitor.ask(f"{visitor.ours}/undo", "POST")
        assert (done.status, done.headers["Location"]) == (303, visitor.ours)
        undone = [batch.undone_at for batch in archive.compactions(NAME)]
        assert len([at for at in undone if at is not None]) == 1
    assert "undo" in visitor.ask(visitor.ours).body


def test_a_failed_change_shows_the_current_session(visitor: Visitor) -> None:
    visitor.ask(f"{visitor.ours}/undo")
    with Archive.open(visitor.archive) as archive:
        while archive.undo(NAME):
            pass
    assert visitor.ask(f"{visitor.ours}/undo", "POST").status == 422
    assert "no compaction that can be undone" in visitor.ask(f"{visitor.ours}/undo").body


def test_an_unknown_change_keeps_the_cached_session(visitor: Visitor) -> None:
    visitor.ask(visitor.ours)
    listed = visitor.cache.find_entry(visitor.ours.removeprefix("/s/"))
    assert listed is not None
    read = visitor.cache.open(listed)
    assert isinstance(read, SessionTrace)
    assert visitor.ask(f"{visitor.ours}/nothing", "POST").status == 404
    assert visitor.cache.open(listed) is read


def test_a_session_is_compacted_from_a_message_on(visitor: Visitor) -> None:
    while visitor.ask(f"{visitor.ours}/undo", "POST").status == 303:
        pass
    with Archive.open(visitor.archive) as archive:
        number = archive.messages(NAME)[6].id
        assert visitor.ask(f"{visitor.ours}/fold/{number}").status == 200
        assert visitor.ask(f"{visitor.ours}/fold/{number}", "POST").status == 303
        last = archive.compactions(NAME)[-1]
        assert last.undone_at is None
        assert last.receipt.status == "compacted"


@pytest.mark.requirement("V7")
def test_an_agents_own_file_is_never_changed(visitor: Visitor) -> None:
    before = visitor.file.read_bytes()
    for path in ("undo", "fold/abc"):
        assert visitor.ask(f"{visitor.foreign}/{path}", "POST").status == 404
    assert visitor.file.read_bytes() == before
    assert "undone" in visitor.ask(f"{visitor.foreign}/undo").body


def test_a_file_that_grows_is_read_again(visitor: Visitor) -> None:
    listed = next(one for one in visitor.cache.sessions() if one.origin == "file")
    visitor.ask(visitor.foreign)
    first = visitor.cache.version(listed)
    assert json.loads(visitor.ask(f"{visitor.foreign}/version").body) == {"version": first}
    write_conversation(visitor.file, 20)
    now = first
    while now == first:
        now = visitor.cache.version(listed)
    opened = visitor.cache.open(listed)
    assert not isinstance(opened, Job)
    assert len(opened.log) == 43


def test_the_table_is_filtered_and_sorted(visitor: Visitor) -> None:
    def rows(**query: str) -> list[str]:
        return re.findall(
            r'<th scope="row"><a href="[^"]+">([^<]+)', visitor.ask("/", **query).body
        )

    assert rows() == [NAME, "s.json"]
    assert rows(sort="session", order="falling") == ["s.json", NAME]
    assert rows(q="openai") == [NAME]
    assert rows(q="nothing like this") == []


def test_an_unreadable_session_is_reported(visitor: Visitor) -> None:
    visitor.file.write_text("{}")
    answer = visitor.ask(visitor.foreign)
    assert answer.status == 422
    assert "This cannot be shown" in answer.body


@pytest.mark.parametrize("path", ["//evil.example", "/\\evil.example", "https://evil.example"])
def test_the_first_link_leads_nowhere_else(path: str) -> None:
    assert 'content="0;url=/"' in entry_page(path).body
