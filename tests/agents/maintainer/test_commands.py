"""None"""

from __future__ import annotations

import sys
import time

import pytest
from tests.agents.maintainer.world import codebase, git

from foldline import InputError, StoreError
from foldline.agents.maintainer.commands import OUTPUT_TAIL, Git, parse_checks, run_check


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


def test_files_that_git_ignores_are_detected(repository):
    assert repository.ignores("secret.txt")
    assert not repository.ignores("app/orders.py")


def test_without_a_commit_git_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no commit"):
        Git(tmp_path).head()
    git(tmp_path, "init", "-q")
    with pytest.raises(StoreError, match="git add failed"):
        Git(tmp_path).commit(("nothing.py",), "m")


def python(code, folder, seconds=30.0):
    return run_check((sys.executable, "-c", code), folder, seconds)


def test_a_check_passes_with_0_only_and_its_end_is_kept(tmp_path):
    good = python("print('x' * 50_000); print('all passed')", tmp_path)
    assert good.ok
    assert good.text.endswith("all passed\n")
    assert len(good.text) <= OUTPUT_TAIL
    bad = python("import sys; print('no', file=sys.stderr); sys.exit(3)", tmp_path)
    assert (bad.code, bad.ok, bad.text) == (3, False, "no\n")


def test_it_is_run_in_its_folder_without_a_shell(tmp_path):
    assert python("import os; print(os.getcwd())", tmp_path).text == f"{tmp_path.resolve()}\n"
    (words,) = parse_checks([f"{sys.executable} -c 'print(1)' ; touch {tmp_path}/ran"])
    run_check(words, tmp_path, 30.0)
    assert not (tmp_path / "ran").exists()


def test_a_check_that_times_out_is_stopped_with_its_children(tmp_path):
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', "
    code += "'import time; time.sleep(60)'])"
    begun = time.monotonic()
    found = python(code, tmp_path, 0.5)
    assert found.code is None
    assert "stopped after 0.5 seconds" in found.text
    assert time.monotonic() - begun < 20


def test_a_program_that_is_not_there_fails(tmp_path):
    found = run_check(("no-such-program-here",), tmp_path, 1.0)
    assert not found.ok
    assert "cannot be started" in found.text


@pytest.mark.parametrize("line", ["", "  ", "make 'x"])
def test_an_invalid_command_line_is_refused(line):
    with pytest.raises(InputError):
        parse_checks([line])
