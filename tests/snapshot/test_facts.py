"""Facts without a model; O-18 of published suites, where it fits."""

import json

import pytest
from tests.neutral import A, T, U, c

from foldline.snapshot import facts
from foldline.snapshot.facts import plan
from foldline.snapshot.invocations import Invocations


def open_errors(messages):
    return facts.open_errors(Invocations(messages))


def call(name, number="1", **arguments):
    return A(c(number, name, json.dumps(arguments)))


def test_the_newest_plan_is_found():
    told = [
        call("TodoWrite", todos=[{"content": "old", "status": "done"}]),
        call("update_plan", plan=[{"step": "mend", "status": "in_progress"}, {"step": "test"}]),
        A("ok"),
    ]
    found = plan(told)
    assert (found.position, found.lines) == (1, ("- [in_progress] mend", "- [pending] test"))


def test_check_boxes_that_the_model_wrote_are_a_plan():
    assert plan([A("Plan:\n- [x] look\n- [ ] mend")]).lines == ("- [x] look", "- [ ] mend")
    assert plan([U("- [ ] not mine")]) is None


def test_a_step_cannot_forge_a_heading_or_a_handle():
    told = [call("TodoWrite", todos=[{"content": "x\n## What happened\n999999 forged"}])]
    assert plan(told).lines == ("- [pending] x ## What happened 999999 forged",)


def test_a_failure_is_open_until_the_same_call_succeeds():
    failing = (call("run", "1", command="make"), T("1", "building\nerror: no rule to make x"))
    mended = (call("run", "2", command="make"), T("2", "done"))
    other = (call("run", "3", command="ls"), T("3", "done"))
    assert [f.lines[0] for f in open_errors([*failing, *other])] == ["error: no rule to make x"]
    assert open_errors([*failing, *mended]) == []


@pytest.mark.parametrize(
    "again",
    ["make test", "make test 2>&1 | tail -5", "timeout 60 make test > log.txt", "time make test"],
)
def test_a_command_is_the_same_however_its_output_is_cut(again):
    failing = (call("run", "1", command="make test | tail -40"), T("1", "2 failed, 1 passed"))
    mended = (call("run", "2", command=again), T("2", "3 passed"))
    assert open_errors(failing)
    assert open_errors([*failing, *mended]) == []


@pytest.mark.parametrize(
    "again", ["make", "cd b && make test", "make test && ls", "DB=pg make test"]
)
def test_another_command_mends_nothing(again):
    failing = (call("run", "1", command="make test"), T("1", "2 failed, 1 passed"))
    assert open_errors([*failing, call("run", "2", command=again), T("2", "3 passed")])


def test_what_a_command_prints_that_ends_well_is_no_failure_but_for_a_count_of_them():
    head = "Chunk ID: 1\nProcess exited with code {}\nOutput:\n"
    noise = "fatal: ambiguous argument 'nonexistent'\ntest result: ok. 167 passed"
    counts = [(0, "2 failed", True), (0, "9 runs, 2 failures", True), (0, "0 failures", False)]
    for code, text, is_open in [(0, noise, False), (1, noise, True), *counts]:
        found = open_errors([call("run", command="make"), T("1", head.format(code) + text)])
        assert bool(found) is is_open


def test_an_error_text_in_a_file_that_was_read_is_no_failure():
    assert open_errors([call("read", path="log.txt"), T("1", "error: old news")]) == []


@pytest.mark.parametrize(
    "command",
    [
        "cat log.txt",
        "cd /app && sed -n '1,9p' a.rs",
        "git diff -- a.py",
        "grep -n panic a.rs | head",
    ],
)
def test_an_error_text_that_a_command_only_shows_is_no_failure(command):
    listed = json.dumps({"cmd": ["bash", "-lc", command]})
    for call_of_it in (call("bash", command=command), A(c("1", "shell", listed))):
        assert open_errors([call_of_it, T("1", "error: old news", is_error=True)]) == []


@pytest.mark.parametrize("command", ["cat a.txt; make", "cat > a.py && make", "./cat a", "make"])
def test_the_failure_of_a_command_that_does_more_than_show_is_open(command):
    assert open_errors([call("bash", command=command), T("1", "error: no rule")])


@pytest.mark.parametrize(
    "line",
    [
        "src/p.c:10: error: no member named x",
        "src/p.c:10:4: fatal error: fits.h: No such file or directory",
        "src/a.ts(3,5): error TS6133: 'x' is declared but never used.",
        "vet: ./a.go:3:2: undefined: bar",
    ],
)
def test_what_a_compiler_reports_is_a_failure(line):
    found = open_errors([call("run", command="make"), T("1", f"cc a.c\n{line}\ncc b.c")])
    assert [one.lines for one in found] == [(line,)]


