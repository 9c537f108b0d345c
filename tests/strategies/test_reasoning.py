from tests.neutral import T, U, c, view

from foldline.core.asks import drive
from foldline.core.handles import handles
from foldline.core.messages import Message, Omitted, Text, Thinking
from foldline.core.strategy import Need
from foldline.strategies.reasoning import Reasoning


def thinking(*said):
    return Message("assistant", (Thinking("hm", signed=True), *said))


def propose(found):
    need = Need(0, 0, 1, handles(found.messages))
    return drive(Reasoning().propose(found, need), lambda _: None)


def test_reasoning_of_finished_turns_is_left_out_as_a_whole():
    found = view(U("t"), thinking(Text("a")), U("u"))
    after = found.after(propose(found).edits)
    assert after.messages[1].parts == (Omitted("reasoning"), Text("a"))


def test_reasoning_since_the_latest_user_message_stays_untouched():
    found = view(U("t"), U("u"), thinking(c("1")), T("1"), thinking(Text("a")))
    assert propose(found).edits == ()


def test_the_reasoning_of_a_call_that_runs_stays():
    found = view(U("t"), thinking(c("1")), U("hurry"), thinking(c("2")))
    touched = {edit.message for edit in propose(found).edits}
    assert found.messages[3].id not in touched


def test_without_old_reasoning_there_is_a_reason_to_do_nothing():
    assert propose(view(U("t"))).reason == "no old reasoning"
