import os
import subprocess

import pytest

from foldline.agents.checkpoint import (
    WorkspaceChanges,
    WorkspaceState,
    git_head,
    read_workspace,
    touched_paths,
)
from foldline.core.retention_settings import FileSettings
from foldline.errors import InputError
from foldline.rooted_files import Root
from foldline.values.messages import ToolCall


def git(folder, *words):
    author = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
    ran = subprocess.run(
        ["git", *author, *words], cwd=folder, capture_output=True, text=True, check=True
    )
    return ran.stdout.strip()


@pytest.mark.requirement("H20")
def test_changed_deleted_and_created_files_are_named(tmp_path):
    root = Root(tmp_path)
    for name in ("same", "changed", "deleted"):
        (tmp_path / name).write_text("one")
    before = read_workspace(root, ["same", "changed", "deleted", "created"])
    assert not before.changes(read_workspace(root, before.files))
    (tmp_path / "changed").write_text("two")
    (tmp_path / "deleted").unlink()
    (tmp_path / "created").write_text("new")
    changes = before.changes(read_workspace(root, before.files))
    assert dict(changes.files) == {
        "changed": "changed",
        "deleted": "deleted",
        "created": "created",
    }
    assert str(changes) == "changed (changed), deleted (deleted), created (created)"
    assert WorkspaceState.from_dict(before.to_dict()) == before


def test_the_git_head_is_read_from_branches_packs_worktrees_and_alone(tmp_path):
    repo = tmp_path / "repo"
    repo.mkdir()
    assert git_head(repo) == ""
    git(repo, "init")
    assert git_head(repo) == ""
    git(repo, "commit", "--allow-empty", "-m", "one")
    first = git(repo, "rev-parse", "HEAD")
    assert git_head(repo) == first
    git(repo, "pack-refs", "--all")
    assert git_head(repo) == first
    git(repo, "commit", "--allow-empty", "-m", "two")
    second = git(repo, "rev-parse", "HEAD")
    assert git_head(repo) == second
    git(repo, "worktree", "add", str(tmp_path / "tree"), "-b", "other")
    assert git_head(tmp_path / "tree") == second
    git(repo, "checkout", first)
    assert git_head(repo) == first
    changes = WorkspaceState(git_head=first).changes(WorkspaceState(git_head=second))
    assert str(changes) == f"the git head ({first[:12]} → {second[:12]})"


@pytest.mark.parametrize("cut", ["", "0123", "\0" * 41])
def test_a_truncated_branch_does_not_fall_back_to_its_packed_ref(tmp_path, cut):
    git(tmp_path, "init")
    git(tmp_path, "commit", "--allow-empty", "-m", "one")
    git(tmp_path, "pack-refs", "--all")
    (tmp_path / ".git" / "refs" / "heads" / "main").write_text(cut)
    assert git_head(tmp_path) == ""


@pytest.mark.parametrize(
    "told", ["ref: ../../secret", "ref: /etc/passwd", "\xff", "ref: refs/heads/none", ""]
)
def test_a_head_that_points_elsewhere_is_ignored(tmp_path, told):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text(told)
    assert git_head(tmp_path) == ""


def test_calls_name_the_files_that_they_touch_inside_the_root_only(tmp_path):
    calls = [
        ToolCall("1", "read_file", '{"path": "a/../b.txt"}'),
        ToolCall("2", "write_file", f'{{"path": "{tmp_path}/c.txt"}}'),
        ToolCall("3", "read_file", '{"path": "../outside"}'),
        ToolCall("4", "search", '{"query": "x"}'),
        ToolCall("5", "read_file", "{broken"),
    ]
    assert touched_paths(Root(tmp_path), calls, FileSettings()) == ["b.txt", "c.txt"]
    assert touched_paths(None, calls, FileSettings()) == []
    assert read_workspace(None, ["a"]) == WorkspaceState()


@pytest.mark.parametrize(
    "value", [None, {}, {"files": [], "head": ""}, {"files": {"a": 1}, "head": ""}]
)
def test_an_invalid_workspace_state_is_refused(value):
    with pytest.raises(InputError):
        WorkspaceState.from_dict(value)


def test_no_change_is_nothing():
    assert not WorkspaceChanges()
    assert str(WorkspaceChanges()) == "nothing"


def test_a_pipe_in_the_place_of_the_head_is_not_waited_for(tmp_path):
    (tmp_path / ".git").mkdir()
    os.mkfifo(tmp_path / ".git" / "HEAD")
    assert git_head(tmp_path) == ""
