"""What says that something failed."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import grows_linearly

from foldline.outputs.verdict import (
    TRIES,
    failing_lines,
    failing_note,
    failures,
    first_failure,
    is_failure,
    is_summary,
    last_failure,
)

FAILING = [
    "FAILED tests/test_a.py::test_b - ValueError",
    "=== 2 failed, 98 passed in 1.2s ===",
    "E       AssertionError: assert 1 == 2",
    "ValueError: bad",
    "Traceback (most recent call last):",
    "thread 'main' panicked at src/a.rs:1:2:",
    "error[E0308]: mismatched types",
    "error: could not compile `x`",
    "2025-01-01 10:00:00 ERROR [db] connection lost",
    "npm ERR! code 1",
    "--- FAIL: TestX (0.00s)",
    "not ok 4 - parses",
    "test a::b ... FAILED",
    "Tests: 1 failed, 3 total",
    "Process exited with code 2",
    "exit status 1",
    "fatal: not a git repository",
    "  ✗ refuses",
    "bash: foo: command not found",
    '{"status": "error", "code": 4}',
    '{"success": false}',
    "数据库连接失败",
    "[错误] 超时",
    "Segmentation fault (core dumped)",
    "FAILED (failures=1, errors=2)",
]
PASSING = [
    "98 passed in 1.2s",
    "0 failed, 98 passed",
    "Tests: 0 failed",
    "no errors found",
    "errors: 0",
    "def on_error(self):",
    "exit code 0",
    "Failures: 0, Errors: 0",
    "src/errors.py",
    "失败: 0",
    "没有错误",
    "test error_is_told ... ok",
]


# Everything that says so, in one expression: easy to read, and slow.
SLOW_FAILURE = re.compile(
    r"""
      (?<![\w.-])(?!0+\b)\d[\d,]*\ (?:\w+\ )?(?i:fail(?:ed|ing|ures?)|errors?)\b
    | (?<!\b0\ )(?<!\bno\ )(?<![\w/.-])(?:FAIL(?:ED|URES?)?|FATAL|CRITICAL|PANIC|SEVERE|ERR!)
      (?![\w/.-]|\s*[:=(]\s*0\b)
    | (?<!\b0\ )(?<!\bno\ )(?<![\w/.-])ERRORS?(?![\w/.-]|\s*[:=]\s*0\b)
    | (?:^|[\s:\]])(?i:fatal|panic|error)(?:\[\w+\])?:(?!\s*(?:0|none|null|false)\b)
    | (?:^|\s)(?i:(?:failures?|errors?|failed))\s*[:=]\s*[1-9]
    | ^\s*(?:E\s+|Caused\ by:\s|Uncaught\s|Exception\ in\ thread\ \S+\s)?[\w.]*
      (?:Error|Exception)\b(?::|$|\s\[)
    | Traceback\ \(most\ recent | panicked\ at | Segmentation\ fault | core\ dumped
    | (?i:\bexit(?:ed)?(?:\ with)?(?:[\ _]?(?:code|status))?["']?[\ :=]+[1-9])
    | non-zero\ exit | command\ not\ found | ^\s*not\ ok\b | [✗✖✘]
    | \.\.\.\s(?:FAILED|failed|ERROR|FAIL)\b | \b(?:build|tests?|compilation|job)\ failed\b
    | "(?:status|state|result|outcome|conclusion|level)":\s*"(?i:error|failed|failure|fatal)"
    | "(?:is_?error|isError|failed)":\s*true | "(?:success|ok)":\s*false
    | (?<![0无零])(?<!没有)(?:错误|失败|异常|崩溃|致命)(?!\s*(?:数|率)?\s*[:：=]?\s*0(?!\d))
    """,
    re.VERBOSE | re.MULTILINE,
)


@pytest.mark.parametrize("line", FAILING)
def test_failures_of_many_tools_are_recognised(line):
    assert is_failure(line)
    text = f"all is well\n{line}\nall is well"
    assert [text[a:b] for a, b in failures(text)] == [line]
    found, end = first_failure(text)
    assert found == line.strip()
    assert text[:end].endswith(line)
    assert failing_lines(text.split("\n")) == {1}


@pytest.mark.parametrize("line", PASSING)
def test_what_passes_is_not_called_a_failure(line):
    assert not is_failure(line)
    assert failures(f"a\n{line}\nb") == []


def test_the_last_failure_is_found_from_the_end():
    text = "ERROR one\nfine\nERROR two\nerrors: 0"
    start, end = last_failure(text)
    assert text[start:end] == "ERROR two"
    assert last_failure("errors: 0\n" * 50) is None


def test_a_giant_line_is_looked_at_around_the_place():
    text = "x" * 100_000 + " ERROR: lost " + "y" * 100_000
    assert "ERROR: lost" in first_failure(text)[0]
    assert len(first_failure(text)[0]) < 1_000


@pytest.mark.parametrize("number", ["{}: ", "  {}\t", "    {}→", "{}-", " {} | "])
def test_a_line_of_a_file_that_is_shown_is_no_failure_and_what_comes_behind_it_is(number):
    code = [f"{number.format(at)}except (TypeError, ValueError) as error:" for at in range(9, 12)]
    code = [f"{number.format(8)}try:", *code, f"{number.format(12)}pass"]
    assert first_failure("\n".join(code)) == ("", 0)
    text = "\n".join((*code, "main.c:3: error: x undeclared"))
    assert first_failure(text)[0] == "main.c:3: error: x undeclared"


@pytest.mark.parametrize("sign", ["+", "-", " "])
def test_a_line_of_a_diff_is_no_failure_and_what_comes_behind_it_is(sign):
    text = f"diff --git a/x b/x\n@@ -1,2 +1,2 @@\n{sign}ERROR: a hook ends with a non-zero exit\n"
    assert first_failure(text) == ("", 0)
    assert first_failure(f"{text}ERROR: no such branch")[0] == "ERROR: no such branch"
    assert first_failure(f"{sign} ERROR: no hunk stands above\n")[0]


@pytest.mark.parametrize("behind", [" ELIFECYCLE  Command failed with exit code 1.", "- ERROR: x"])
def test_a_diff_ends_where_its_head_says(behind):
    text = f"@@ -1 +1 @@ raise ValueError: x\n-old\n+new\n\\ No newline\n{behind}\n"
    assert first_failure(text)[0] == behind.strip()
    assert first_failure("@@ -1,9 +1,9 @@\n x\nerror: y\n ERROR: z\n")[0] == "error: y"


def test_a_target_of_a_build_is_no_comment():
    line = "//src/test:foo_test    FAILED in 0.3s"
    assert first_failure(f"{line}\n//@pkg:x is an error\n")[0] == line


@pytest.mark.parametrize(
    "lines",
    [
        ("0: Traceback (most recent call last):", "0: ValueError: x"),
        ("3\tFAILED\ttests/test_a.py::test_b", "4\tpassed\ttests/test_b.py::test_b"),
        ("404: error: Not Found", "done"),
        ("12-Jan-2024 10:00:00.123 SEVERE [main] Failed to start", "12-Jan-2024 10:00 bye"),
        ("1: ok", "3: error: x undeclared", "4 done"),
        ("1: build ok", "2: FAILED to link", "done"),
        (f"{'x' * 400}=12 errors found", "ok"),
    ],
)
def test_a_number_before_a_failure_makes_it_no_line_of_a_file(lines):
    assert first_failure("\n".join(lines))[0] in "\n".join(lines)
    assert first_failure("\n".join(lines))[0]


def test_a_comment_is_no_failure():
    text = "\t// What is tagged with an `ERROR` goes to the log\n"
    assert first_failure(text) == ("", 0)
    assert first_failure(f"{text}ERROR: no log")[0] == "ERROR: no log"


def test_a_failure_is_found_behind_a_long_file_that_is_shown():
    code = [f"{number:6d}\texcept OSError as error:" for number in range(2 * TRIES)]
    assert first_failure("\n".join(code)) == ("", 0)
    assert first_failure("\n".join((*code, "ERROR: link failed", "done")))[0] == (
        "ERROR: link failed"
    )


def test_failures_out_of_sight_are_said():
    assert failing_note("ERROR: x", ["fine"]) == ", with failures"
    assert failing_note("ERROR: x", ["ERROR: x"]) == ""
    assert failing_note("fine", []) == ""


@pytest.mark.parametrize(
    "line",
    ["== 1 failed in 2s ==", "Ran 3 tests in 1s", "test result: ok. 3 passed", "(12 rows)", "OK",
     "Successfully installed a-1.0",
     "Tests: 1 failed, 3 total", " 3 files changed, 4 insertions(+)", "共 15 条", "total 48"],
)  # fmt: skip
def test_summaries_are_recognised(line):
    assert is_summary(line)
    assert not is_summary("The quick brown fox")


@pytest.mark.parametrize("start", ["错误", "错误数", "错误：", "error "])
def test_blanks_behind_a_word_take_no_more_time_than_other_signs(start):
    assert grows_linearly(lambda n: failing_lines([start + n * " "] * 50), int, 75, 600)


@pytest.mark.parametrize("start", ["共", "Tests "])
def test_a_summary_is_told_from_blanks_in_linear_time(start):
    assert grows_linearly(lambda n: [*map(is_summary, [start + n * " "] * 500)], int, 35, 280)


PIECES = (
    *("FAIL", "FAILED", "failed", "errors", "ERROR", "Error", "error", "fatal", "panic", "ERR!"),
    *("Exception", "Traceback (most recent", "exit code", "exited with", "non-zero exit", "tests"),
    *("not ok", "command not found", "... ", '"status": "', '"ok": false', "true", "no ", "没有"),
    *(
        ": ",
        ":",
        "=",
        " ",
        "0",
        "2",
        "10,",
        "E  ",
        "[x]",
        "(",
        ")",
        "_",
        ".",
        "/",
        "-",
        "\t",
        "错误",
    ),
)


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_the_fast_way_and_the_simple_one_find_the_same(line):
    assert is_failure(line) == (SLOW_FAILURE.search(line) is not None)
