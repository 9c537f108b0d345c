"""Reports of tests and builds."""

import pytest

from foldline.outputs.reports import is_report, report

PYTEST = [
    "=================== test session starts ===================",
    *(f"tests/test_a.py::test_{n} PASSED [ {n}%]" for n in range(60)),
    "tests/test_a.py::test_60 FAILED [ 99%]",
    "________________________ test_60 ________________________",
    "def test_60():",
    ">       assert answer() == 42",
    "E       assert 41 == 42",
    "FAILED tests/test_a.py::test_60 - assert 41 == 42",
    "=========== 1 failed, 60 passed in 0.12s ===========",
]


@pytest.mark.parametrize("place", [61, 65, 66, 67])
def test_failures_and_what_they_assert_are_worth_keeping(place):
    assert report(PYTEST).worth[place] >= 0.45


def test_passes_are_counted_and_worth_nothing():
    made = report(PYTEST)
    assert made.lines[-1] == "[60 lines report a pass]"
    assert made.notes == 1
    assert not set(range(1, 61)) & set(made.worth)


def test_what_is_told_of_a_failure_stands_below_its_name():
    made = report(PYTEST)
    assert made.lines[made.head(65)].startswith("____")


@pytest.mark.parametrize(
    "line",
    [
        "Ran 12 tests in 0.004s",
        "test result: FAILED. 3 passed; 1 failed",
        "test parser::tests::empty ... ok",
        "--- FAIL: TestParse (0.00s)",
        "Tests:       1 failed, 580 passed, 581 total",
        "  12 passing (45ms)",
        "not ok 3 - refuses",
        "error[E0308]: mismatched types",
        "npm ERR! code ELIFECYCLE",
    ],
)
def test_reports_of_many_tools_are_recognised(line):
    assert is_report(f"something\n{line}\nsomething")
    assert not is_report("The tests of the new ship went well.\nNobody failed.")
