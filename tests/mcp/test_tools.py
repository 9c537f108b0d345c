from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.cli.sample import PLANTED

from foldline.archive import Archive
from foldline.core.config import Config
from foldline.mcp.tools import (
    MEMORY_READS,
    NOTE_READS,
    archive_opener,
    compact_tool,
    limit_answers,
    memory_tool,
    notes_tool,
    recall_tool,
    search_tool,
    stats_tool,
)
from foldline.session import Session
from foldline.tokens.choose import choose_counter
from foldline.tokens.estimate import EstimatedCounter
from foldline.tools.memory import MemoryTool
from foldline.tools.notes import NoteTool
from foldline.tools.output import ErrorCode, ToolOutput
from foldline.tools.spec import Tool, Toolbox
from foldline.values.tokens import TokenCounter

LIMIT = 1_500
COUNTER = TokenCounter(choose_counter())


@pytest.fixture
def tools(archive: Path) -> Toolbox:
    opens = archive_opener(archive)
    return Toolbox(
        [
            recall_tool(opens, LIMIT),
            search_tool(opens, LIMIT),
            stats_tool(opens),
            compact_tool(archive, opens, Config()),
        ]
    )


def snapshot(archive: Path) -> str:
    with Archive.open(archive) as opened:
        (receipt,) = opened.receipts("long")
        return next(iter(receipt.recall))


def test_a_search_finds_a_session_and_recall_returns_all_of_it(tools: Toolbox) -> None:
    found = tools.run("search", {"query": "how is the deploy key named?"})
    assert PLANTED in found.text
    assert 'session "long"' in found.text
    handle = found.text.split(" ", 1)[0].strip("[")

    whole = tools.run("recall", {"handle": handle, "session": "long", "max_tokens": LIMIT})

    assert f"# {PLANTED}" in whole.text
    assert "value_0_59" in whole.text


@pytest.mark.parametrize(
    ("part", "there", "missing"),
    [
        ({"grep": "deploy key"}, PLANTED, "value_0_3 "),
        ({"lines": "31"}, PLANTED, "value_0_3 "),
        ({"query": "named heron"}, PLANTED, "value_5"),
        ({"lines": "-1:", "grep": ""}, "value_0_59", PLANTED),
    ],
)
def test_recall_slices(tools: Toolbox, part: dict[str, Any], there: str, missing: str) -> None:
    found = tools.run("search", {"query": "deploy key"}).text.split(" ", 1)[0].strip("[")
    text = tools.run("recall", {"handle": found, **part}).text
    assert there in text
    assert missing not in text


def test_a_snapshot_is_searched_by_its_handle(tools: Toolbox, archive: Path) -> None:
    found = tools.run("recall", {"handle": snapshot(archive), "query": "deploy key"})
    assert PLANTED in found.text


@pytest.mark.parametrize("size", [200, 700, LIMIT])
def test_no_answer_exceeds_the_requested_size(tools: Toolbox, archive: Path, size: int) -> None:
    for name, given in (
        ("recall", {"handle": snapshot(archive)}),
        ("recall", {"handle": snapshot(archive), "grep": "value"}),
        ("search", {"query": "value compute"}),
    ):
        found = tools.run(name, {**given, "max_tokens": size})
        assert found.ok
        assert COUNTER.text(found.text) <= size
    assert not tools.run("search", {"query": "value", "max_tokens": LIMIT + 1}).ok


def test_a_search_can_be_limited_to_a_session_or_to_before_a_day(tools: Toolbox) -> None:
    assert (
        "[Nothing was found.]"
        in tools.run("search", {"query": "deploy key", "session": "newer"}).text
    )
    assert (
        "[Nothing was found.]"
        in tools.run("search", {"query": "deploy key", "before": "2001-01-31"}).text
    )
    assert not tools.run("search", {"query": "deploy", "before": "yesterday"}).ok


def test_stats_cover_all_sessions_or_one(tools: Toolbox) -> None:
    every = tools.run("stats").text
    assert every.index("newer") < every.index("long")
    one = tools.run("stats", {"session": "long"}).text
    assert "tool results" in one
    assert "read_file" in one
    assert "1 compactions removed" in one


def test_compact_makes_the_session_smaller_with_its_focus(tools: Toolbox, archive: Path) -> None:
    with Session.open(archive, "long", window=20_000) as session:
        session.extend(
            [{"role": "user", "content": f"And now number {n}? " * 90} for n in range(30)]
        )
        before = session.tokens

    done = tools.run("compact", {"focus": "the heron", "session": "long"})

    assert done.ok, done.text
    with Session.open(archive, "long", window=20_000) as session:
        assert session.tokens < before / 2
        assert len(session.receipts) == 2


def test_compact_defaults_to_the_newest_session_and_skips_a_small_one(tools: Toolbox) -> None:
    done = tools.run("compact", {})
    assert "Session newer: unchanged" in done.text


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("recall", {"handle": "0" * 32}),
        ("recall", {"handle": "../../etc/passwd"}),
        ("recall", {"handle": ""}),
        ("recall", {"handle": "abcdef", "session": "nope"}),
        ("search", {"query": "\udc80 x", "session": "no\x00pe"}),
        ("search", {"query": "   "}),
        ("stats", {"session": "nope"}),
        ("compact", {"session": "nope"}),
    ],
)
def test_a_missing_session_is_a_result_and_creates_nothing(
    tools: Toolbox, archive: Path, name: str, given: dict[str, Any]
) -> None:
    done = tools.run(name, given)
    assert not done.ok
    assert done.text
    with Archive.open(archive) as opened:
        assert {info.head.name for info in opened.sessions()} == {"long", "newer"}


