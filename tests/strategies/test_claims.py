import pytest
from tests.neutral import A, T, U, c, log

from foldline.strategies.claims import UNSHOWN, mark_unproven_claims

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
def test_a_goal_or_a_denial_is_no_claim(line):
    assert marked(line, *FAILING) == (line, 0)


def test_a_claim_with_a_later_success_stands():
    later = (
        A(c("2", "run", '{"command": "pytest tests"}')),
        T("2", "===== 5 passed in 0.2s ====="),
    )
    assert marked("All tests pass.", *FAILING, *later) == ("All tests pass.", 0)


def test_a_later_run_that_fails_in_part_shows_no_success():
    later = (A(c("2", "run", '{"command": "tox"}')), T("2", "2 failed, 3 passed"))
    assert marked("All tests pass.", *FAILING, *later)[1] == 1


def test_a_failure_that_was_mended_leaves_claims_alone():
    again = (A(c("2", "run", '{"command": "pytest"}')), T("2", "5 passed"))
    assert marked("All tests pass.", *FAILING, *again) == ("All tests pass.", 0)


def test_without_a_failure_nothing_is_marked():
    assert marked("All tests pass.", A("Done.")) == ("All tests pass.", 0)


def test_a_line_is_marked_once():
    once, _ = marked("All tests pass.", *FAILING)
    assert marked(once, *FAILING) == (once, 0)


def test_a_giant_line_is_judged_in_time():
    line = "all the very " * 20_000
    assert marked(line, *FAILING) == (line, 0)
