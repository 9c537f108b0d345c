import pytest
from tests.neutral import A, T, U, c

from foldline.values.messages import (
    Media,
    Message,
    Omitted,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    visible_texts,
)


def test_nothing_about_a_message_can_be_changed_in_place():
    message = U("hi")
    with pytest.raises(AttributeError, match="cannot assign"):
        message.role = "tool"
    with pytest.raises(AttributeError, match="cannot assign"):
        message.parts[0].text = "bye"


def test_a_changed_part_gives_a_new_message_that_is_not_intact():
    message = Message("user", (Text("a"), Text("b")), raw={"role": "user"}, dialect="anthropic")
    changed = message.with_part(1, Text("c"))
    assert changed.text == "a\nc"
    assert (changed.intact, message.intact) == (False, True)
    assert changed.raw is message.raw
    assert changed.parts[0] is message.parts[0]


def test_wire_originals_do_not_make_messages_unequal():
    assert Message("user", (Text("a", raw=1),), raw=1, id="x") == Message("user", (Text("a"),))


def test_the_text_of_a_result_omits_media():
    result = ToolResult("1", (Text("a"), Media("image"), Opaque("x", "b")))
    assert result.text == "a\nb"
    assert ToolResult("1", ()).text == ""


@pytest.mark.parametrize(
    ("message", "spoken"),
    [
        (U("hi"), True),
        (U("  "), False),
        (Message("user", (Media("image"),)), True),
        (Message("user", T("1").parts), False),
        (Message("user", (*T("1").parts, Text("and then?"))), True),
        (A("hi"), False),
        (T("1"), False),
        (Message("user", (Text("[a note]"),), origin="repair"), False),
        (Message("user", ()), False),
    ],
)
def test_a_message_is_from_the_user_only_with_text_of_a_person(message, spoken):
    assert message.is_from_user() is spoken


def test_calls_and_results_are_found_among_other_parts():
    message = A("let me see", c("1"), c("2"))
    assert [call.id for call in message.calls] == ["1", "2"]
    assert message.text == "let me see"
    assert T("1").results[0].call_id == "1"


def test_visible_texts_are_everything_but_media_and_omitted_parts():
    message = Message(
        "assistant",
        (Thinking("hm"), Text("a"), ToolCall("1", "run", "{}"), Omitted("clear"), Media("image")),
    )
    assert list(visible_texts(message)) == ["hm", "a", "run", "{}"]
    assert list(visible_texts(T("1", "out"))) == ["out"]


def test_usage_counts_everything_in_the_window_after_the_answer():
    assert Usage(1_000, 500, 200, 100).total == 1_800
