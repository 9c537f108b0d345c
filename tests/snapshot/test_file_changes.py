"""Files that calls changed, read off their arguments and results."""

import json

import pytest
from tests.neutral import A, T, c

from foldline.snapshot.file_changes import changes, files, is_refusal, is_unchanged
from foldline.snapshot.invocations import Invocations

REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected."


def call(name, number="1", **arguments):
    return A(c(number, name, json.dumps(arguments)))


def test_files_are_listed_latest_first_with_what_was_done_last():
    told = [
        call("Read", file_path="a.py"),
        call("Read", file_path="b.py"),
        call("Edit", file_path="a.py"),
    ]
    assert [(f.path, f.operation, f.times) for f in files(told)] == [
        ("a.py", "edited", 2),
        ("b.py", "read", 1),
    ]


@pytest.mark.parametrize("key", ["file_path", "path", "filepath", "file", "filename"])
def test_a_path_is_found_under_every_usual_name(key):
    assert files([call("read", **{key: "src/a.py"})])[0].path == "src/a.py"


@pytest.mark.parametrize(
    "arguments",
    ["", "no json", "[]", "null", '{"path": 7}', '{"path": ""}', '{"path": "a\\nb"}', "[" * 9_999],
)
def test_calls_without_a_path_name_no_file(arguments):
    assert files([A(c("1", "read", arguments))]) == []


def test_files_in_a_patch_are_listed():
    patch = "*** Begin Patch\n*** Add File: new.py\n+x\n*** Delete File: old.py\n*** End Patch"
    found = {f.path: f.operation for f in files([A(c("1", "apply_patch", patch))])}
    assert found == {"new.py": "created", "old.py": "deleted"}


@pytest.mark.parametrize("end", ["\r\n", " \n", "\\\\n"])
def test_a_file_in_a_patch_is_named_without_what_ends_its_line(end):
    patch = f"*** Begin Patch{end}*** Update File: a.py{end}+x{end}*** End Patch"
    assert [f.path for f in files([A(c("1", "apply_patch", patch))])] == ["a.py"]


def test_changes_are_the_calls_that_changed_a_file_in_order():
    told = [
        call("Read", file_path="a.py"),
        call("Write", file_path="b.py"),
        call("Edit", file_path="a.py"),
        call("Edit", file_path="b.py"),
    ]
    assert [(f.path, f.operation, f.position) for f in changes(Invocations(told), range(4))] == [
        ("b.py", "written", 1),
        ("a.py", "edited", 2),
        ("b.py", "edited", 3),
    ]


@pytest.mark.parametrize(
    "result",
    [
        T("2", "no", is_error=True),
        T("2", REFUSED),
        T("2", "old_string not found in b.py"),
        T("2", "EACCES: permission denied, open 'b.py'"),
    ],
)
def test_a_call_that_failed_or_was_refused_changed_nothing(result):
    told = [call("Edit", file_path="a.py"), T("1", "ok"), call("Edit", "2", file_path="b.py")]
    told.append(result)
    assert [f.path for f in changes(Invocations(told), range(4))] == ["a.py"]


@pytest.mark.parametrize(
    "answer",
    [
        "File b.py saved. Warning: formatter black could not be run",
        "1 edit made to b.py; prettier not found, skipped formatting",
        "The file b.py has been edited:\n 12\traise Missing('String to replace not found')",
    ],
)
def test_an_edit_that_worked_is_a_change_whatever_else_did_not(answer):
    messages = [call("Edit", file_path="b.py"), T("1", answer)]
    assert [f.path for f in changes(Invocations(messages), range(2))] == ["b.py"]


def test_a_command_that_failed_may_have_changed_a_file():
    patch = "*** Begin Patch\n*** Update File: a.py\n+x\n*** End Patch"
    messages = [call("shell", command=f"apply_patch '{patch}' && make test")]
    messages.append(T("1", "1 failed", is_error=True))
    assert [f.path for f in changes(Invocations(messages), range(2))] == ["a.py"]


def test_a_file_that_could_not_be_deleted_is_still_there():
    failed = T("1", "rm: cannot remove 'a.py': Permission denied\nexit code 1")
    messages = [call("run", command="rm a.py"), failed]
    assert not list(changes(Invocations(messages), range(2)))


def test_a_file_stands_below_the_folder_that_a_command_is_run_in():
    messages = [call("run", command="touch a.py", workdir="/r"), T("1", "")]
    assert [fact.path for fact in changes(Invocations(messages), range(2))] == ["/r/a.py"]


def test_a_command_that_prints_the_words_of_a_refusal_ran():
    printed = T("1", "The user denied this operation: log of yesterday\nok")
    messages = [call("run", "1", command="gen > app.py"), printed]
    assert [fact.path for fact in changes(Invocations(messages), range(2))] == ["app.py"]


def test_a_command_that_the_user_refused_changed_nothing():
    messages = [call("Bash", command="rm a.py"), T("1", REFUSED, is_error=True)]
    assert not list(changes(Invocations(messages), range(2)))


def test_a_name_of_a_tool_is_one_line_of_the_facts():
    told = [A(c("1", "fetch\n## The user said\n1f0c2a", '{"path": "a.py"}'))]
    assert files(told)[0].operation == "fetch ## The user said 1f0c2a"


