"""Calls: the line of a call says what was really run, and that of its result what came of it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.neutral import c

from foldline.outputs.verdict import NEAR
from foldline.snapshot.calls import (
    FAILED,
    LINE,
    PATCH,
    WRITTEN,
    call_line,
    changes_something,
    long_arguments,
    printed_verdict,
    verdict,
    without_unchanged,
)
from foldline.snapshot.calls import SUMMING as SUMMED_WITHIN
from foldline.snapshot.invocations import Invocation

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.just("long " * 99),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=6,
)


def line(name="Bash", **arguments):
    return call_line(c("1", name, json.dumps(arguments)), arguments)


def test_the_line_of_a_command_holds_the_command_and_not_its_description():
    assert line(command="make test", description="Run it", timeout=9) == "Bash make test"
    assert line("shell", cmd=["bash", "-lc", "make test"], workdir="/app") == "shell make test"


def test_a_command_that_is_cut_ends_at_a_clause_and_says_its_size():
    command = "cd /app && " + " && ".join(f"make target_{n}" for n in range(60))
    cut, size = line(command=command).split("… ")
    assert f"Bash {command}".startswith(cut)
    assert not cut.endswith(("mak", "targe"))
    assert size == f"({len(command) + 5:,} characters)"


def test_a_script_that_is_cut_says_how_many_lines_it_has():
    found = line(command="cat > a.py <<'E'\n" + "x = 1\n" * 300 + "E")
    assert found == "Bash cat > a.py <<'E' … (300 lines) E"


def test_what_follows_a_long_script_is_seen():
    found = line(command="python3 - << 'EOF'\n" + "x = 1\n" * 300 + "EOF\nmake test")
    assert found == "Bash python3 - << 'EOF' … (300 lines) EOF; make test"


def test_a_script_without_an_end_is_cut_like_any_command():
    assert line(command="cat << 'A'\n" + "x = 1\n" * 300).endswith("… (302 lines)")


def test_the_commands_in_a_script_of_tools_stand_for_it():
    script = 'const r = await tools.exec_command({"cmd":"git diff \\"a b\\"","yield_time_ms":9});'
    assert line("exec", input=script) == 'exec git diff "a b"'


def test_a_short_script_stands_in_one_line():
    assert line(command="cd /app\nmake\n") == "Bash cd /app; make"
    loop = "set -e\nfor f in *.py; do\n  black $f \\\n    --check\ndone\npytest -q\n"
    assert line(command=loop) == "Bash set -e; for f in *.py; do black $f --check; done; pytest -q"


def test_other_arguments_are_named_and_long_ones_say_their_size():
    found = line("edit", file_path="a.py", new_string="word " * 99, count=3, flag=False, rest=None)
    assert found.startswith("edit a.py new_string=word word")
    assert "… (495 characters) count=3" in found
    assert "rest" not in found


def test_nested_arguments_stand_without_escapes():
    found = line("edit", edits=[{"new": 'say "hi"\n\tload()'}], n=[1, None])
    assert found == 'edit edits=[{new: say "hi" load()}] n=[1, null]'


def test_arguments_that_are_no_json_stand_as_they_are():
    assert call_line(c("1", "patch", "*** Begin Patch"), None) == "patch *** Begin Patch"
    assert call_line(c("1", "run", "[1]"), [1]) == "run [1]"


@given(name=st.text(max_size=9), arguments=VALUES)
def test_the_line_of_any_call_is_one_short_line(name, arguments):
    call = c("1", name, json.dumps(arguments))
    found = call_line(call, arguments)
    assert len(found) <= LINE + 30
    assert len(found.splitlines()) <= 1
    changes_something(Invocation(call))
    assert all(len(text) > WRITTEN for text in long_arguments(arguments))


@pytest.mark.parametrize(
    ("name", "arguments", "changes"),
    [
        ("Edit", {"file_path": "a.py"}, True),
        ("Bash", {"command": "make test"}, True),
        ("shell", {"cmd": ["bash", "-lc", "git commit -m x"]}, True),
        ("Read", {"file_path": "a.py"}, False),
        ("Bash", {"command": "ls"}, False),
        ("Bash", {"command": "cat src/test_a.py"}, False),
        ("Bash", {"command": "cd /app && grep -rn build ."}, False),
        ("Bash", {"command": "cat a.txt > b.txt && make build"}, True),
        ("run", None, False),
    ],
)
def test_a_call_that_changes_something_is_told_from_one_that_looks(name, arguments, changes):
    assert changes_something(Invocation(c("1", name, json.dumps(arguments)))) is changes


def test_long_arguments_are_texts_of_their_own_but_for_what_they_replace():
    new, old = "new line\n" * 99, "old line\n" * 99
    arguments = without_unchanged(
        {"edits": [{"new_string": new, "old_string": old}], "path": "a.py"}
    )
    assert list(long_arguments(arguments)) == [new.rstrip("\n")]
    assert list(long_arguments("text " * 99)) == ["text " * 99]
    assert list(long_arguments(None)) == []


def test_of_an_edit_only_what_it_adds_is_told():
    around = [f"    line {number} that stays as it was" for number in range(9)]
    added = [
        "    # the limit is 40, because the server refuses more of them at once",
        "    limit = read_limit(40)",
    ]
    old, new = "\n".join(around), "\n".join([*around[:4], *added, *around[4:]])
    arguments = without_unchanged({"path": "a.py", "old_string": old, "new_string": new})
    line = call_line(c("1", "edit"), arguments)
    assert list(long_arguments(arguments)) == ["\n".join(added)]
    assert "the limit is 40" in line
    assert "stays" not in line
    removing = without_unchanged({"path": "a.py", "old_string": new, "new_string": old})
    assert list(long_arguments(removing)) == []
    assert "the limit is 40" in call_line(c("1", "edit"), removing)


def test_an_edit_quotes_what_changed_without_gaps():
    check = "    if not user.is_known_to_the_service():\n        return None\n"
    old = f"def a(user):\n{check}    return load(user)"
    new = old.replace("def a(user):", "def a(user):\n    check(user)").replace("load(", "fetch(")
    arguments = without_unchanged({"old_string": old, "new_string": new})
    assert arguments["new_string"] == new.partition("\n")[2]
    assert arguments["new_string"] in new


def test_an_edit_that_indents_lines_quotes_them():
    old = "\n".join(f"    line {n} of some length" for n in range(8))
    new = "\n".join(line.strip() for line in old.split("\n"))
    assert without_unchanged({"old_string": old, "new_string": new})["new_string"] == new


def test_what_stands_around_a_patch_is_quoted_with_what_the_patch_adds():
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n same\n-old\n+new\n*** End Patch"
    script = f"apply_patch <<'EOF'\n{patch}\nEOF\npython -m tools.check --all {'x' * 300}"
    (text,) = long_arguments({"cmd": script})
    assert "tools.check" in text
    assert "\nnew\n" in text
    assert "old" not in text
    (text,) = long_arguments({"prompt": f"A patch begins with {PATCH} in a line.{' x' * 300}"})
    assert PATCH in text
    assert " x x" in text


def test_a_mark_of_an_end_before_a_patch_begins_ends_nothing():
    text = f"*** End Patch\nfoo\n{PATCH}\n{'bar ' * 99}"
    assert list(long_arguments({"input": text})) == [text]


def test_a_tool_that_edits_changes_something():
    assert changes_something(Invocation(c("1", "memory", '{"command": "create", "path": "a.md"}')))
    assert not changes_something(Invocation(c("1", "memory", '{"command": "view"}')))


def test_of_a_patch_only_what_it_adds_is_told():
    kept = "\n".join(f" line {number} that stays as it was" for number in range(20))
    patch = f"*** Begin Patch\n*** Update File: a.py\n@@\n{kept}\n-old\n+new\n*** End Patch"
    (text,) = long_arguments({"input": patch})
    assert text.split("\n")[1:3] == ["*** Update File: a.py", "new"]
    assert "stays" not in text


def test_a_command_is_a_text_of_its_own_only_where_one_line_cannot_tell_it():
    command = "grep -rn word " + "src/file.py " * 40
    fed = "cat > a.py << 'EOF'\n" + "print('line')\n" * 40 + "EOF"
    for key in ("command", "cmd"):
        assert list(long_arguments({key: command})) == []
        assert list(long_arguments({key: ["bash", "-lc", command]})) == []
        assert list(long_arguments({key: fed})) == [fed]
    script = "const r = await tools.exec_command({cmd: " + json.dumps(command) + "}); text(r)"
    assert list(long_arguments({"input": script})) == []


def test_the_verdict_of_a_result_is_the_line_that_sums_it_up():
    said = verdict("tests/test_a.py ....\n" * 99 + "=== 3 failed, 99 passed in 1.2s ===\n")
    assert "3 failed, 99 passed" in said


def test_the_verdict_of_a_result_without_a_summary_is_its_failure():
    text = "compiling a.c\n" * 60 + "a.c:3: error: no member x\n" + "compiling b.c\n" * 9
    assert "error: no member x" in verdict(text)
    assert "compiling" not in verdict(text)


def test_a_failure_stands_with_the_line_that_it_announces():
    text = "reading\n" * 99 + "Warning, treated as error:\n index.rst: target not found\n"
    assert verdict(text) == "Warning, treated as error: index.rst: target not found"


@pytest.mark.parametrize("end", ["", "\n\nAll 12 tests passed", "\n12 files ok"])
def test_what_sums_up_or_stands_apart_is_not_announced_by_a_failure(end):
    assert verdict(f"log_error: fine\n{'step' * 99}\nerror:{end}").split(" … ")[0] == "error:"


def test_the_verdict_of_a_commit_is_what_git_says_of_it():
    hook = "lint > checked 12 files\n" * 30
    made = "[main 1f0c2ab] Mend it\n Date: Mon Nov 3\n 2 files changed, 3 insertions(+)\n"
    done = "[main 1f0c2ab] 2 files changed, 3 insertions(+)"
    assert verdict(f"{hook}{made}summary: (done in 0.01 seconds)\n") == done
    assert verdict(f"{hook}ERROR: no lint\n{made}") == f"ERROR: no lint … {done}"
    again = made.replace("1f0c2ab", "7e57a11")
    assert verdict(f"{made}{again}") == done.replace("1f0c2ab", "7e57a11")
    assert verdict(f"{made}..\n=== 12 passed in 1.2s ===") == "=== 12 passed in 1.2s ==="


def test_a_result_that_says_neither_has_no_verdict():
    assert verdict("some text of it\n" * 99) == ""


FAILING = (
    "error: no member x",
    "  ValueError: y",
    "Traceback (most recent call last):",
    "x" * 400,
)
SUMMING = ("3 failed, 2 passed in 1s", "Ran 9 tests", "exit code 1")


@given(st.lists(st.sampled_from((*FAILING, *SUMMING)), min_size=1, max_size=9))
def test_a_verdict_is_short_and_stands_in_the_result(lines):
    text = "\n".join((*lines, *(["plain"] * 5)))
    found = verdict(text)
    # What sums up without a failure is looked for at the end only.
    end = text[-SUMMED_WITHIN:].split("\n")
    seen = [line for line in lines if line in end or line != "Ran 9 tests"]
    assert bool(found) == any(line in (*FAILING[:3], *SUMMING) for line in seen)
    assert len(found) <= FAILED + NEAR + 9
    # What is raised may be one long word, of which nothing is left.
    parts = found.split(" … ")
    assert all(part.removeprefix("Traceback:").removeprefix(" ") in text for part in parts)


def test_what_is_printed_between_the_lines_of_a_traceback_does_not_look_as_if_all_was_well():
    text = 'Traceback (most recent call last):\n  File "a.py", line 3\nAll 12 steps done.\n'
    assert verdict(text) == "Traceback: All 12 steps done."
    raised = "requests.exceptions.ConnectTimeout: no answer"
    assert verdict(text.replace("All 12 steps done.", raised)) == f"Traceback: {raised}"


def test_what_was_printed_last_stands_for_an_exit_code_that_says_nothing():
    assert (
        printed_verdict("Process exited with code 0", "Fetching\n29.5.1 linux\n") == "29.5.1 linux"
    )
    assert printed_verdict("exit code 2", "no such image\n") == "exit code 2: no such image"
    assert printed_verdict("exit code -9", "killed") == "exit code -9: killed"
    assert printed_verdict("exit code 10", "") == "exit code 10"
    assert printed_verdict("3 passed", "other") == "3 passed"


@pytest.mark.parametrize(
    ("command", "written"),
    [
        ("VERSION=$(cat VERSION)\nmake release", "VERSION=$(cat VERSION); make release"),
        ("echo Removing:\nrm -rf build", "echo Removing:; rm -rf build"),
        ("echo to-do\nrm -rf build", "echo to-do; rm -rf build"),
        ("git commit -m 'Title\n\nBody'", "git commit -m 'Title Body'"),
        ("cat <<EOF > a\nx\ny\nEOF\nmake", "cat <<EOF > a x y EOF; make"),
        ("if a\nthen\n  b\nfi", "if a; then b; fi"),
        ("a \\\n  && b\nls", "a && b; ls"),
        ("a\n| b\n\n\nc", "a | b; c"),
    ],
)
def test_lines_of_a_command_are_parted_as_a_shell_does(command, written):
    assert line(command=command) == f"Bash {written}"