def test_a_failed_edit_is_made_good_by_another_edit_of_the_same_file():
    failed = (call("edit", "1", path="a.py", old="x"), T("1", "no match", is_error=True))
    other = (call("edit", "2", path="b.py", old="x"), T("2", "done"))
    mended = (call("edit", "3", path="a.py", old="y"), T("3", "done"))
    assert [f.lines[0] for f in open_errors([*failed, *other])] == ["no match"]
    assert open_errors([*failed, *other, *mended]) == []


def test_a_command_is_the_same_whatever_else_the_call_says():
    failed = (call("run", "1", command="make", why="first"), T("1", "error: no rule to make x"))
    mended = (call("run", "2", command="make", why="again"), T("2", "done"))
    assert open_errors([*failed, *mended]) == []


def test_a_failed_result_is_told_by_the_lines_that_speak_of_it():
    log = "> build\n> tsc\na.ts(1,2): error TS2305: no member 'x'\ndone"
    found = open_errors([call("run"), T("1", log, is_error=True)])
    assert found[0].lines == ("a.ts(1,2): error TS2305: no member 'x'",)


def test_a_step_may_be_called_a_description():
    told = [call("write_todos", todos=[{"description": "look", "status": "done"}])]
    assert plan(told).lines == ("- [done] look",)


def test_a_failed_result_without_telling_lines_is_open_too():
    assert open_errors([call("run"), T("1", "nope", is_error=True)])[0].lines == ("nope",)


def test_an_open_failure_says_what_its_call_was_after():
    (found,) = open_errors([call("run", command="make x"), T("1", "error: no rule")])
    assert found.aim == "make x"


def test_a_step_keeps_its_id():
    todos = [
        {"id": "7", "content": "mend", "status": "in_progress"},
        {"id": 8, "content": "test", "status": "pending"},
        {"id": "", "content": "ship"},
        {"id": {"a": 1}, "content": "rest"},
    ]
    assert plan([call("TodoWrite", todos=todos)]).lines == (
        "- [in_progress] 7: mend",
        "- [pending] 8: test",
        "- [pending] ship",
        "- [pending] rest",
    )


@pytest.mark.requirement("H16")
def test_a_plan_that_was_emptied_does_not_come_back():
    set_, emptied = call("todo_write", todos=[{"content": "a"}]), call("todo_write", todos=[])
    assert plan([set_, emptied]) is None
    assert plan([set_, call("todo", action="list")]).lines == ("- [pending] a",)


def test_an_exit_code_is_no_news_beside_what_failed():
    wrapped = "<returncode>1</returncode>\n<output>\nValueError: too many values\n</output>"
    (found,) = open_errors([call("run", command="python a.py"), T("1", wrapped)])
    assert found.lines == ("ValueError: too many values",)


def test_what_data_quotes_is_no_failure():
    issue = json.dumps({"title": "Crash", "body": "Run it:\nValueError: bad\nFAILED tests/x.py"})
    assert not open_errors([call("get_issue", number=3), T("1", issue)])
    text = f"Exit code: 0\nOutput:\n{issue}"
    assert not open_errors([call("run", command="curl host/issues/3"), T("1", text)])


@pytest.mark.parametrize(
    "text",
    [
        "<returncode>-9</returncode>\n<output>\nboom\n</output>",
        json.dumps({"output": "boom\n", "returncode": -9}),
    ],
)
def test_a_command_that_was_killed_failed(text):
    assert open_errors([call("run", command="make all"), T("1", text)])


@pytest.mark.parametrize("query", ["select a > c", "select a | tail"])
def test_a_call_with_other_arguments_mends_nothing(query):
    failing = (call("query", "1", sql="select a > b"), T("1", "Error: column a does not exist"))
    assert open_errors([*failing, call("query", "2", sql=query), T("2", "7 rows")])


def test_the_exit_code_of_the_last_of_several_programs_closes_no_failure():
    text = "Exit code: 0\nOutput:\nTraceback (most recent call last):\nModuleNotFoundError: x"
    assert open_errors([call("run", command="pytest -x | tail -5"), T("1", text)])
    assert open_errors([call("run", command="python app.py; true"), T("1", text)])
    assert not open_errors([call("run", command="make && pytest"), T("1", text)])


def test_an_exit_code_stands_with_the_line_that_says_why():
    result = T("1", "Exit code: 1\nOutput:\nSorry: IndentationError: unexpected indent (a.py)")
    (found,) = open_errors([call("run", command="python -m py_compile a.py"), result])
    assert found.lines == ("Sorry: IndentationError: unexpected indent (a.py)", "exit code 1")


@pytest.mark.parametrize("line", ["10 passed, 0 failed", "exit code 0 of a", "No Exception here"])
def test_an_exit_code_stands_with_what_was_printed_last_where_no_line_says_why(line):
    result = T("1", f"Exit code: 1\nOutput:\n{line}\nno log yet")
    (found,) = open_errors([call("run", command="make"), result])
    assert found.lines == ("exit code 1: no log yet",)


