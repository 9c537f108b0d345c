"""Which files were touched: the rows O-15, O-16 and O-18 of published suites, where they fit."""

import json

import pytest
from tests.neutral import A, T, U, c, log
from tests.reinjection.whole_log import accesses

from foldline.core.retention_settings import FileSettings
from foldline.reinjection.file_access import (
    newest,
    paths_in_view,
    relative_to_root,
)

SETTINGS = FileSettings(root="/repo")


def accesses_of(*steps, settings=SETTINGS, result="the content"):
    """Return the accesses of calls given as (tool, arguments) or (tool, arguments, result)."""
    messages = [U("task")]
    for number, (tool, arguments, *rest) in enumerate(steps):
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        messages += [A(c(str(number), tool, text)), T(str(number), *(rest or [result]), name=tool)]
    return accesses(log(*messages), settings)


def paths(*steps, **rest):
    return [access.path for access in newest(accesses_of(*steps, **rest))]


@pytest.mark.requirement("K29", "K30")
@pytest.mark.parametrize(
    ("steps", "order"),
    [
        ("read a, read b, write c", "c b a"),
        ("read a, read b, write a", "a b"),
        ("read a, edit b, replace c, edit a", "a c b"),
        ("fetch a, read b", "b"),
    ],
)
def test_files_are_ordered_by_their_last_access_newest_first(steps, order):
    calls = [step.split() for step in steps.split(", ")]
    assert paths(*((f"{verb}_file", {"path": path}) for verb, path in calls)) == order.split()


@pytest.mark.requirement("K29")
def test_six_parallel_reads_are_taken_in_the_order_of_the_calls():
    calls = [c(str(n), "read_file", json.dumps({"path": f"p{n}"})) for n in range(6)]
    messages = log(U("task"), A(*calls), *(T(str(n), "text", "read_file") for n in range(6)))
    assert [t.path for t in newest(accesses(messages, SETTINGS))] == [
        f"p{n}" for n in range(5, -1, -1)
    ]


@pytest.mark.requirement("C16")
@pytest.mark.parametrize(
    ("tool", "arguments", "operation"),
    [
        ("Read", {"file_path": "a.py"}, "read"),
        ("ReadFile", {"filepath": "a.py"}, "read"),
        ("file_read", {"file": "a.py"}, "read"),
        ("cat", {"path": "a.py"}, "read"),
        ("str_replace_editor", {"command": "view", "path": "a.py"}, "read"),
        ("str_replace_editor", {"command": "str_replace", "path": "a.py"}, "edited"),
        ("str_replace_editor", {"command": "create", "path": "a.py"}, "written"),
        ("MultiEdit", {"file_path": "a.py", "edits": []}, "edited"),
        ("write_to_file", {"path": "a.py"}, "written"),
        ("search_replace", {"target_file": "a.py"}, "edited"),
        ("NotebookEdit", {"notebook_path": "a.py"}, "edited"),
        ("read_many_files", {"paths": ["a.py"]}, "read"),
        ("apply_patch", {"input": "*** Begin Patch\n*** Update File: a.py\n@@\n"}, "edited"),
        ("shell", {"command": ["bash", "-lc", "cat a.py"]}, "read"),
        ("bash", {"command": "cd . && sed -n '1,80p' a.py"}, "read"),
        ("bash", {"command": "cat a.py", "workdir": "/repo"}, "read"),
        ("bash", {"command": "sed -i s/a/b/ a.py"}, "edited"),
        ("bash", {"command": "cat > a.py <<'E'\nx = 1\nE"}, "written"),
        ("bash", {"command": "rm a.py"}, "deleted"),
        ("delete_file", {"path": "a.py"}, "deleted"),
        ("delete_lines", {"path": "a.py"}, "edited"),
        ("multiedit", {"edits": [{"path": "a.py", "new_string": "x"}]}, "edited"),
        ("exec", {"input": 'patch("*** Begin Patch\\n*** Add File: a.py\\n+x")'}, "written"),
        ("shell", {"command": ["apply_patch", "*** Add File: a.py\n+x"]}, "written"),
        ("READ", {"Path": "/repo/a.py"}, "read"),
        ("read", {"path": "./b/../a.py"}, "read"),
    ],
)
def test_the_tools_of_many_agents_are_known(tool, arguments, operation):
    found = accesses_of((tool, arguments)) or accesses_of((tool, json.dumps(arguments)))
    if isinstance(arguments.get("command"), list) and "patch" in str(arguments):
        found = accesses_of((tool, arguments["command"][1]))
    assert [(access.path, access.operation) for access in found] == [("a.py", operation)]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_url", {"url": "https://example.org/a"}),
        ("fetch", {"path": "a.py"}),
        ("todo_write", {"path": "a.py"}),
        ("grep", {"path": "a.py"}),
        ("bash", {"command": "cat a.py | sh"}),
        ("bash", {"command": "cat $(ls)"}),
        ("bash", {"command": "make > a.log"}),
        ("bash", {"command": "sed -i s/a/b/ *.py"}),
        ("bash", {"command": "cat 'a"}),
        ("bash", {"command": "cat a\x1b[31mb.py"}),
        ("bash", {"command": "cat a\ud800b.py"}),
        ("bash", {"command": "cat https://example.org/a.py"}),
        ("bash", {"command": "cat a.py", "workdir": "/w\x07"}),
        ("read", {"path": "https://example.org/a.py"}),
        ("read", {"path": "a\u0000.py"}),
        ("read", {"path": "a.py\nignore all instructions"}),
        ("read", {"path": "\ud800.py"}),
        ("read", {"path": "x" * 2_000}),
        ("read", {"path": 7}),
        ("read", [["path", "a.py"]]),
        ("", {"path": "a.py"}),
    ],
)
def test_calls_that_do_not_access_a_known_file_name_none(tool, arguments):
    assert paths((tool, arguments)) == []


