"""What agents put around outputs."""

import json

import pytest

from foldline.outputs.wrapping import exit_code, unwrap, without_reminders

TIMED = "Chunk ID: 1a2b\nWall time: 0.1 seconds\nProcess exited with code {code}\nOutput:\n{text}"
CODED = "Exit code: {code}\nWall time: 2 seconds\nTotal output lines: 3\nOutput:\n{text}"
BELOW = (
    "Command: make\nx\nDirectory: /a\nOutput: {text}\nError: (none)\nExit Code: {code}\n"
    "Signal: 0\nBackground PIDs: (none)\nProcess Group PGID: 26593"
)
TAGGED = "<returncode>{code}</returncode>\n<output>\n{text}</output>"


@pytest.mark.parametrize("wrapping", [TIMED, CODED, TAGGED, BELOW])
def test_an_output_is_returned_without_what_is_around_it(wrapping):
    assert unwrap(wrapping.format(code=0, text="on branch main")) == "on branch main"


@pytest.mark.parametrize("wrapping", [TIMED, CODED, TAGGED, BELOW])
def test_a_command_that_failed_still_says_so(wrapping):
    assert unwrap(wrapping.format(code=2, text="no such file")) == "no such file\nexit code 2"


@pytest.mark.parametrize("wrapping", [TIMED, CODED, TAGGED, BELOW])
def test_a_command_without_output_says_how_it_ended(wrapping):
    assert unwrap(wrapping.format(code=0, text="")) == "exit code 0"


@pytest.mark.parametrize(
    "text",
    ["", "Output: 3 files", "The wall time: 3 seconds\nOutput:\nx", "see <output>\nx</output>"],
)
def test_what_is_not_wrapped_stays_as_it_is(text):
    assert unwrap(text) == text


@pytest.mark.parametrize("escape", ["\x1b[", "^[["])
def test_colours_are_left_out_of_an_output(escape):
    coloured = f"{escape}1m{escape}91merror[E0432]{escape}0m: unresolved import"
    assert unwrap(coloured) == "error[E0432]: unresolved import"


def test_a_pattern_that_begins_like_a_colour_stays():
    for text in ("grep '^[[A-Z]0-9]*$' names", "s/^[[1a]b/x/ ^[[0A-Z]"):
        assert unwrap(text) == text


def test_colours_in_a_wrapped_output_are_left_out_too():
    wrapped = {"output": "\x1b[31merror\x1b[0m: x", "metadata": {"exit_code": 1}}
    assert unwrap(json.dumps(wrapped)) == "error: x\nexit code 1"


@pytest.mark.parametrize("wrapping", [TIMED, CODED, TAGGED, BELOW])
@pytest.mark.parametrize("code", [0, 7])
def test_the_exit_code_of_a_wrapped_output_is_known(wrapping, code):
    assert exit_code(wrapping.format(code=code, text="Exit Code: 3\nx")) == code


def test_what_a_client_says_of_a_process_is_left_out_only_where_it_wraps_an_output():
    assert unwrap("Output: done.\nExit Code: 1\nProcess Group PGID: 7\n") == "done.\nexit code 1"
    many = ", ".join(str(number) for number in range(1_000, 1_040))
    below = f"Exit Code: 1\nBackground PIDs: {many}\nProcess Group PGID: 7"
    assert unwrap(f"Output: done.\n{below}") == "done.\nexit code 1"
    assert unwrap("Output: (empty)\nExit Code: 0\nProcess Group PGID: 7") == "exit code 0"
    noted = f"Output: x\n{below}\n<system-reminder>y</system-reminder>"
    assert (exit_code(noted), unwrap(noted)) == (1, "x\nexit code 1")
    told = "Signal: strong on channel 4"
    assert unwrap(told) == told
    assert exit_code("no Output\nExit Code: 1\nProcess Group PGID: 7") is None


def test_a_running_command_has_no_exit_code():
    text = "Script running with cell ID 7\nWall time 10.0 seconds\nOutput:\n\nstarted"
    assert unwrap(text) == "started"


def test_notes_of_a_client_behind_an_output_are_left_out():
    note = "\n\n<system-reminder>\nBe careful.\n</system-reminder>\n"
    assert without_reminders(f"a = 1{note}{note}") == "a = 1"
    assert without_reminders(f"{note}a = 1") == f"{note}a = 1"


def wrapped(**fields):
    return json.dumps(fields)


def test_an_output_in_json_is_returned_as_it_was_printed():
    codex = wrapped(output="a\nb\n", metadata={"exit_code": 0, "duration_seconds": 0.1})
    assert (unwrap(codex), exit_code(codex)) == ("a\nb", 0)
    failed = wrapped(stdout="a\n", stderr="no such file", exit_code=2)
    assert (unwrap(failed), exit_code(failed)) == ("a\n\nno such file\nexit code 2", 2)
    assert unwrap(wrapped(returncode=0, stdout="", stderr="")) == "exit code 0"
    inner = wrapped(output="3 failed", metadata={"output": "all good", "exit_code": 0})
    assert unwrap(inner) == "3 failed"


@pytest.mark.parametrize(
    "fields",
    [
        {"output": "a", "exit_code": 1, "timed_out": True},
        {"output": "a", "exit_code": "1"},
        {"output": {"a": 1}, "exit_code": 1},
        {"output": "a", "metadata": {"exit_code": 1, "signal": 9}},
        {"exit_code": 1},
        {"output": "a", "exit_code": 1, "returncode": 1},
        {"output": "a", "returncode": True},
    ],
)
def test_json_that_tells_more_than_an_output_stays(fields):
    assert unwrap(wrapped(**fields)) == wrapped(**fields)
    assert exit_code(wrapped(**fields)) is None


def test_json_that_is_broken_off_stays():
    text = wrapped(output="a" * 900, exit_code=1)[:-1]
    assert unwrap(text) == text
    assert unwrap('{"exit_code": 1' + "[" * 90_000) == '{"exit_code": 1' + "[" * 90_000
