from __future__ import annotations

import os
from pathlib import Path

import pytest

from foldline.cli import agent_sessions
from foldline.cli.agent_sessions import (
    SessionFile,
    UnreadableFile,
    homes,
    in_folder,
    in_home,
    project_folder,
    walk,
)


def names(found: object) -> list[str]:
    return sorted(item.path.name for item in found if isinstance(item, SessionFile))  # type: ignore[attr-defined]


def test_every_agent_that_is_known_has_a_home(home: Path) -> None:
    known = homes()
    assert {place.agent for place in known} == {"claude-code", "codex", "pi", "gemini-cli"}
    assert all(place.folder.is_relative_to(home) for place in known)


def test_several_folders_may_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", f"{tmp_path}/a, {tmp_path}/b,")
    folders = [place.folder for place in homes() if place.agent == "claude-code"]
    assert folders == [tmp_path / "a" / "projects", tmp_path / "b" / "projects"]


def test_the_files_of_an_agent_are_known_by_their_names(home: Path) -> None:
    chats = home / ".gemini" / "tmp" / "abc" / "chats"
    chats.mkdir(parents=True)
    for name in ("session-1.json", "session-2.jsonl", "logs.json", "session-3.txt"):
        (chats / name).write_text("x")
    place = next(place for place in homes() if place.agent == "gemini-cli")
    assert names(in_home(place)) == ["session-1.json", "session-2.jsonl"]


def test_only_files_that_may_be_sessions_are_offered(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    for name in ("a.jsonl", "b.json.gz", "c.txt", "below/d.traj", "notes.md", "e.md.gz"):
        (tmp_path / name).write_text("x")
    (tmp_path / ".aider.chat.history.md").write_text("x")
    assert names(in_folder(tmp_path)) == [
        ".aider.chat.history.md",
        "a.jsonl",
        "b.json.gz",
        "d.traj",
        "e.md.gz",
    ]


def test_a_folder_is_walked_once_however_many_links_lead_there(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "one").write_text("x")
    for name in ("a", "b", "real/up"):
        (tmp_path / name).symlink_to(tmp_path / "real")
    (tmp_path / "real" / "root").symlink_to(tmp_path)
    assert names(walk(tmp_path)) == ["one"]


def test_too_deep_and_too_many_folders_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path.joinpath(*("d" for _ in range(agent_sessions.MAX_DEPTH + 3)))
    deep.mkdir(parents=True)
    assert any(
        "too deep" in item.why for item in walk(tmp_path) if isinstance(item, UnreadableFile)
    )
    monkeypatch.setattr(agent_sessions, "MAX_ENTRIES", 0)
    assert [type(item) for item in walk(tmp_path)] == [UnreadableFile]


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    (trouble,) = walk(tmp_path / "missing")
    assert isinstance(trouble, UnreadableFile)
    assert trouble.why == "No such file or directory"


@pytest.mark.skipif(os.geteuid() == 0, reason="the administrator may read everything")
def test_an_unreadable_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o000)
    assert any(isinstance(found, UnreadableFile) for found in walk(tmp_path))


@pytest.mark.parametrize(
    ("head", "folder"),
    [
        ('{"cwd": "/srv/app", "x": 1}', "/srv/app"),
        ('{"payload": {"cwd" : "C:\\\\code\\\\caf\\u00e9"}}', "C:\\code\\café"),
        ('{"cwd": "\\ud800bad \\x"}', None),
        ("{}", None),
    ],
)
def test_the_project_is_the_folder_that_a_session_names(
    tmp_path: Path, head: str, folder: str | None
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(head)
    assert project_folder(SessionFile(path, path.stat().st_size, 0.0)) == (folder or str(tmp_path))
