import pytest
from tests.neutral import A, S, T, U, c, log, words

from foldline.repair.repair import GAP, NO_RESULT, ORPHAN, START, repair
from foldline.values.edits import Insert, Move, apply
from foldline.values.messages import Media, Message, Omitted, Text, Thinking, ToolResult

IMAGE = Media("image")


def repaired(*messages, dialect="openai-chat"):
    history = log(*messages)
    return apply(history, repair(history, dialect))


def results(messages):
    return {r.call_id: r.text for message in messages for r in message.results}


@pytest.mark.parametrize("dialect", ["openai-chat", "anthropic", "gemini", "openai-responses"])
def test_a_valid_conversation_is_not_repaired(dialect):
    sound = log(S("s"), U("t"), A("x", c("1")), T("1"), A("done"), U("u"))
    assert repair(sound, dialect) == ()
    assert repair((), dialect) == ()


# --- empty messages ------------------------------------------------------------------------


def test_empty_messages_are_removed():
    empty = Message("assistant", ())
    gone = Message("assistant", (Omitted("reasoning"), Text(" \n")))
    assert words(repaired(U("t"), empty, gone, A("a"), U("  "))) == ["U:t", "A:a"]


def test_a_message_with_only_an_image_is_not_empty():
    assert len(repaired(U("t"), A("a"), Message("user", (IMAGE,)))) == 3


def test_blank_text_beside_other_parts_is_removed_for_providers_that_reject_it():
    message = Message("user", (Text("a"), Text("\n"), IMAGE))
    assert repaired(message, dialect="anthropic")[0].parts == (Text("a"), Omitted("repair"), IMAGE)
    assert repaired(message, dialect="openai-chat")[0].parts == message.parts


def test_blank_text_inside_a_result_is_removed_and_its_media_stay():
    result = ToolResult("1", (Text(""), Text("42"), IMAGE))
    after = repaired(U("t"), A(c("1")), Message("tool", (result,)), dialect="anthropic")
    assert after[2].results[0].content == (Text("42"), IMAGE)


# --- results without a call ----------------------------------------------------------------


def test_a_result_without_a_call_becomes_a_note_with_the_same_text():
    after = repaired(U("t"), T("zz", "the answer is 42"), A("ok"))
    assert after[1].role == "user"
    assert after[1].text == f"{ORPHAN}\nthe answer is 42"


def test_an_orphan_at_the_very_beginning_leaves_the_conversation_usable():
    after = repaired(T("zz", "x"), U("t"))
    assert [message.role for message in after] == ["user", "user"]


def test_a_second_result_of_a_call_becomes_a_note():
    after = repaired(U("t"), A(c("1")), T("1", "started"), A("ok"), T("1", "finished"))
    assert results(after) == {"1": "started"}
    assert after[-1].text.endswith("finished")


@pytest.mark.parametrize("dialect", ["openai-chat", "anthropic", "gemini", "openai-responses"])
@pytest.mark.parametrize("last", [(), (U("still there?"),), (A("done"),)])
def test_of_several_results_of_a_call_the_last_one_is_its_answer(dialect, last):
    retried = [T("1", "timeout", is_error=True), T("1", "timeout", is_error=True), T("1", "42")]
    after = repaired(U("t"), A(c("1")), *retried, *last, dialect=dialect)
    assert results(after) == {"1": "42"}
    assert len(after) == 3 + len(last)


def test_of_several_results_in_one_message_the_last_one_stays():
    both = Message("user", (*T("1", "old").parts, *T("1", "new").parts, Text("look")))
    after = repaired(U("t"), A(c("1")), both, dialect="anthropic")
    assert results(after) == {"1": "new"}
    assert after[2].text == "look"


def test_an_orphaned_result_beside_text_becomes_a_note_and_the_text_stays():
    message = Message("user", (*T("zz", "lost").parts, Text("and now?")))
    after = repaired(U("t"), A("a"), message)
    assert after[2].text == "and now?"
    assert after[2].parts[0] == Omitted("repair")
    assert after[3].text == f"{ORPHAN}\nlost"


def test_a_result_that_came_before_its_call_moves_behind_it():
    history = log(U("t"), T("1", "early"), A("hm"), A(c("1")), U("u"))
    edits = repair(history, "openai-chat")
    assert [type(edit) for edit in edits] == [Move]
    assert words(apply(history, edits)) == ["U:t", "A:hm", "A{1}", "T(1)", "U:u"]


# --- calls without a result ----------------------------------------------------------------


def test_unanswered_calls_get_a_synthetic_result_in_order():
    after = repaired(U("t"), A(c("1"), c("2")), U("go on"))
    assert words(after) == ["U:t", "A{1,2}", "T(1)", "T(2)", "U:go on"]
    assert set(results(after).values()) == {NO_RESULT}
    assert all(message.results[0].is_error for message in after[2:4])


def test_only_the_unanswered_of_parallel_calls_gets_one():
    after = repaired(U("t"), A(c("1"), c("2")), T("2", "ok"), A("done"))
    assert results(after) == {"1": NO_RESULT, "2": "ok"}


@pytest.mark.parametrize(
    "messages",
    [
        (U("t"), A(c("1"))),
        (U("t"), A(c("1"), c("2")), T("2")),
        (U("t"), A(c("1")), A(c("2")), T("2")),
    ],
)
def test_a_running_call_gets_no_synthetic_result(messages):
    assert NO_RESULT not in results(repaired(*messages, dialect="openai-responses")).values()


