from tests.neutral import A, T, U, c, view

from foldline.core.asks import drive
from foldline.core.strategy import CompactionContext
from foldline.strategies.dedupe import Dedupe
from foldline.values.handles import handles

LONG = "x" * 400


def cleared(found):
    context = CompactionContext(0, 0, 1, handles(found.messages))
    return [
        found.positions[edit.message]
        for edit in drive(Dedupe().propose(found, context), lambda _: None).edits
    ]


def read(number, path='{"path": "a.py"}'):
    return A(c(number, "read", path)), T(number, LONG, "read")


def test_only_the_newest_of_the_same_reads_stays():
    found = view(U("t"), *read("1"), *read("2"), *read("3"), A("x"), U("u"))
    assert cleared(found) == [2, 4]


def test_arguments_are_compared_regardless_of_order_and_spaces():
    found = view(
        U("t"),
        *read("1", '{"path":"a.py","limit":9}'),
        *read("2", '{"limit": 9, "path": "a.py"}'),
        A("x"),
        U("u"),
    )
    assert cleared(found) == [2]


def test_other_calls_stay():
    found = view(U("t"), *read("1"), *read("2", '{"path": "b.py"}'), A("x"), U("u"))
    assert cleared(found) == []


def test_a_read_whose_repetition_is_unread_is_cleared_but_never_the_unread_one():
    found = view(U("t"), *read("1"), *read("2"))
    assert cleared(found) == [2]
