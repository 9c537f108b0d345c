"""The to-do list; the rows X-10 of published suites."""

import json
import os
import stat
import threading
from pathlib import Path

import pytest

from foldline.errors import StoreError
from foldline.snapshot.plans import is_plan_tool
from foldline.tools import ErrorCode, Todo, TodoTool
from foldline.tools.todo import ITEMS, SCHEMA, recap


def listed(*statuses):
    return [{"content": f"item {n}", "status": status} for n, status in enumerate(statuses)]


FOUR = listed("completed", "in_progress", "pending", "pending")


@pytest.mark.requirement("H16")
def test_a_list_is_set_whole_and_recapped():
    todos = TodoTool()
    output = todos.tool.run({"todos": FOUR})
    assert output.text == "[1/4] in progress: item 1; pending: item 2, item 3"
    assert output.stats == {"total": 4, "pending": 2, "in_progress": 1, "completed": 1}
    assert output.data["todos"] == FOUR
    assert todos.tool.run({"todos": listed("completed", "completed")}).text == "[2/2] all done"
    assert [item.content for item in todos.items] == ["item 0", "item 1"]


def test_a_long_recap_is_shortened_and_an_empty_list_is_reported():
    assert recap([Todo(f"t{n}") for n in range(9)]) == "[0/9] pending: t0, t1, t2 and 6 more"
    assert recap([Todo("a", "completed"), Todo("b", "in_progress")]) == "[1/2] in progress: b"
    assert recap([]) == "[0/0] the list is empty"


@pytest.mark.requirement("H16")
@pytest.mark.parametrize(
    ("todos", "told"),
    [
        (listed("in_progress", "in_progress"), "2 items are in progress; at most one is allowed"),
        ([{"content": "", "status": "pending"}], "todos[0].content"),
        ([{"content": "  \n", "status": "pending"}], "todos[0].content: it is empty"),
        (listed("doing"), "'doing' is not one of pending, in_progress, completed"),
        (listed(None), "todos[0].status: string expected"),
        ([{"content": "a"}], "todos[0].status: missing"),
        ([{"content": "a", "status": "pending", "owner": "me"}], "owner: unknown"),
        (["a"], "todos[0]: object expected"),
        ("not a list", "todos: array expected"),
        (None, "todos: array expected"),
        (listed(*["pending"] * (ITEMS["maxItems"] + 1)), "at most 40 items"),
        ([{"content": "x" * 501, "status": "pending"}], "at most 500 characters"),
    ],
)
def test_an_invalid_list_changes_nothing(todos, told):
    made = TodoTool()
    made.write(FOUR)
    for output in (made.write(todos), made.tool.run({"todos": todos})):
        assert output.code is ErrorCode.INVALID_ARGUMENTS
        assert told in output.text
    assert len(made.items) == 4


@pytest.mark.requirement("H16")
def test_a_list_may_come_as_json_text():
    todos = TodoTool()
    assert todos.write(json.dumps(FOUR)).ok
    assert todos.tool.run(json.dumps({"todos": json.dumps(FOUR)})).ok
    assert todos.recap.startswith("[1/4]")


@pytest.mark.requirement("H16")
def test_a_list_is_stored_in_its_file_and_loaded_again(tmp_path):
    path = tmp_path / "todo.json"
    TodoTool(path).write(FOUR)
    stored = json.loads(path.read_text())
    assert (stored["schema"], stored["todos"]) == (SCHEMA, FOUR)
    assert stored["stats"]["completed"] == 1
    again = TodoTool(str(path))
    assert again.items[1] == Todo("item 1", "in_progress")
    assert again.clear().text == "[0/0] the list is empty"
    assert TodoTool(path).items == ()
    assert json.loads(path.read_text())["todos"] == []
    assert [path.name for path in tmp_path.iterdir()] == ["todo.json"]


def test_words_of_any_script_are_kept(tmp_path):
    items = [{"content": "修复 \N{GRINNING FACE} \ud800", "status": "pending"}]
    assert TodoTool(tmp_path / "t.json").write(items).ok
    assert TodoTool(tmp_path / "t.json").items[0].content == items[0]["content"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"schema": "foldline.todo/9", "todos": []}',
        '{"schema": "foldline.todo/1"}',
        '{"schema": "foldline.todo/1", "todos": [{"content": "a", "status": "done"}]}',
        '{"schema": "foldline.todo/1", "todos": "' + "x" * (1 << 20) + '"}',
        "[" * 100_000,
        "\xff",
    ],
)
def test_an_invalid_file_is_an_error_and_stays_unchanged(tmp_path, text):
    path = tmp_path / "todo.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(StoreError, match=r"todo\.json is not a to-do list"):
        TodoTool(path)
    assert path.read_text(encoding="latin-1") == text


def test_an_unreadable_path_is_an_error(tmp_path):
    with pytest.raises(StoreError, match="cannot be read"):
        TodoTool(tmp_path)


def test_a_list_that_cannot_be_written_is_an_output_and_changes_nothing(tmp_path):
    todos = TodoTool(tmp_path / "t.json")
    todos.write(FOUR)
    lost = TodoTool(tmp_path / "missing" / "t.json")
    output = lost.write(FOUR)
    assert output.code is ErrorCode.UNAVAILABLE
    assert "cannot be written" in output.text
    assert lost.items == ()


def test_a_write_that_fails_half_way_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "t.json"
    todos = TodoTool(path)
    todos.write(FOUR)
    before = path.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert todos.write([]).code is ErrorCode.UNAVAILABLE
    assert path.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["t.json"]
    assert len(todos.items) == 4


def test_concurrent_writes_leave_one_complete_list(tmp_path):
    path = tmp_path / "t.json"
    todos = TodoTool(path)

    def work(number):
        for _ in range(10):
            assert todos.write(listed(*["pending"] * number)).ok

    threads = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert TodoTool(path).items == todos.items
    assert not any(found.name.startswith(".") for found in tmp_path.iterdir())


def test_the_file_is_private(tmp_path):
    path = Path(tmp_path / "t.json")
    TodoTool(path).write(FOUR)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.requirement("H16")
def test_a_compaction_knows_the_tool_by_its_name():
    assert is_plan_tool(TodoTool().tool.name)
