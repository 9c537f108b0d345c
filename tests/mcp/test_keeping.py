from __future__ import annotations

from pathlib import Path

import pytest

from foldline.mcp.keeping import (
    LOOKING_AT_MEMORY,
    LOOKING_AT_NOTES,
    memory_tool,
    notes_tool,
)
from foldline.tools.memory import FOR_MODELS
from foldline.tools.notes import NoteTool


def everything(folder: Path) -> dict[str, bytes]:
    return {str(one): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


def test_who_may_write_makes_finds_and_changes_notes(tmp_path: Path) -> None:
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


def test_who_may_write_remembers_and_forgets(tmp_path: Path) -> None:
    tool = memory_tool(tmp_path / "deep" / "memory.db", "ann", write=True)
    assert tool.run({"action": "add", "content": "The launch moved to May"}).ok
    assert "May" in tool.run({"action": "search", "query": "launch"}).text
    other = memory_tool(tmp_path / "deep" / "memory.db", "bob", write=False)
    assert "Nothing" in other.run({"action": "search", "query": "launch"}).text


@pytest.mark.parametrize("write", [True, False])
def test_looking_at_what_is_not_there_makes_nothing(tmp_path: Path, write: bool) -> None:
    notes = notes_tool(tmp_path / "notes", write=write)
    memory = memory_tool(tmp_path / "kept" / "memory.db", "ann", write=write)
    assert "no notes" in notes.run({"action": "list"}).text
    assert "Nothing" in memory.run({"action": "search", "query": "x"}).text
    assert list(tmp_path.iterdir()) == []


def test_who_may_only_look_can_call_nothing_that_changes(tmp_path: Path) -> None:
    NoteTool(tmp_path / "notes").notes.create("A", "B")
    memory_tool(tmp_path / "m.db", "ann", write=True).run({"action": "add", "content": "C"})
    before = everything(tmp_path / "notes")
    notes = notes_tool(tmp_path / "notes", write=False)
    memory = memory_tool(tmp_path / "m.db", "ann", write=False)

    assert set(notes.parameters["properties"]["action"]["enum"]) == set(LOOKING_AT_NOTES)
    for action in ("create", "update", "delete", "restore", "task", "progress"):
        assert not notes.run({"action": action, "title": "x", "note_id": "x"}).ok
    for action in set(FOR_MODELS) - set(LOOKING_AT_MEMORY) | {"clear_all"}:
        assert not memory.run({"action": action, "content": "x", "memory_id": "x"}).ok

    assert everything(tmp_path / "notes") == before
    assert "C" in memory.run({"action": "list"}).text


def test_a_file_that_is_no_memory_is_an_answer(tmp_path: Path) -> None:
    (tmp_path / "m.db").write_text("not a database " * 200)
    done = memory_tool(tmp_path / "m.db", "ann", write=False).run({"action": "stats"})
    assert not done.ok
    assert "not a SQLite file" in done.text