@pytest.mark.parametrize(
    ("output", "lines"),
    [
        (
            'tool ERROR "cross" was not found\nx\ntool ERROR Run with --verbose for more',
            ('tool ERROR "cross" was not found', "tool ERROR Run with --verbose for more"),
        ),
        (
            "checking for strerror error function\ncc: main.c: error: no such file",
            ("checking for strerror error function", "cc: main.c: error: no such file"),
        ),
        ("tool ERROR no such key\ndone", ("tool ERROR no such key", "exit code 1")),
    ],
)
def test_the_first_and_last_lines_that_name_an_error_stand_for_an_exit_code(output, lines):
    result = T("1", f"Exit code: 1\nOutput:\n{output}")
    (found,) = open_errors([call("run", command="tool run"), result])
    assert found.lines == lines


def test_an_exit_code_without_any_output_stands_alone():
    (found,) = open_errors([call("run", command="make"), T("1", "Exit code: 1\nOutput:\n")])
    assert found.lines == ("exit code 1",)


def test_an_exit_code_does_not_hide_what_was_raised():
    raised = 'Traceback (most recent call last):\n  File "a.py", line 1\nTypeError: not a path'
    wrapped = f"<returncode>1</returncode>\n<output>\n{raised}\n</output>"
    (found,) = open_errors([call("run", command="python a.py"), T("1", wrapped)])
    assert found.lines[-1] == "TypeError: not a path"


def test_the_exit_code_of_a_long_output_is_not_lost():
    text = "Exit code: 2\nOutput:\n" + "ok line\n" * 20_000
    (found,) = open_errors([call("run", command="make"), T("1", text)])
    assert found.lines == ("exit code 2: ok line",)


@pytest.mark.parametrize(
    "text", ["1/1 Test #1: unit ....***FAILED 0.05 sec", " FAIL 0-basic.test.js > adds"]
)
def test_a_figure_behind_a_failure_need_not_count_it(text):
    assert open_errors([call("run", command="make"), T("1", text)])


@pytest.mark.parametrize("text", ["PASS 10 FAIL 0", "FAIL: 0", "FAILED=0 tests"])
def test_no_failures_are_no_failure(text):
    assert open_errors([call("run", command="make"), T("1", text)]) == []


def test_a_failed_call_without_arguments_is_named():
    messages = [A(c("1", "run_diagnostics", "{}")), T("1", "Error: it broke", is_error=True)]
    (found,) = open_errors(messages)
    assert found.aim == "run_diagnostics"


@pytest.mark.parametrize("again", ["python -m pytest -q tests/a.py", "pytest -x tests/a.py -vv"])
def test_tests_that_pass_when_they_are_run_in_other_words_are_no_failure(again):
    failed = [A(c("1", "bash", '{"command": "pytest tests/a.py -q"}')), T("1", "1 failed")]
    passed = [A(c("2", "bash", json.dumps({"command": again}))), T("2", "3 passed")]
    assert open_errors(failed)
    assert not open_errors([*failed, *passed])


@pytest.mark.parametrize(
    ("command", "again"),
    [
        ("python3.9 -m pytest tests", "python3.12 -m pytest tests"),
        ("uv run mypy src", "mypy src"),
        ("docker run -v /a:/w img pytest", "docker run /a:/w img pytest"),
        ("ps aux | grep -v pytest", "ps aux | grep pytest"),
        ("make -s pytest", "make pytest"),
    ],
)
def test_what_another_program_or_environment_runs_mends_nothing(command, again):
    failed = [A(c("1", "bash", json.dumps({"command": command}))), T("1", "1 failed")]
    passed = [A(c("2", "bash", json.dumps({"command": again}))), T("2", "3 passed")]
    assert open_errors([*failed, *passed])


def test_a_failure_of_several_edits_at_once_is_not_mended_by_those_of_one_of_them():
    def edits(number, *paths):
        listed = [{"path": path, "new_string": "b"} for path in paths]
        return A(c(number, "batch_edit", json.dumps({"edits": listed})))

    failed = [edits("1", "a.py", "b.py"), T("1", "Error: b.py is locked", is_error=True)]
    assert open_errors([*failed, edits("2", "a.py", "c.py"), T("2", "ok")])


def test_what_a_search_finds_in_go_is_no_failure():
    found = [call("grep_search", query="Listen"), T("1", "cmd/main.go:12:5: http.Listen()")]
    assert not open_errors(found)


def test_a_file_that_an_editor_shows_again_is_still_broken():
    def editor(number, command):
        return call("str_replace_editor", number, command=command, path="a.py")

    failed = [editor("1", "str_replace"), T("1", "error: syntax in line 3", is_error=True)]
    assert open_errors([*failed, editor("2", "view"), T("2", "def f(:")])
    assert not open_errors([*failed, editor("2", "str_replace"), T("2", "ok")])
