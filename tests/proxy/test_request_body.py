"""Unchanged messages of a body are sent byte for byte."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.errors import InputError
from foldline.proxy.request_body import (
    add_cache_mark,
    cache_mark,
    read_body,
    strip_cache_marks,
    write_message,
)

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.lists(values, min_size=1, max_size=5),
    st.dictionaries(st.text().filter(lambda name: name != "messages"), values, max_size=3),
    st.sampled_from([None, 1, 4]),
    st.booleans(),
)
def test_a_body_with_unchanged_messages_is_identical_bytes(messages, around, indent, plain):
    value = {**around, "messages": messages, "stream": True}
    data = json.dumps(value, indent=indent, ensure_ascii=plain).encode("utf-8", "backslashreplace")
    body = read_body(data, "messages")
    assert body.messages == messages
    assert body.fields == {k: v for k, v in value.items() if k != "messages"}
    assert body.with_messages(range(len(messages))) == data


@given(st.lists(values, min_size=2, max_size=6), st.data())
def test_a_changed_message_keeps_everything_before_it_unchanged(messages, data):
    sent = json.dumps({"messages": messages, "model": "m"}).encode()
    body = read_body(sent, "messages")
    at = data.draw(st.integers(0, len(messages) - 1))
    pieces = [write_message({"other": True}) if i == at else i for i in range(len(messages))]
    written = body.with_messages(pieces)
    assert written.startswith(sent[: body.spans[at][0]])
    assert json.loads(written)["messages"] == [
        *messages[:at],
        {"other": True},
        *messages[at + 1 :],
    ]


def test_a_lone_surrogate_is_written_as_its_original_escape():
    body = read_body(b'{"messages": [{"content": "a\\ud83d"}, 2]}', "messages")
    written = body.with_messages([write_message(body.messages[0]), 1])
    assert json.loads(written) == {"messages": [{"content": "a\ud83d"}, 2]}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b'{"messages": []}',
        b'{"messages": "hello"}',
        b'{"model": "m"}',
        b'{"messages": [1], "messages": [2]}',
        b'{"a": 1, "a": 2, "messages": [1]}',
        b'{"messages": [1,]}',
        b'{"messages": [1]} {"messages": [2]}',
        b'{"messages": [1] "model": 1}',
        b'\xff{"messages": [1]}',
        b'{"messages": [' + b"[" * 100_000 + b"]" * 100_000 + b"]}",
        b'{"a": ' + b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b', "messages": [1]}',
    ],
)
def test_ambiguous_bodies_are_rejected(data):
    with pytest.raises(InputError):
        read_body(data, "messages")


MARK = {"type": "ephemeral"}


def test_a_message_without_marks_is_the_same_object():
    message = {"role": "user", "content": [{"type": "text", "text": "hi"}]}
    assert strip_cache_marks(message) is message
    assert strip_cache_marks("text") == "text"


def test_marks_are_removed_from_blocks_and_from_blocks_in_results():
    result = {"type": "tool_result", "content": [{"type": "text", "cache_control": MARK}]}
    message = {"role": "user", "content": [result, {"type": "text", "cache_control": MARK}]}
    bare = {"type": "tool_result", "content": [{"type": "text"}]}
    assert strip_cache_marks(message) == {"role": "user", "content": [bare, {"type": "text"}]}
    assert cache_mark(message) == MARK
    assert cache_mark(strip_cache_marks(message)) is None


def test_a_mark_is_added_to_the_last_block_that_can_have_one():
    assert add_cache_mark({"role": "user", "content": "hi"}, MARK)["content"] == [
        {"type": "text", "text": "hi", "cache_control": MARK}
    ]
    thought = {"role": "assistant", "content": [{"type": "thinking", "thinking": "…"}]}
    assert add_cache_mark(thought, MARK) is thought
    assert add_cache_mark("text", MARK) == "text"
