import pytest
from tests.neutral import T, U, c, view

from foldline.core.asks import drive
from foldline.core.strategy import CompactionContext
from foldline.formats.registry import dialect
from foldline.repair.repair import repair
from foldline.strategies.reasoning import Reasoning
from foldline.values.handles import handles
from foldline.values.messages import Message, Omitted, Text, Thinking


def thinking(*parts):
    return Message("assistant", (Thinking("hm", signed=True), *parts))


def propose(found):
    context = CompactionContext(0, 0, 1, handles(found.messages))
    return drive(Reasoning().propose(found, context), lambda _: None)


def test_reasoning_of_finished_turns_is_removed_as_a_whole():
    found = view(U("t"), thinking(Text("a")), U("u"))
    after = found.after(propose(found).edits)
    assert after.messages[1].parts == (Omitted("reasoning"), Text("a"))


def test_reasoning_since_the_latest_user_message_stays_untouched():
    found = view(U("t"), U("u"), thinking(c("1")), T("1"), thinking(Text("a")))
    assert propose(found).edits == ()


def test_the_reasoning_of_a_running_call_stays():
    found = view(U("t"), thinking(c("1")), U("hurry"), thinking(c("2")))
    touched = {edit.message for edit in propose(found).edits}
    assert found.messages[3].id not in touched


def test_without_old_reasoning_the_plan_is_empty_with_a_reason():
    assert propose(view(U("t"))).reason == "no old reasoning"


def responses(led_to):
    """A finished turn in which reasoning led to one item, and the beginning of another turn."""
    return [
        {"role": "user", "content": "Task."},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2ln"},
        led_to,
        {"role": "user", "content": "Go on."},
    ]


@pytest.mark.requirement("F21")
@pytest.mark.parametrize(
    "led_to",
    [
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Yes."}],
        },
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_1",
            "name": "f",
            "arguments": "{}",
        },
    ],
)
def test_output_after_removed_reasoning_stays_without_its_provider_id(led_to):
    wire = dialect("openai-responses")
    found = view(*wire.decode(responses(led_to)).messages, dialect=wire.name)
    after = found.after(propose(found).edits)
    after = after.after(repair(after.messages, wire.name))
    written = wire.messages(after.messages)
    assert written[1] == {key: value for key, value in led_to.items() if key != "id"}
    assert [item.get("type") for item in written].count("reasoning") == 0


@pytest.mark.requirement("F21")
def test_reasoning_that_led_to_a_hosted_tool_stays_with_it():
    wire = dialect("openai-responses")
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    found = view(*wire.decode(responses(search)).messages, dialect=wire.name)
    assert propose(found).edits == ()