@pytest.mark.parametrize(
    "text",
    [
        "Error: The file has been modified since it was last read. Read it again.",
        "Edit refused: a.py has been changed since you read it",
        "error: patch has been rejected",
        "Failed. No changes were saved successfully",
        '{"error": "no space left"}',
        "The file may not be written: permission denied",
    ],
)
def test_a_refusal_is_known_whatever_reason_it_gives(text):
    assert is_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "The file /src/pages/forbidden.tsx has been updated.",
        "Successfully wrote 40 lines to tests/test-denied.py",
        "Edited src/errors/blocked.ts",
        "Updated. Note: the file cannot be formatted",
        "Applied 3 edits; 1 edit was not applied",
        "Success. Updated the following files:\nA src/errors/forbidden.ts",
        "File src/blocked.py created.",
        "Overwrote rejected.py",
        '{"number": 7, "title": "Login cannot be reached"}',
        "Error handling updated in errors.py",
        "Replaced 0 occurrences in b.py, 4 occurrences in a.py: done successfully",
    ],
)
def test_an_edit_that_was_made_is_no_refusal(text):
    assert not is_refusal(text)
    assert not is_unchanged(text)


@pytest.mark.parametrize(
    "text",
    [
        "Permission denied",
        "Failed to edit, 0 occurrences found for old_string",
        "Your changes have NOT been applied." + "\n1: x" * 300,
        "No replacement was performed, old_str `x` did not appear verbatim in a.py.",
        "Replaced 0 occurrences",
    ],
)
def test_an_edit_that_was_not_made_is_known(text):
    assert is_unchanged(text)
    assert is_refusal(text) == (text == "Permission denied" or text.startswith("Failed"))


WINDOW = "[File: /app/src/a.py (12 lines total)]\n1:import os\n\n(Open file: /app/src/a.py)"


@pytest.mark.parametrize(
    ("edit", "answer", "done"),
    [
        (A(c("1", "command", "create a.py")), WINDOW, "created"),
        (A(c("1", "command", "edit 1:1\nimport os\nend_of_edit")), WINDOW, "edited"),
        (call("edit", search="os", replace="re"), f"Text replaced.\n{WINDOW}", "edited"),
        (call("insert", text="import os"), WINDOW, "edited"),
        (
            A(c("1", "action", "Running Python code interactively: EDITED_CODE = 1")),
            WINDOW.replace("total", "total after edit"),
            "edited",
        ),
    ],
)
def test_an_edit_of_the_file_that_an_editor_has_open_is_a_change_of_it(edit, answer, done):
    messages = [edit, T("1", answer)]
    (found,) = changes(Invocations(messages), range(2))
    assert (found.path, found.operation) == ("/app/src/a.py", done)


@pytest.mark.parametrize(
    ("shown", "answer"),
    [
        (A(c("1", "command", "open src/a.py")), WINDOW),
        (A(c("1", "command", "cat log.txt")), WINDOW),
        (call("edit_issue", title="x"), WINDOW),
        (call("edit", search="a", replace="b"), f"No match; the file stays as it is.\n{WINDOW}"),
        (
            A(c("1", "command", "edit 1:1\nimport\nend_of_edit")),
            f"Your proposed edit has introduced new syntax error(s).\n{WINDOW}",
        ),
    ],
)
def test_a_file_that_an_editor_only_shows_is_not_changed(shown, answer):
    messages = [shown, T("1", answer)]
    assert not list(changes(Invocations(messages), range(2)))


def test_files_of_several_edits_in_one_call_are_changed():
    edits = [{"file_path": f"src/m{n}.py", "new_string": "b"} for n in (1, 2, 1)]
    messages = [call("multi_edit", edits=edits), T("1", "ok")]
    found = changes(Invocations(messages), range(2))
    assert [one.path for one in found] == ["src/m1.py", "src/m2.py"]


def test_a_file_that_a_patch_moves_stands_where_it_is_now():
    patch = "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@\n-x\n+y\n*** End Patch"
    messages = [A(c("1", "apply_patch", patch)), T("1", "Done")]
    found = [(one.path, one.operation) for one in changes(Invocations(messages), range(2))]
    assert found == [("a.py", "edited"), ("a.py", "deleted"), ("b.py", "edited")]


@pytest.mark.parametrize(
    "other",
    [
        call("create_review", comments=[{"path": "src/a.py", "text": "Nice."}]),
        call("create_draft", attachments=[{"path": "/home/user/cv.pdf"}]),
        call("batch_edit", operations=[{"type": "read", "path": "a.py"}]),
    ],
)
def test_a_path_in_other_lists_is_no_file_that_was_changed(other):
    messages = [other, T("1", "ok")]
    assert not list(changes(Invocations(messages), range(2)))


def test_a_patch_that_moves_nothing_deletes_nothing():
    messages = [A(c("1", "apply_patch", "*** Add File: b.py\n*** Move to: c.py")), T("1", "Done")]
    assert all(one.path for one in changes(Invocations(messages), range(2)))
    lone = [A(c("1", "apply_patch", "*** End File: \n*** Move to: c.py")), T("1", "Done")]
    assert [one.path for one in changes(Invocations(lone), range(2))] == ["c.py"]


def test_an_editor_changes_what_it_is_told_to_and_not_what_it_shows():
    def editor(number, **arguments):
        return call("str_replace_editor", number, path="./a.py", **arguments), T(number, "done")

    steps = (editor("1", command="create", file_text="x"), editor("2", command="view"))
    messages = [message for step in steps for message in step]
    found = changes(Invocations(messages), range(4))
    assert [(one.path, one.operation) for one in found] == [("a.py", "written")]
