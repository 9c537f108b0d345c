from __future__ import annotations

import base64
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from foldline.evaluation import breakdown
from foldline.tokens.choose import choose_counter
from foldline.values.messages import Media, Message, Opaque, Text, Thinking, ToolCall, ToolResult
from foldline.values.tokens import TokenCounter

COUNTER = TokenCounter(choose_counter(prefer="estimate"))

TEXTS = st.text(max_size=60)
PARTS = st.one_of(
    st.builds(Text, TEXTS),
    st.builds(Thinking, TEXTS),
    st.builds(Opaque, st.just("blob"), TEXTS),
    st.builds(ToolCall, st.sampled_from(["1", "2", None]), TEXTS, TEXTS),
    st.builds(ToolResult, st.sampled_from(["1", "2", None]), st.tuples(st.builds(Text, TEXTS))),
    st.builds(Media, st.just("image"), st.just("image/png"), st.integers(0, 10**6)),
)
MESSAGES = st.lists(
    st.builds(
        Message,
        st.sampled_from(["system", "user", "assistant", "tool"]),
        st.lists(PARTS, max_size=4).map(tuple),
    ),
    max_size=8,
)


@given(MESSAGES)
def test_the_kinds_add_up_to_the_whole(messages: list[Message]) -> None:
    shares = breakdown.by_kind(messages, COUNTER)
    assert sum(share.tokens for share in shares) == COUNTER.messages(messages)


@given(MESSAGES)
def test_waste_is_never_more_than_there_is_by_much(messages: list[Message]) -> None:
    whole = COUNTER.messages(messages)
    assert all(share.tokens >= 0 for share in breakdown.waste(messages, COUNTER))
    # Lines are counted apart from their text, which may take a little more.
    assert sum(share.tokens for share in breakdown.waste(messages, COUNTER)) <= 1.2 * whole + 20


def exchange(number: str, arguments: str, result: str, **of: Any) -> list[Message]:
    return [
        Message("assistant", (ToolCall(number, "read", arguments),)),
        Message("tool", (ToolResult(number, (Text(result),), **of),)),
    ]


def named(messages: list[Message]) -> dict[str, breakdown.Share]:
    return {share.name: share for share in breakdown.waste(messages, COUNTER)}


def test_a_read_that_was_made_again_is_waste_and_the_newest_is_not() -> None:
    same = '{"path": "a.py"}', '{ "path" : "a.py" }', '{"path": "b.py"}'
    messages = [m for n, given in enumerate(same) for m in exchange(str(n), given, f"text {n}")]
    assert named(messages)["superseded reads"].count == 1


def test_a_line_of_an_earlier_result_is_waste_and_one_within_a_result_is_not() -> None:
    line = "def a_function_with_a_long_name(argument):"
    alone = exchange("1", "{}", f"{line}\n{line}")
    assert "repeated lines" not in named(alone)
    twice = [*alone, *exchange("2", '{"x": 1}', f"{line}\nand more")]
    assert named(twice)["repeated lines"].count == 1


def test_reasoning_is_old_once_the_user_has_spoken_again() -> None:
    thought = Message("assistant", (Thinking("I think about it at some length."),))
    asked = Message("user", (Text("And now?"),))
    assert "old reasoning" not in named([asked, thought])
    assert named([asked, thought, asked])["old reasoning"].count == 1


def test_base64_is_counted_once() -> None:
    encoded = base64.b64encode(bytes(range(256)) * 4).decode()
    found = named(exchange("1", "{}", encoded) + exchange("2", '{"x": 1}', encoded))
    assert found["base64 text"].count == 2
    assert "repeated lines" not in found


def test_failed_calls_are_counted_by_tool() -> None:
    messages = exchange("1", "{}", "no", is_error=True) + exchange("2", "{}", "yes")
    (tool,) = breakdown.by_tool(messages, COUNTER)
    assert (tool.calls, tool.errors) == (2, 1)
    assert tool.tokens == tool.call_tokens + tool.result_tokens


def test_the_largest_messages_come_first_with_their_position() -> None:
    messages = [
        Message("user", (Text("short"),)),
        *exchange("1", "{}", "a long result " * 50),
    ]
    first, second = breakdown.largest(messages, COUNTER, 2)
    assert (first.index, first.what) == (2, "result of read")
    assert second.tokens <= first.tokens
