from __future__ import annotations

import pytest
from tests.agents.maintainer.world import codebase, git

from foldline import InputError, StoreError
from foldline.agents.maintainer.refactor.git import Git


@pytest.fixture
def repository(tmp_path):
    return Git(codebase(tmp_path))


@pytest.mark.requirement("E3.3")
def test_files_are_put_back_and_those_of_others_stay(repository):
    root, head = repository.root, repository.head()
    (root / "app/orders.py").write_text("changed\n")
    (root / "app/users.py").unlink()
    (root / "new.py").write_text("new\n")
    (root / "README.md").write_text("mine\n")
    ours = ("app/orders.py", "app/users.py", "new.py")
    patch = repository.patch(head, ours)
    repository.put_back(head, ours)
    assert repository.dirty() == ("README.md",)
    (root / "undone.patch").write_bytes(patch)
    git(root, "apply", "undone.patch")
    assert (root / "new.py").read_text() == "new\n"
    assert not (root / "app/users.py").exists()


def test_only_the_files_that_are_named_are_committed(repository):
    root = repository.root
    (root / "README.md").write_text("mine\n")
    (root / "a [b]*.py").write_text("x = 1\n")
    commit = repository.commit(("a [b]*.py",), "Add it")
    assert repository.head() == commit
    assert repository.message(commit) == "Add it"
    assert repository.dirty() == ("README.md",)
    assert repository.knows(commit, "a [b]*.py")
    assert not repository.knows(commit, "README")


def test_hooks_of_the_codebase_are_not_run(repository):
    hook = repository.root / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {repository.root}/ran\nexit 1\n")
    hook.chmod(0o755)
    (repository.root / "README.md").write_text("x\n")
    repository.commit(("README.md",), "-m")
    assert not (repository.root / "ran").exists()


def test_what_git_leaves_out_is_told(repository):
    assert repository.ignores("secret.txt")
    assert not repository.ignores("app/orders.py")


def test_without_a_commit_there_is_no_way_back(tmp_path):
    with pytest.raises(InputError, match="no commit"):
        Git(tmp_path).head()
    git(tmp_path, "init", "-q")
    with pytest.raises(StoreError, match="git add failed"):
        Git(tmp_path).commit(("nothing.py",), "m")
