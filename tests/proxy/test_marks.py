"""Marks for the cache are no part of what is said, and find a new place when theirs is gone."""

from foldline.proxy.marks import mark_of, marked, unmarked

MARK = {"type": "ephemeral"}


def test_a_message_without_marks_is_the_same_object():
    message = {"role": "user", "content": [{"type": "text", "text": "hi"}]}
    assert unmarked(message) is message
    assert unmarked("text") == "text"


def test_marks_are_taken_from_blocks_and_from_the_blocks_in_results():
    result = {"type": "tool_result", "content": [{"type": "text", "cache_control": MARK}]}
    message = {"role": "user", "content": [result, {"type": "text", "cache_control": MARK}]}
    bare = {"type": "tool_result", "content": [{"type": "text"}]}
    assert unmarked(message) == {"role": "user", "content": [bare, {"type": "text"}]}
    assert mark_of(message) == MARK
    assert mark_of(unmarked(message)) is None


def test_a_mark_is_put_at_the_last_block_that_can_have_one():
    assert marked({"role": "user", "content": "hi"}, MARK)["content"] == [
        {"type": "text", "text": "hi", "cache_control": MARK}
    ]
    thought = {"role": "assistant", "content": [{"type": "thinking", "thinking": "…"}]}
    assert marked(thought, MARK) is thought
    assert marked("text", MARK) == "text"
