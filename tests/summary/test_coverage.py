import pytest
from tests.neutral import A, T, U, c, view

from foldline.summary.account import choose_names, measure_coverage


def make_view():
    return view(
        U("Mend src/port_scanner.py."),
        A("Looking at lib/socket_pool.py.", c("1", "run", '{"command": "make"}')),
        T("1", "error: lib/socket_pool.py:88 undefined name retry_limit"),
        A("The pool is broken."),
        U("Go on with src/port_scanner.py."),
    )


def test_names_removed_from_view_are_expected_and_those_that_stay_are_not():
    names = choose_names(make_view(), [1, 2, 3])
    assert {"lib/socket_pool.py", "retry_limit"} <= names
    assert "src/port_scanner.py" not in names


@pytest.mark.requirement("F38", "H3")
def test_names_of_open_failures_and_the_plan_are_always_expected():
    noise = [A(f"Used src/part_{n}.py again, and src/part_{n}.py.") for n in range(100)]
    plan = A(c("9", "todowrite", '{"todos": [{"content": "mend zz_last.py"}]}'))
    found = view(*make_view().messages[:4], *noise, plan, T("9"), A("a"), U("next"))
    names = choose_names(found, range(1, len(found.messages) - 1))
    assert {"retry_limit", "zz_last.py"} <= names
    assert len(names) < 60


def test_names_missing_in_account_and_snapshot_are_counted():
    names = frozenset({"src/a.py", "src/b.py", "src/c.py"})
    found = measure_coverage(
        names, "Mended src/a.py.", "Mended src/a.py.\nabc123 src/b.py (edited)"
    )
    assert found.missing == {"src/b.py", "src/c.py"}
    assert found.lost == {"src/c.py"}
    assert str(found) == (
        "the account lacks 2 of the 3 names that matter most, 1 of these are quoted beside it"
    )
