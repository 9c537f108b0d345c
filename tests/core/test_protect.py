import pytest
from tests.neutral import A, S, T, U, c, log

from foldline.core.groups import group
from foldline.core.messages import Message, Text
from foldline.core.protect import SNAPSHOT_HEADER, is_snapshot, protected, unread


def reasons(*messages, late=()):
    shown = log(*messages)
    return protected(shown, group(shown), {shown[i].id for i in late})


@pytest.mark.requirement("C21")
def test_system_task_and_latest_user_message_stay():
    found = reasons(S("s"), S("s2"), U("task"), A("a"), U("between"), A("b"), U("latest"))
    assert found == {0: "system", 1: "system", 2: "task", 6: "latest"}


def test_a_single_user_message_is_the_task():
    assert reasons(U("task"), A("a")) == {0: "task"}


def test_results_that_the_model_has_not_answered_stay_with_their_calls():
    found = reasons(U("t"), A(c("1"), c("2")), T("1"), T("2"))
    assert found == {0: "task", 1: "unread", 2: "unread", 3: "unread"}
    assert 1 not in reasons(U("t"), A(c("1")), T("1"), A("read it"))


def test_a_call_that_is_still_running_stays():
    found = reasons(U("t"), A(c("0")), T("0"), A(c("1")), A(c("2")), T("2"))
    assert found[3] == "pending"


@pytest.mark.requirement("K32")
def test_a_pin_keeps_the_whole_group():
    messages = [U("t"), A(c("1")), T("1"), A("x"), U("u")]
    messages[2] = Message("tool", messages[2].parts, pinned=True)
    assert reasons(*messages)[1] == reasons(*messages)[2] == "pinned"


def test_a_system_message_in_the_middle_is_not_the_system_prompt():
    assert 2 not in reasons(U("t"), A("a"), S("note"), U("u"))


def test_a_snapshot_is_neither_task_nor_latest_message():
    snapshot = U(f"{SNAPSHOT_HEADER}: quotes ...")
    assert is_snapshot(snapshot)
    found = reasons(snapshot, U("task"), A("a"), U("latest"), snapshot)
    assert found == {1: "task", 3: "latest"}


@pytest.mark.requirement("K22")
def test_only_a_user_message_is_taken_for_a_snapshot():
    assert not is_snapshot(A(f"{SNAPSHOT_HEADER}: ..."))
    assert not is_snapshot(T("1", f"{SNAPSHOT_HEADER}: ..."))
    assert not is_snapshot(U(f"see {SNAPSHOT_HEADER}"))


def test_what_a_repair_put_first_stays_first_and_does_not_replace_the_task():
    start = Message("user", (Text("[starts here]"),), origin="repair")
    found = reasons(start, A("a"), U("task"), A("b"), U("mid"), A("c"), U("latest"))
    assert found == {0: "task", 2: "task", 6: "latest"}


def test_a_result_that_moved_behind_an_old_call_is_still_unread():
    found = reasons(U("t"), A(c("1")), T("1", "finished"), A("b"), U("u"), late=[2])
    assert found[1] == found[2] == "unread"


def test_unread_results_are_found_before_anything_moves():
    messages = log(U("t"), A(c("1")), A("b"), T("1", "finished"))
    assert unread(messages) == {messages[3].id}


@pytest.mark.parametrize("messages", [(), (S("s"),), (A("a"),), (T("zz"),)])
def test_histories_without_a_user_are_no_error(messages):
    assert not {"task", "latest"} & set(reasons(*messages).values())