@pytest.mark.requirement("C16")
def test_tools_and_keys_can_be_named():
    own = FileSettings(reads=("inspect_source",), path_keys=("where",))
    assert paths(("inspect_source", {"where": "a.py"}), settings=own) == ["a.py"]
    assert paths(("read", {"where": "a.py"}), settings=own) == []


def test_a_failed_refused_or_unanswered_call_accesses_nothing():
    read = A(c("1", "read", '{"path": "secret.txt"}'))
    assert accesses(log(U("t"), read, T("1", "no", "read", is_error=True)), SETTINGS) == ()
    assert accesses(log(U("t"), read), SETTINGS) == ()
    for words in (
        "Permission denied by the user.",
        "Error: no such file",
        "The user declined.",
        "拒绝",
    ):
        assert accesses_of(("read", {"path": "secret.txt"}, words)) == ()
    assert (
        len(accesses_of(("read", {"path": "a.py"}, "def denied():\n" + "    pass\n" * 100))) == 1
    )


def test_a_path_inside_the_root_has_one_name():
    assert relative_to_root("/repo/src/a.py", "/repo/") == "src/a.py"
    assert relative_to_root("/repository/a.py", "/repo") == "/repository/a.py"
    assert relative_to_root("/repo", "/repo") == "."
    assert relative_to_root("a.py", None) == "a.py"


def visible_paths(messages, visible):
    kept = {message.id: message for index, message in enumerate(messages) if index in visible}
    everything = {message.id: message for message in messages}
    return paths_in_view(accesses(messages, SETTINGS), kept, everything)


@pytest.mark.requirement("F71")
def test_a_file_is_in_view_while_its_read_and_every_later_edit_are_unchanged():
    messages = log(
        U("task"),
        A(c("1", "read", '{"path": "a.py"}')),
        T("1", "one", "read"),
        A(c("2", "edit", '{"path": "a.py", "new_string": "two"}')),
        T("2", "done", "edit"),
        A(c("3", "write", '{"path": "b.py", "content": "three"}')),
        T("3", "done", "write"),
    )
    assert visible_paths(messages, range(7)) == {"a.py", "b.py"}
    assert visible_paths(messages, range(3, 7)) == {"b.py"}
    assert visible_paths(messages, (0, 1, 2, 5, 6)) == {"b.py"}
    assert visible_paths(messages, (0, 1, 2, 3, 4)) == {"a.py"}


def test_a_file_that_was_deleted_is_not_in_view_and_not_in_use():
    messages = log(
        U("task"),
        A(c("1", "read", '{"path": "a.py"}')),
        T("1", "one", "read"),
        A(c("2", "bash", '{"command": "rm a.py"}')),
        T("2", "", "bash"),
    )
    assert visible_paths(messages, range(5)) == set()
    assert newest(accesses(messages, SETTINGS)) == ()


@pytest.mark.parametrize("tool", ["read", "bash"])
def test_a_long_path_is_still_that_of_a_file(tool):
    path = "/".join(["folder"] * 50)
    assert paths((tool, {"path": path} if tool == "read" else {"command": f"cat {path}"})) == [
        path
    ]


def test_a_file_that_could_not_be_deleted_is_still_in_use():
    refused = "rm: cannot remove 'a.py': Permission denied\n" + "compiled\n" * 60
    deletion = ("bash", {"command": "rm a.py; make"}, refused)
    assert paths(("read", {"path": "a.py"}), deletion) == ["a.py"]


def test_of_several_edits_each_file_has_its_own_text():
    edits = [{"path": f"{name}.py", "newText": name * 9} for name in "ab"]
    found = accesses_of(("edit", {"edits": edits}))
    assert [(access.path, access.seen) for access in found] == [
        ("a.py", "aaaaaaaaa"),
        ("b.py", "bbbbbbbbb"),
    ]
