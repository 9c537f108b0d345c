import json
import os
import sys

import pytest
from tests.children import launch

from foldline import Config, Session
from foldline.errors import BudgetError
from foldline.stores.memory import MemoryStore
from foldline.tools import ErrorCode, FileBounds, Replacement, Workspace


@pytest.fixture
def root(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\nfour\nfive\nsix\n")
    return tmp_path


def left_over(root):
    return [p.name for p in root.rglob("*") if p.is_file() and p.name.startswith(".")]


# --- reading -------------------------------------------------------------------------------


@pytest.mark.requirement("H18")
def test_lines_are_read_from_an_offset_up_to_a_limit(root):
    output = Workspace(root).read("a.txt", 2, 3)
    assert output.text == "three\nfour\nfive\n[Lines 3 to 5 of 6. Continue with offset=5.]"
    assert output.status == "partial"
    assert Workspace(root).read("a.txt", 9).text == "[The file has 6 lines.]"
    assert Workspace(root).read("a.txt").text == (root / "a.txt").read_text()


def test_a_read_is_limited_in_lines_and_in_characters(root):
    (root / "long.txt").write_text("x" * 500 + "\nend\n")
    bounds = FileBounds(lines=2, characters=100, size=1_000)
    workspace = Workspace(root, bounds=bounds)
    assert "Lines 1 to 2 of 6" in workspace.read("a.txt").text
    cut = workspace.read("long.txt").text
    assert cut.startswith("x" * 100 + "\n")
    assert "Line 1 has 501 characters" in cut
    (root / "huge.txt").write_text("y" * 1_001)
    assert workspace.read("huge.txt").code is ErrorCode.TOO_LARGE
    assert workspace.write("new.txt", "z" * 1_001).code is ErrorCode.TOO_LARGE
    assert not (root / "new.txt").exists()
    with pytest.raises(BudgetError):
        FileBounds(lines=0)


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("none.txt", None, ErrorCode.NOT_FOUND),
        ("bytes", b"\xff\xfe\x00", ErrorCode.NOT_TEXT),
        ("nul", b"a\0b", ErrorCode.NOT_TEXT),
    ],
)
def test_an_unreadable_file_is_reported_with_the_reason(root, name, data, code):
    if data is not None:
        (root / name).write_bytes(data)
    assert Workspace(root).read(name).code is code
    assert Workspace(root).read("../x").code is ErrorCode.INVALID_ARGUMENTS


def test_an_empty_file_is_reported_as_empty(root):
    (root / "empty").write_text("")
    assert Workspace(root).read("empty").text == "[It is empty.]"


# --- changing ------------------------------------------------------------------------------


@pytest.mark.requirement("H18")
def test_a_file_that_exists_is_not_written_before_it_was_read(root):
    workspace = Workspace(root)
    assert workspace.write("a.txt", "new").code is ErrorCode.CONFLICT
    workspace.read("a.txt", 0, 1)
    assert workspace.write("a.txt", "new").ok
    assert workspace.write("a.txt", "newer").ok
    assert workspace.write("deep/er/b.txt", "made").ok
    assert (root / "a.txt").read_text() == "newer"
    assert (root / "deep/er/b.txt").read_text() == "made"


@pytest.mark.requirement("H18")
def test_the_second_of_two_writers_gets_a_conflict_even_in_the_same_instant(root):
    one, two = Workspace(root), Workspace(root)
    before = (root / "a.txt").stat()
    for workspace in (one, two):
        workspace.read("a.txt")
    assert one.edit("a.txt", [Replacement("two", "TWO")]).ok
    os.utime(root / "a.txt", ns=(before.st_atime_ns, before.st_mtime_ns))
    for _ in range(2):
        refused = two.edit("a.txt", [Replacement("three", "THREE")])
        assert refused.code is ErrorCode.CONFLICT
        assert two.write("a.txt", "mine").code is ErrorCode.CONFLICT
    assert "three" in (root / "a.txt").read_text()
    two.read("a.txt")
    assert two.edit("a.txt", [Replacement("three", "THREE")]).ok
    assert "TWO\nTHREE" in (root / "a.txt").read_text()
    (root / "a.txt").unlink()
    assert two.write("a.txt", "mine").code is ErrorCode.CONFLICT


@pytest.mark.requirement("H18")
def test_a_stale_expected_version_is_a_conflict(root):
    workspace = Workspace(root)
    version = workspace.read("a.txt").data["version"]
    changed = workspace.write("a.txt", "new", version=version)
    assert workspace.write("a.txt", "newer", version=version).code is ErrorCode.CONFLICT
    assert workspace.write("a.txt", "newer", version=changed.data["version"]).ok


@pytest.mark.requirement("H18")
def test_several_edits_are_made_all_or_none_and_old_text_must_be_unique(root):
    workspace = Workspace(root)
    before = (root / "a.txt").read_text()
    edits = [Replacement("one", "1"), Replacement("t", "T")]
    refused = workspace.edit("a.txt", edits)
    assert refused.code is ErrorCode.INVALID_ARGUMENTS
    assert "occurs 2 times" in refused.text
    assert (root / "a.txt").read_text() == before
    assert workspace.edit("a.txt", [edits[0], Replacement("t", "T", everywhere=True)]).ok
    assert (root / "a.txt").read_text() == "1\nTwo\nThree\nfour\nfive\nsix\n"
    assert workspace.edit("none.txt", edits).code is ErrorCode.NOT_FOUND


