from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from tests.cli.sample import foldline, start

from foldline.notes import Notes


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FOLDLINE_NOTES", str(tmp_path / "notes"))
    return tmp_path / "notes"


def new(*words: object) -> str:
    done = foldline("note", "new", *words)
    assert done.exit_code == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.requirement("T6")
def test_a_note_is_created_shown_changed_deleted_and_restored(folder: Path) -> None:
    one = new("登录失败", "--content", "只有 SSO。", "--type", "blocker", "--tag", "auth")
    shown = foldline("note", "show", one[-6:])
    assert shown.stdout == "只有 SSO。\n"
    assert f"登录失败\n{one}: blocker, task, version 1, tags auth\n" in shown.stderr
    edited = foldline("note", "edit", one, "--type", "conclusion", "-c", "solved")
    assert edited.stderr == f"{one} is now at version 2.\n"
    assert foldline("note", "show", one, "--version", 1).stdout == "只有 SSO。\n"
    assert foldline("note", "edit", one, "--revert", 1, "--json").exit_code == 0
    assert Notes.open(folder).read(one).content == "只有 SSO。"
    assert foldline("note", "rm", one).exit_code == 0
    assert foldline("note", "show", one).exit_code == 3
    assert "登录失败" in foldline("note", "ls", "--deleted").stdout
    assert foldline("note", "rm", "--undo", one[-6:]).exit_code == 0
    assert json.loads(foldline("note", "show", one, "--json").stdout)["note"]["version"] == 3


def test_content_comes_from_stdin_and_a_pipe_gets_the_id(folder: Path) -> None:
    made = foldline("note", "new", "log", "-c", "-", stdin="第一行\nzwei\n".encode())
    assert Notes.open(folder).read(made.stdout.strip()).content == "第一行\nzwei"
    large = foldline("note", "new", "log", "-c", "-", stdin=b"x" * (1 << 21))
    assert large.exit_code == 3
    assert "1,048,576 bytes" in large.stderr