def test_without_an_archive_every_tool_reports_it_and_creates_none(tmp_path: Path) -> None:
    path = tmp_path / "none.db"
    opens = archive_opener(path)
    for tool, given in (
        (recall_tool(opens, LIMIT), {"handle": "abcdef"}),
        (search_tool(opens, LIMIT), {"query": "x"}),
        (stats_tool(opens), {}),
        (compact_tool(path, opens, Config()), {}),
    ):
        done = tool.run(given)
        assert not done.ok
        assert "no archive" in done.text
    assert not path.exists()


def everything(folder: Path) -> dict[str, bytes]:
    return {str(one): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


def test_with_write_access_notes_are_created_found_and_changed(tmp_path: Path) -> None:
    tool = notes_tool(tmp_path / "notes", write=True)
    made = tool.run({"action": "create", "title": "Login fails", "content": "Only with SSO."})
    assert made.ok
    found = tool.run({"action": "search", "query": "login"})
    assert "Only with SSO." in found.text
    assert tool.run({"action": "update", "note_id": made.text, "content": "Solved."}).ok
    assert (
        "Solved."
        in notes_tool(tmp_path / "notes", write=False)
        .run({"action": "read", "note_id": made.text})
        .text
    )


def test_with_write_access_memories_are_added_and_forgotten(tmp_path: Path) -> None:
    tool = memory_tool(tmp_path / "deep" / "memory.db", "ann", write=True)
    assert tool.run({"action": "add", "content": "The launch moved to May"}).ok
    assert "May" in tool.run({"action": "search", "query": "launch"}).text
    other = memory_tool(tmp_path / "deep" / "memory.db", "bob", write=False)
    assert "no memories" in other.run({"action": "search", "query": "launch"}).text


@pytest.mark.parametrize("write", [True, False])
def test_reading_a_missing_store_creates_nothing(tmp_path: Path, write: bool) -> None:
    notes = notes_tool(tmp_path / "notes", write=write)
    memory = memory_tool(tmp_path / "kept" / "memory.db", "ann", write=write)
    assert "no notes" in notes.run({"action": "list"}).text
    assert "Nothing" in memory.run({"action": "search", "query": "x"}).text
    assert list(tmp_path.iterdir()) == []


def test_without_write_access_no_action_changes_anything(tmp_path: Path) -> None:
    NoteTool(tmp_path / "notes").notes.create("A", "B")
    memory_tool(tmp_path / "m.db", "ann", write=True).run({"action": "add", "content": "C"})
    before = everything(tmp_path / "notes")
    notes = notes_tool(tmp_path / "notes", write=False)
    memory = memory_tool(tmp_path / "m.db", "ann", write=False)

    assert set(notes.parameters["properties"]["action"]["enum"]) == set(NOTE_READS)
    for action in ("create", "update", "delete", "restore", "task", "progress"):
        assert not notes.run({"action": action, "title": "x", "note_id": "x"}).ok
    for action in set(MemoryTool.described.models) - set(MEMORY_READS) | {"clear_all"}:
        assert not memory.run({"action": action, "content": "x", "memory_id": "x"}).ok

    assert everything(tmp_path / "notes") == before
    assert "C" in memory.run({"action": "list"}).text


def test_a_file_that_is_not_a_memory_is_reported(tmp_path: Path) -> None:
    (tmp_path / "m.db").write_text("not a database " * 200)
    done = memory_tool(tmp_path / "m.db", "ann", write=False).run({"action": "stats"})
    assert not done.ok
    assert "not a SQLite file" in done.text


ESTIMATE = TokenCounter(EstimatedCounter())


def tool(output: ToolOutput) -> Tool:
    return Tool("t", "d", {"type": "object", "properties": {}}, lambda _: output)


def test_a_short_answer_is_unchanged() -> None:
    output = ToolOutput("short")
    assert limit_answers(tool(output), 100, ESTIMATE).run({}) is output


@pytest.mark.parametrize(
    "text", ["word " * 5_000, "x" * 30_000, "长" * 9_000, "\U0001f600" * 4_000]
)
@pytest.mark.parametrize("limit", [50, 200, 1_000])
def test_a_long_answer_is_cut_to_its_limit_with_a_note(text: str, limit: int) -> None:
    done = limit_answers(tool(ToolOutput(text)), limit, ESTIMATE).run({})
    assert ESTIMATE.text(done.text) <= limit
    assert done.status == "partial"
    assert "were cut" in done.text


def test_an_error_result_stays_an_error() -> None:
    output = ToolOutput.error(ErrorCode.NOT_FOUND, "no " * 5_000)
    done = limit_answers(tool(output), 100, ESTIMATE).run({})
    assert done.code == ErrorCode.NOT_FOUND


def test_recall_understands_what_models_write(tools: Toolbox) -> None:
    handle = tools.run("search", {"query": "deploy key"}).text.split(" ", 1)[0].strip("[")
    plain = tools.run("recall", {"handle": handle, "lines": "31", "max_tokens": 200})
    written = {"handle": f"[{handle}]", "lines": 31, "max_tokens": "200", "grep": None}
    assert PLANTED in plain.text
    assert tools.run("recall", written).text == plain.text
