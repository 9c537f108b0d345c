"""The reference calls run unchanged, and a model gets an output for any call."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from foldline.errors import InputError
from foldline.tools import NoteTool, Toolbox
from foldline.tools.notes import PREVIEW
from foldline.tools.output import ErrorCode


@pytest.fixture
def notes(tmp_path: Path) -> NoteTool:
    return NoteTool(workspace=f"{tmp_path}/project_notes")


def create(notes: NoteTool, title: str = "依赖冲突问题", **more: Any) -> str:
    return str(
        notes.run(
            {
                "action": "create",
                "title": title,
                "content": "发现某些第三方库版本不兼容,需要解决。影响范围:业务逻辑层的3个模块。",
                "note_type": "blocker",
                "tags": ["dependency", "urgent"],
                **more,
            }
        )
    )


@pytest.mark.requirement("T6")
def test_the_seven_reference_actions_run_unchanged(notes: NoteTool) -> None:
    note_id = create(notes)
    note = notes.run({"action": "read", "note_id": note_id})
    assert note["metadata"]["title"] == "依赖冲突问题"
    assert note["content"].startswith("发现某些")
    assert note_id in notes.run(
        {"action": "update", "note_id": note_id, "content": "解决了", "note_type": "conclusion"}
    )
    create(notes, "重构项目 - 第一阶段", note_type="task_state")
    (found,) = notes.run({"action": "search", "query": "第一阶段", "limit": 3})
    assert found["title"] == "重构项目 - 第一阶段"
    listed = notes.run({"action": "list", "note_type": "conclusion", "limit": 2})
    assert [one["note_id"] for one in listed] == [note_id]
    summary = notes.run({"action": "summary"})
    assert summary["total_notes"] == 2
    assert summary["type_distribution"] == {"conclusion": 1, "task_state": 1}
    assert set(summary["recent_notes"][0]) == {"id", "title", "type", "updated_at"}
    assert json.dumps(summary, ensure_ascii=False)
    assert note_id in notes.run({"action": "delete", "note_id": note_id})
    assert notes.run({"action": "summary"})["total_notes"] == 1
    assert note_id in notes.run({"action": "restore", "note_id": note_id})


@pytest.mark.requirement("T6")
def test_the_reference_assistant_can_index_the_results(notes: NoteTool) -> None:
    create(notes)
    blockers = notes.run({"action": "list", "note_type": "blocker", "limit": 2})
    found = notes.run({"action": "search", "query": "第三方库", "limit": 3})
    every = {note["note_id"]: note for note in blockers + found}
    assert len(every) == 1
    for note in every.values():
        assert f"[笔记:{note['title']}]\n{note['content']}"
        assert datetime.fromisoformat(note["updated_at"]).tzinfo is not None
        assert (note["type"], note["id"]) == ("blocker", note["note_id"])


@pytest.mark.requirement("T6")
def test_notes_created_in_the_same_second_after_a_deletion_are_distinct(notes: NoteTool) -> None:
    first = create(notes, "one")
    second = create(notes, "two")
    notes.run({"action": "delete", "note_id": first})
    third = create(notes, "three")
    assert len({first, second, third}) == 3
    assert {one["title"] for one in notes.run({"action": "list"})} == {"two", "three"}


@pytest.mark.requirement("T6")
def test_the_newest_is_in_the_first_ten_and_pages_go_on(notes: NoteTool) -> None:
    for n in range(25):
        create(notes, f"note {n}")
    pages = [notes.run({"action": "list", "limit": 10, "start": at}) for at in (0, 10, 20)]
    assert [one["title"] for page in pages for one in page] == [
        f"note {n}" for n in range(24, -1, -1)
    ]
    assert len(notes.run({"action": "list"})) == 20


@pytest.mark.requirement("T6")
def test_no_id_escapes_the_workspace(notes: NoteTool, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("---\nid: secret\ntitle: s\n---\n\ns\n")
    for wrong in ("../secret", "../secret.md", str(secret), "..", "secret"):
        for action in ("read", "delete", "update", "restore"):
            with pytest.raises(InputError, match="no note"):
                notes.run({"action": action, "note_id": wrong, "title": "x"})
    assert secret.exists()


@pytest.mark.parametrize(
    ("call", "why"),
    [
        ({}, "action"),
        ({"action": "creat"}, "create"),
        ({"action": "create", "content": "x"}, "title"),
        ({"action": "create", "title": "x", "note_type": "idea"}, "note_type"),
        ({"action": "read"}, "the id of a note"),
        ({"action": "search", "query": " "}, "query"),
        ({"action": "list", "limit": -1}, "limit"),
        ({"action": "create", "title": "x", "path": "/etc"}, "path"),
        ({"action": "progress", "note_id": "x"}, "no note"),
    ],
)
def test_an_invalid_call_names_the_problem(
    notes: NoteTool, call: dict[str, Any], why: str
) -> None:
    with pytest.raises(InputError, match=why):
        notes.run(call)
    with pytest.raises(InputError, match="mapping"):
        notes.run("create")  # type: ignore[arg-type]


@pytest.mark.requirement("E4.3")
def test_tasks_are_notes(notes: NoteTool) -> None:
    build = notes.execute("task", title="Build")
    ship = notes.execute("task", title="Ship", needs=[build])
    assert [one["state"] for one in notes.execute("tasks")] == ["ready", "waiting"]
    notes.execute("progress", note_id=build, status="running")
    failed = notes.execute("progress", note_id=build, status="failed", outcome="no disk")
    assert (failed["status"], failed["outcome"]) == ("failed", "no disk")
    assert notes.execute("tasks")[1]["why"] == "'Build' failed"
    notes.execute("progress", note_id=build, status="pending")
    notes.execute("progress", note_id=build, status="done")
    assert notes.execute("tasks")[1] == {
        "note_id": ship, "title": "Ship", "state": "ready", "needs": [build],
    }  # fmt: skip
    notes.execute("progress", note_id=ship, status="cancelled")
    with pytest.raises(InputError, match="the new status"):
        notes.execute("progress", note_id=ship)


def test_a_model_reads_json_and_errors_by_their_kind(notes: NoteTool) -> None:
    box = Toolbox([notes.tool])
    made = box.run("note", {"action": "create", "title": "长", "content": "字" * 5_000})
    shown = json.loads(box.run("note", '{"action": "list"}').text)[0]
    assert shown["note_id"] == made.text
    assert shown["content"].startswith("字" * PREVIEW + "… [3,000 characters more")
    assert json.loads(box.run("note", {"action": "read", "note_id": made.text}).text)[
        "content"
    ] == ("字" * 5_000)
    for call, code in (
        ({"action": "read", "note_id": "nobody"}, ErrorCode.NOT_FOUND),
        ({"action": "update", "note_id": made.text, "version": 9}, ErrorCode.CONFLICT),
        ({"action": "create"}, ErrorCode.INVALID_ARGUMENTS),
        ({"action": "fly"}, ErrorCode.INVALID_ARGUMENTS),
    ):
        assert box.run("note", call).code == code
    assert notes.tool.schema("anthropic")["name"] == "note"


def test_the_most_notes_can_be_set(tmp_path: Path) -> None:
    notes = NoteTool(workspace=tmp_path, max_notes=1)
    first = create(notes)
    out = notes.tool.run({"action": "create", "title": "two"})
    assert out.code == ErrorCode.UNAVAILABLE
    assert "the limit of 1 notes" in out.text
    assert [one["id"] for one in notes.run({"action": "list"})] == [first]
