import pytest
from tests.neutral import A, T, U, c, log

from foldline.snapshot.phrases import ENGLISH, TABLES
from foldline.summary.claims import mark_unproven_claims
from foldline.values.messages import Message, Text, ToolResult

UNSHOWN = ENGLISH.unshown

FAILING = (
    A(c("1", "run", '{"command": "pytest"}')),
    T("1", "tests/test_a.py FAILED\n1 failed, 4 passed"),
)


def marked(account, *messages):
    return mark_unproven_claims(account, log(U("Mend it."), *messages))


@pytest.mark.requirement("F38")
@pytest.mark.parametrize(
    "claim",
    [
        "All tests pass.",
        "The fix is in; all tests pass now",
        "- the whole test suite is green",
        "Tests are passing.",
        "The build succeeded.",
        "Everything works.",
        "I successfully fixed src/a.py.",
        "All errors have been fixed.",
        "所有测试都通过了。",
        "问题已经解决。",
        "テストはすべて成功した。",
        "모든 테스트가 통과했습니다.",
        "Все тесты проходят.",
    ],
)
def test_success_that_no_result_shows_is_marked(claim):
    account, count = marked(f"Goal: mend src/a.py.\n{claim}", *FAILING)
    assert account == f"Goal: mend src/a.py.\n{claim} {UNSHOWN}"
    assert count == 1


@pytest.mark.requirement("F38")
@pytest.mark.parametrize(
    "line",
    [
        "Not all tests pass.",
        "Goal: make all tests pass.",
        "Next: run pytest until all tests pass.",
        "The tests pass only if the port is free.",
        "1 of 5 tests failed.",
        "测试尚未通过。",
        "src/a.py passes the port to src/b.py.",
    ],
)
def test_a_goal_or_a_denial_is_not_a_claim(line):
    assert marked(line, *FAILING) == (line, 0)


def test_a_claim_with_a_later_success_is_not_marked():
    later = (
        A(c("2", "run", '{"command": "pytest tests"}')),
        T("2", "===== 5 passed in 0.2s ====="),
    )
    assert marked("All tests pass.", *FAILING, *later) == ("All tests pass.", 0)


def test_a_later_run_that_fails_in_part_shows_no_success():
    later = (A(c("2", "run", '{"command": "tox"}')), T("2", "2 failed, 3 passed"))
    assert marked("All tests pass.", *FAILING, *later)[1] == 1


def test_claims_after_a_resolved_failure_are_not_marked():
    again = (A(c("2", "run", '{"command": "pytest"}')), T("2", "5 passed"))
    assert marked("All tests pass.", *FAILING, *again) == ("All tests pass.", 0)


def ran(command, text, number="7", *, error=False):
    result = ToolResult(number, (Text(text),), "run", error)
    call = c(number, "run", f'{{"command": "{command}"}}')
    return A(call), Message("tool", (result,))


READING = ran("cat src/a.py", "def port():\n    return 48113")


@pytest.mark.requirement("F38")
@pytest.mark.parametrize(
    "claim",
    [
        "All tests pass.",
        "Tests are passing (step 3f2a1c).",
        "The build succeeded.",
        "It was successfully deployed.",
        "The deployment is live.",
        "Lint is clean.",
        "所有测试都通过了。",
        "部署成功。",
        "编译成功。",
        "テストはすべて成功した。",
        "모든 테스트가 통과했습니다.",
        "Все тесты проходят.",
        "Alle Tests bestanden.",
        "Todos los pruebas pasan y todas las pruebas pasan.",
    ],
)
def test_success_of_work_that_was_never_run_is_marked(claim):
    assert marked(claim, *READING, A("Done.")) == (f"{claim} {UNSHOWN}", 1)


@pytest.mark.parametrize(
    ("claim", "shown"),
    [
        ("All tests pass.", ran("pytest -q", "5 passed in 0.1s")),
        ("All tests pass.", ran("go test ./...", "ok  	example.com/port	0.2s")),
        ("All tests pass.", ran("./run.sh", "5 passed")),
        ("All tests pass.", ran("npm test", "[Cleared: 900 tokens of run, old; recall abc123]")),
        ("All tests pass.", [A("I ran the suite by hand: all tests pass.")]),
        ("All tests pass.", [U("By the way, all tests pass here now.")]),
        ("The build succeeded.", ran("go build ./...", "")),
        ("The build succeeded.", ran("./x", "Compiled 31 modules")),
        ("It was successfully deployed.", ran("kubectl apply -f x.yaml", "configured")),
        ("Lint is clean.", ran("ruff check .", "All checks passed!")),
        ("所有测试都通过了。", ran("pytest", "测试通过")),
        ("Everything works.", READING),
        ("I successfully fixed src/a.py.", READING),
    ],
)
def test_success_with_evidence_is_not_marked(claim, shown):
    assert marked(claim, *READING, *shown) == (claim, 0)


@pytest.mark.parametrize(
    ("claim", "shown"),
    [
        ("It was successfully deployed.", ran("cat tests.log", "some text")),
        ("All tests pass.", [A("Next: make all tests pass.")]),
        ("All tests pass.", [A("All tests pass. " + UNSHOWN)]),
        ("The build succeeded.", ran("cargo build", "", error=True)),
    ],
)
def test_results_of_other_work_are_not_evidence(claim, shown):
    assert marked(claim, *READING, *shown)[1] == 1


@pytest.mark.parametrize("phrases", TABLES)
def test_a_line_is_marked_once_in_any_language(phrases):
    messages = log(U("Mend it."), *FAILING)
    once, _ = mark_unproven_claims("All tests pass.", messages, phrases)
    assert once == f"All tests pass. {phrases.unshown}"
    for again in TABLES:
        assert mark_unproven_claims(once, messages, again) == (once, 0)


def test_a_giant_line_is_judged_in_time():
    line = "all the very " * 20_000
    assert marked(line, *FAILING) == (line, 0)
