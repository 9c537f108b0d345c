from tests.neutral import A, S, T, U, c, view, words

from foldline.core.asks import drive
from foldline.core.strategy import CompactionContext
from foldline.strategies.window import Window
from foldline.values.handles import handles
from foldline.values.snapshot_mark import SNAPSHOT_HEADER, seal_text


def left(found, strategy=None, target=0):
    context = CompactionContext(target, target, 1, handles(found.messages))
    plan = drive((strategy or Window()).propose(found, context), lambda _: None)
    return words(found.after(plan.edits).messages)


HISTORY = (S("s"), U("task"), A(c("1")), T("1", "x" * 400), A("b"), U("mid"), A("d"), U("latest"))


def test_the_oldest_groups_are_dropped_whole_and_protected_messages_stay():
    assert left(view(*HISTORY)) == ["S:s", "U:task", "U:latest"]


def test_it_stops_as_soon_as_the_target_is_met():
    found = view(*HISTORY)
    assert left(found, target=found.tokens - 50)[2:] == ["A:b", "U:mid", "A:d", "U:latest"]


def test_a_number_of_the_newest_groups_can_be_kept():
    assert left(view(*HISTORY), Window(keep=1)) == ["S:s", "U:task", "A:d", "U:latest"]


def test_unread_and_running_steps_stay_however_large_they_are():
    found = view(U("t"), A("x" * 400), A(c("1")), T("1", "y" * 4_000), A(c("2")))
    assert left(found) == ["U:t", "A{2}"]
    unread = view(U("t"), A("x" * 400), A(c("1"), c("2")), T("1", "y" * 4_000), T("2"))
    assert left(unread) == ["U:t", "A{1,2}", "T(1)", "T(2)"]


def test_a_snapshot_is_not_dropped():
    snapshot = U(seal_text(f"{SNAPSHOT_HEADER}: quotes]"))
    assert len(left(view(U("task"), snapshot, A("a"), U("u")))) == 3