@pytest.mark.requirement("H18")
def test_earlier_versions_are_kept_limited_and_restored(root):
    workspace = Workspace(root, bounds=FileBounds(backups=2), clock=lambda: 1_700_000_000.0)
    workspace.read("a.txt")
    first = (root / "a.txt").read_text()
    workspace.write("a.txt", "second")
    assert len(workspace.backups("a.txt")) == 1
    assert workspace.restore("a.txt").ok
    assert (root / "a.txt").read_text() == first
    for number in range(5):
        workspace.write("a.txt", f"version {number}")
    assert len(workspace.backups("a.txt")) == 2
    newest, oldest = workspace.backups("a.txt")
    assert workspace.restore("a.txt", oldest).ok
    assert (root / "a.txt").read_text() == "version 2"
    assert workspace.restore("a.txt", "../../etc").code is ErrorCode.INVALID_ARGUMENTS
    assert newest in workspace.backups("a.txt")
    assert left_over(root) == []


@pytest.mark.requirement("H18")
@pytest.mark.parametrize("path", [".git/hooks/pre-commit", "sub/.GIT/config", ".foldline/x"])
def test_git_and_backup_folders_are_never_written(root, path):
    output = Workspace(root).write(path, "#!/bin/sh")
    assert output.code is ErrorCode.DENIED
    assert not (root / path).exists()


@pytest.mark.requirement("H18")
def test_links_out_of_the_folder_are_neither_read_nor_written(root, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret").write_text("secret")
    (root / "out").symlink_to(outside)
    (root / "secret").symlink_to(outside / "secret")
    workspace = Workspace(root)
    for path in ("out/secret", "secret"):
        assert workspace.read(path).code is ErrorCode.DENIED
        assert workspace.write(path, "x").code is ErrorCode.DENIED
    assert (outside / "secret").read_text() == "secret"


@pytest.mark.requirement("H18")
def test_two_processes_that_change_one_file_lose_no_change(root):
    code = """
import sys
from foldline.tools import Replacement, Workspace

who, root = sys.argv[1:]
workspace, done = Workspace(root), 0
while done < 25:
    workspace.read("log.txt")
    new = f"{who} {done}\\nEND"
    done += workspace.edit("log.txt", [Replacement("END", new)]).ok
"""
    (root / "log.txt").write_text("END\n")
    children = [launch([sys.executable, "-c", code, who, root]) for who in "ab"]
    assert [child.wait(60) for child in children] == [0, 0]
    lines = (root / "log.txt").read_text().splitlines()
    for who in "ab":
        assert [line for line in lines if line[0] == who] == [f"{who} {n}" for n in range(25)]


# --- what is in view -----------------------------------------------------------------------


def session_of(root):
    config = Config().replace(files={"root": str(root), "count": 0})
    return Session.open(
        None, "s", store=MemoryStore(), window=6_000, format="openai-chat", config=config
    )


def call(session, workspace, number, **arguments):
    """Read a file as a model, and record the output."""
    made = {"name": "read_file", "arguments": json.dumps(arguments)}
    calls = [{"id": number, "type": "function", "function": made}]
    session.append({"role": "assistant", "content": None, "tool_calls": calls})
    offset, limit = arguments.get("offset", 0), arguments.get("limit")
    output = workspace.read(arguments["path"], offset, limit)
    session.append({"role": "tool", "tool_call_id": number, "content": output.text})
    return output


@pytest.mark.requirement("H18", "F71")
def test_a_file_still_in_view_is_not_repeated_until_it_is_evicted(root):
    with session_of(root) as session:
        workspace = Workspace(root, is_in_view=session.is_in_view)
        (root / "a.txt").write_text("".join(f"line {n} of the file\n" for n in range(300)))
        session.append({"role": "user", "content": "Read a.txt."})
        whole = call(session, workspace, "c1", path="a.txt")
        for turn in range(4):
            session.append({"role": "assistant", "content": "I read it. " * 40})
            session.append({"role": "user", "content": f"Go on with {turn}."})
        again = call(session, workspace, "c2", path="a.txt")
        assert again.data["unchanged"]
        session.compact(300)
        shown = [message.get("content") for message in session.view()]
        assert whole.text not in shown
        assert again.text in shown
        assert call(session, workspace, "c3", path="a.txt").text == whole.text


@pytest.mark.requirement("H18", "F71")
def test_a_remaining_stub_does_not_replace_an_evicted_text(root):
    shown = {"a.txt"}
    workspace = Workspace(root, is_in_view=shown.__contains__)
    whole = workspace.read("a.txt").text
    assert workspace.read("a.txt").data["unchanged"]
    workspace.read("a.txt", 1, 1)
    assert workspace.read("a.txt").text == whole
    (root / "a.txt").write_text("changed\n")
    assert workspace.read("a.txt").text == "changed\n"
    shown.clear()
    assert workspace.read("a.txt").text == "changed\n"


@pytest.mark.requirement("H18")
def test_a_name_as_long_as_the_system_allows_can_be_written(root):
    name = "长" * 84
    assert Workspace(root).write(name, "text").ok
    assert (root / name).read_text() == "text"
    assert not left_over(root)