def test_results_in_several_messages_need_no_synthetic_ones():
    after = repaired(U("t"), A(c("1"), c("2")), T("2", "b"), T("1", "a"), A("done"))
    assert results(after) == {"1": "a", "2": "b"}
    assert words(after) == ["U:t", "A{1,2}", "T(2)", "T(1)", "A:done"]


def test_each_of_several_dead_calls_is_closed_in_place():
    after = repaired(U("t"), A(c("1")), U("a"), A(c("2")), U("b"), A(c("3")), T("3"), A("x"))
    assert words(after) == [
        *("U:t", "A{1}", "T(1)", "U:a", "A{2}", "T(2)", "U:b", "A{3}", "T(3)", "A:x"),
    ]


# --- order ---------------------------------------------------------------------------------


@pytest.mark.requirement("K34")
def test_only_a_displaced_result_moves():
    after = repaired(U("t"), A(c("1")), U("hurry"), A("aloud"), T("1"), A("done"))
    assert words(after) == ["U:t", "A{1}", "T(1)", "U:hurry", "A:aloud", "A:done"]


def test_interleaved_results_follow_their_calls_or_the_turn():
    messages = (U("t"), A(c("1")), A(c("2")), T("1"), T("2"))
    assert words(repaired(*messages)) == ["U:t", "A{1}", "T(1)", "A{2}", "T(2)"]
    assert words(repaired(*messages, dialect="anthropic")) == [
        *("U:t", "A{1}", "A{2}", "T(1)", "T(2)"),
    ]
    assert repair(log(*messages), "openai-responses") == ()


def test_results_of_two_turns_in_one_message_are_separated():
    both = Message("tool", (*T("2").parts, *T("1").parts))
    after = repaired(U("t"), A(c("1")), U("u"), A(c("2")), both, A("x"))
    assert results(after[:3]) == {"1": "ok"}
    assert results(after[3:]) == {"2": "ok"}


def test_user_text_beside_a_late_result_stays_in_place():
    late = Message("user", (*T("1", "late").parts, Text("and then?")))
    after = repaired(U("t"), A(c("1")), A("aloud"), U("u"), late, dialect="anthropic")
    assert [message.text for message in after if message.is_from_user()] == ["t", "u", "and then?"]
    assert after[3].results[0].text == "late"


def test_gemini_gets_all_results_of_a_turn_in_one_message():
    after = repaired(U("t"), A(c("1"), c("2")), T("2", "b"), T("1", "a"), A("x"), dialect="gemini")
    assert words(after) == ["U:t", "A{1,2}", "T(1)+T(2)", "A:x"]


def test_gemini_gets_results_in_the_order_of_their_calls():
    both = Message("tool", (*T("2", "b").parts, *T("1", "a").parts))
    messages = (U("t"), A(c("1"), c("2")), both, A("x"))
    after = repaired(*messages, dialect="gemini")
    assert [result.text for result in after[2].results] == ["a", "b"]
    assert repair(after, "gemini") == ()
    assert repaired(*messages, dialect="anthropic")[2].parts == both.parts


def test_gemini_gets_no_call_directly_after_another_model_message():
    after = repaired(U("t"), A("x"), A(c("1")), T("1"), dialect="gemini")
    assert [message.text for message in after[:3]] == ["t", "x", GAP]


def test_anthropic_gets_no_reasoning_in_the_middle_of_a_turn():
    thinking = Message("assistant", (Thinking("hm", signed=True), Text("b")))
    after = repaired(U("t"), A("a"), thinking, dialect="anthropic")
    assert after[2].parts == (Omitted("repair"), Text("b"))


def test_responses_gets_no_dangling_reasoning():
    thought = Message("assistant", (Thinking("hm"),))
    assert words(repaired(U("t"), thought, U("u"), thought, dialect="openai-responses")) == [
        *("U:t", "U:u"),
    ]
    assert repair(log(U("t"), thought, A("a")), "openai-responses") == ()


@pytest.mark.parametrize("dialect", ["openai-chat", "anthropic", "gemini"])
def test_a_conversation_that_starts_with_the_model_gets_a_first_user_message(dialect):
    after = repaired(S("s"), A("hello"), U("t"), dialect=dialect)
    assert [message.text for message in after] == ["s", START, "hello", "t"]


# --- ids -----------------------------------------------------------------------------------


def test_repeated_ids_become_unique_where_required_in_calls_and_results():
    messages = (U("t"), A(c("1")), T("1", "a"), A(c("1")), T("1", "b"))
    after = repaired(*messages, dialect="anthropic")
    ids = [call.id for message in after for call in message.calls]
    assert len(set(ids)) == 2
    assert results(after) == {ids[0]: "a", ids[1]: "b"}
    for other in ("openai-chat", "gemini", "openai-responses"):
        assert repair(log(*messages), other) == ()


def test_repeated_ids_in_one_message_become_unique_on_every_wire_with_ids():
    after = repaired(U("t"), A(c("1"), c("1")), T("1", "a"), T("1", "b"), A("x"))
    assert len(results(after)) == 2


# --- edits like any other ------------------------------------------------------------------


def test_repairing_twice_does_nothing_more():
    broken = (A(c("1")), T("zz"), U(""), A(c("1")), T("1"), U("u"), A(c("2")), U("v"))
    for dialect in ("openai-chat", "anthropic", "gemini", "openai-responses", "langchain"):
        once = repaired(*broken, dialect=dialect)
        assert repair(once, dialect) == ()


def test_every_repair_is_recorded_as_one():
    edits = repair(log(A(c("1")), T("zz"), U("u")), "anthropic")
    assert edits
    assert {edit.kind for edit in edits} == {"repair"}
    inserted = [edit.message for edit in edits if isinstance(edit, Insert)]
    assert all(message.origin == "repair" for message in inserted)
