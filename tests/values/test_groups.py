import pytest
from tests.neutral import A, S, T, U, c

from foldline.values.groups import Site, group, pair, pending_calls
from foldline.values.messages import Message, Thinking


def members(*messages):
    return [found.members for found in group(messages)]


def states(*messages):
    return [found.state for found in group(messages)]


def test_a_call_and_its_result_are_one_group():
    assert members(U("t"), A(c("1")), T("1"), A("done")) == [(0,), (1, 2), (3,)]


def test_parallel_calls_and_all_their_results_are_one_group():
    assert members(A(c("1"), c("2"), c("3")), T("3"), T("1"), T("2"), U("x")) == [
        (0, 1, 2, 3),
        (4,),
    ]


def test_interleaved_calls_are_one_group():
    assert members(U("t"), A(c("1")), A(c("2")), T("1"), T("2"), A("done")) == [
        (0,),
        (1, 2, 3, 4),
        (5,),
    ]


def test_a_late_result_still_belongs_to_its_call():
    assert members(U("t"), A(c("1")), U("hurry"), A("thinking aloud"), T("1"), A("done")) == [
        (0,),
        (1, 4),
        (2,),
        (3,),
        (5,),
    ]


def test_separate_reasoning_moves_with_the_models_next_message():
    thought = Message("assistant", (Thinking("hm"),))
    assert members(U("t"), thought, A(c("1")), T("1")) == [(0,), (1, 2, 3)]
    assert members(U("t"), thought, U("?")) == [(0,), (1,), (2,)]


def test_ids_that_repeat_pair_by_occurrence():
    messages = (A(c("1")), T("1", "a"), A(c("1")), T("1", "b"))
    assert members(*messages) == [(0, 1), (2, 3)]
    assert pair(messages).answers == {Site(0, 0): Site(1, 0), Site(2, 0): Site(3, 0)}


def test_an_abandoned_call_takes_no_result_of_a_later_one_with_the_same_id():
    messages = (A(c("1")), U("go on"), A(c("1")), T("1", "b"), A(c("1")), T("1", "d"))
    pairing = pair(messages)
    assert pairing.answers == {Site(2, 0): Site(3, 0), Site(4, 0): Site(5, 0)}
    assert pairing.open == (Site(0, 0),)


def test_calls_of_one_step_with_the_same_id_are_answered_in_order():
    messages = (A(c("1")), A(c("1")), T("1", "a"), T("1", "b"))
    assert pair(messages).answers == {Site(0, 0): Site(2, 0), Site(1, 0): Site(3, 0)}


def test_without_ids_calls_pair_by_the_name_of_the_tool_and_in_order():
    messages = (A(c(None, "read"), c(None, "run")), T(None, name="run"), T(None, name="read"))
    assert pair(messages).answers == {Site(0, 0): Site(2, 0), Site(0, 1): Site(1, 0)}


def test_a_second_result_of_a_call_is_late_and_in_the_group_of_the_call():
    messages = (A(c("1")), T("1", "started"), A("ok"), T("1", "finished"))
    assert pair(messages).late == {Site(3, 0): Site(0, 0)}
    assert members(*messages) == [(0, 1, 3), (2,)]
    assert states(*messages) == ["broken", "closed"]


def test_a_result_without_a_call_is_broken_but_not_an_error():
    assert pair((T("zz"),)).orphans == (Site(0, 0),)
    assert states(T("zz"), U("go on")) == ["broken", "closed"]


@pytest.mark.parametrize(
    ("messages", "state"),
    [
        ((A(c("1")),), "pending"),
        ((A(c("1"), c("2")), T("2")), "pending"),
        ((A(c("1")), A(c("2")), T("2")), "pending"),
        ((A(c("1")), U("never mind")), "broken"),
        ((A(c("1"), c("2")), T("2"), A("so be it")), "broken"),
        ((A(c("1")), T("1")), "closed"),
    ],
)
def test_a_call_is_pending_until_the_conversation_continues_without_it(messages, state):
    assert states(*messages)[0] == state
    if state != "closed":
        waiting = pending_calls(messages, [Site(0, 0)])
        assert bool(waiting) is (state == "pending")


def test_every_message_is_in_exactly_one_group_in_order():
    messages = [S("s"), U("t"), A(c("1")), A(c("2")), T("2"), T("zz"), T("1"), U("x"), A(c("3"))]
    found = group(messages)
    assert sorted(i for g in found for i in g.members) == list(range(len(messages)))
    assert [g.start for g in found] == sorted(g.start for g in found)
    assert found[-1].end == len(messages)


def test_ten_thousand_interleaved_calls_are_grouped_without_recursion():
    calls = [A(c(str(n))) for n in range(10_000)]
    assert len(group([*calls, *(T(str(n)) for n in range(10_000))])) == 1