def test_an_editor_changes_a_note_only_if_it_was_saved(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    one = new("draft", "-c", "old")
    monkeypatch.setenv("VISUAL", "true")
    assert "Nothing was changed" in foldline("note", "edit", one).stderr
    monkeypatch.setenv("VISUAL", "sed -i s/old/new/")
    assert "version 2" in foldline("note", "edit", one).stderr
    assert Notes.open(folder).read(one).content == "new"


def test_notes_are_found_listed_and_counted(folder: Path) -> None:
    new("Login", "-c", "The retries time out.", "--type", "action", "--tag", "auth")
    new("数据库", "-c", "慢查询很多")
    (folder / "mine.md").write_text("# mine\n")
    found = foldline("note", "search", "慢查询")
    assert "数据库" in found.stdout
    assert "warning: mine.md is skipped: it has no front matter" in found.stderr
    told = json.loads(foldline("note", "search", "retry", "--json").stdout)
    assert [one["note"]["title"] for one in told["found"]] == ["Login"]
    told = json.loads(foldline("note", "ls", "--json", "--tag", "auth").stdout)
    assert [one["title"] for one in told["notes"]] == ["Login"]
    assert "数据库" in foldline("note", "ls", "--limit", 1).stdout
    summary = json.loads(foldline("note", "summary", "--json").stdout)
    assert (summary["total"], summary["by_type"]) == (2, {"general": 1, "action": 1})
    assert summary["troubles"][0]["name"] == "mine.md"
    assert "2 notes." in foldline("note", "summary").stderr


@pytest.mark.requirement("E4.3")
def test_tasks_are_made_ordered_and_ended(folder: Path) -> None:
    build = new("Build", "--task")
    ship = new("Ship", "--needs", build[-6:])
    listed = foldline("note", "tasks").stdout
    assert "ready" in listed
    assert "waits for 'Build'" in listed
    refused = foldline("note", "task", "need", build, ship)
    assert refused.exit_code == 3
    assert "Build → Ship → Build" in refused.stderr
    assert foldline("note", "task", "start", ship).exit_code == 5
    assert foldline("note", "task", "start", build).exit_code == 0
    failed = foldline("note", "task", "fail", build, "no", "disk")
    assert "is failed" in failed.stderr
    told = json.loads(foldline("note", "tasks", "--json").stdout)["tasks"]
    assert [(one["state"], one["because"]) for one in told] == [
        ("failed", []), ("blocked", [build]),
    ]  # fmt: skip
    foldline("note", "task", "reopen", build)
    done = foldline("note", "task", "done", build, "--json")
    assert json.loads(done.stdout)["now_ready"] == [ship]
    assert "Ship" in foldline("note", "tasks", "--ready").stdout
    assert foldline("note", "task", "cancel", ship).exit_code == 0
    assert "done: ok" not in foldline("note", "show", ship).stderr


@pytest.mark.requirement("E3.1")
def test_temporary_notes_are_tidied_and_that_is_undone(folder: Path) -> None:
    for _ in range(2):
        new("Build fails", "--level", "temporary", "-c", "the cache of the runner is full")
    assert foldline("note", "tidy", "--plan", "--json").exit_code == 0
    assert len(Notes.open(folder).list()) == 2
    told = json.loads(foldline("note", "tidy", "--json").stdout)
    assert len(told["merges"]) == 1
    assert len(Notes.open(folder).list()) == 1
    assert "1 restored from the trash" in foldline("note", "tidy", "--undo", told["id"]).stderr
    assert len(Notes.open(folder).list()) == 2
    assert "alike" in foldline("note", "tidy").stderr
    assert foldline("note", "tidy", "--undo", "nothing").exit_code == 3


@pytest.mark.requirement("T6")
@pytest.mark.parametrize("wrong", ["../../etc/passwd", "", "x" * 999, "zzzz"])
def test_a_wrong_id_is_bad_input(wrong: str) -> None:
    new("one")
    done = foldline("note", "show", "--", wrong)
    assert done.exit_code == 3
    assert "no note" in done.stderr


def test_reading_does_not_create_a_missing_folder(folder: Path) -> None:
    for command in (("ls",), ("search", "x"), ("summary",), ("tasks",), ("show", "x")):
        done = foldline("note", *command)
        assert done.exit_code == 3
        assert "foldline note new" in done.stderr
    assert not folder.exists()


def test_a_task_is_not_a_blocker(folder: Path) -> None:
    assert foldline("note", "new", "x", "--task", "--type", "blocker").exit_code == 2
    assert foldline("note", "show", "x", "--notes", str(folder / "x")).exit_code == 3


def test_a_hostile_note_cannot_control_the_terminal(folder: Path) -> None:
    one = new("\x1b]0;title\x07 red\x1b[31m", "-c", "\x1b[2J")
    for done in (
        foldline("note", "ls"),
        foldline("note", "summary"),
        foldline("note", "show", one),
    ):
        assert "\x1b" not in done.stderr
    assert "\x1b" not in foldline("note", "ls").stdout


def test_the_command_runs_as_a_process(folder: Path) -> None:
    out, told = start("note", "new", "x").communicate(timeout=60)
    assert len(out.strip()) == 26
    assert b"Noted 'x'" in told


def test_an_empty_title_is_refused_and_opens_no_editor(folder: Path) -> None:
    one = new("Title")
    done = foldline("note", "edit", one, "--title", "")
    assert done.exit_code == 3
    assert "a note needs a title" in done.stderr


def test_a_date_at_the_end_of_all_calendars_is_shown(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = new("Title")
    (path,) = folder.glob("2*.md")
    text = path.read_text()
    begin = text.index("updated_at")
    line = text[begin : text.index("\n", begin)]
    path.write_text(text.replace(line, "updated_at: 9999-12-31T23:59:59"))
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    try:
        assert one[-8:] in foldline("note", "ls").stdout
    finally:
        monkeypatch.undo()
        time.tzset()


def test_the_folder_is_named_before_or_after_the_subcommand(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    assert foldline("note", "--notes", one, "new", "First", "-c", "x").exit_code == 0
    for words in (("--notes", one, "ls"), ("ls", "--notes", one)):
        assert "First" in foldline("note", *words).stdout
    second = foldline("note", "--notes", one, "new", "Second", "-c", "x", "--notes", other)
    assert second.exit_code == 0
    assert "Second" in foldline("note", "ls", "--notes", other).stdout


def test_a_note_is_unchanged_if_its_editor_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOLDLINE_NOTES", str(tmp_path / "notes"))
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "false")
    name = foldline("note", "new", "A title", "-c", "words").stdout.strip()
    done = foldline("note", "edit", name)
    assert done.exit_code == 1
    assert "The note is unchanged, because the editor failed: false: Editing failed" in done.stderr
    assert "Check the variables VISUAL and EDITOR." in done.stderr
    assert foldline("note", "show", name).stdout == "words\n"
