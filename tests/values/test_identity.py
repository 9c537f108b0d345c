from __future__ import annotations

import subprocess
import sys
from operator import is_

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.neutral import A, T, U, c

from foldline.values.identity import (
    canonical_json,
    content_hash,
    derived_id,
    identify,
    shared_length,
)
from foldline.values.messages import Message, Text, Thinking


def test_the_same_message_has_the_same_id_in_another_process():
    code = (
        "from foldline.values.identity import content_hash as h\n"
        "from foldline.values.messages import *\n"
        "print(h(Message('user', (Text('你好 👋 \\ud800'),))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == content_hash(U("你好 👋 \ud800"))


def test_an_id_does_not_depend_on_the_envelope():
    bare = U("hi")
    wrapped = Message("user", (Text("hi", raw={"x": 1}),), raw={"y": 2}, dialect="gemini")
    assert content_hash(bare) == content_hash(wrapped)


def test_an_id_depends_on_text_and_position_of_parts():
    texts = [
        U("ab"),
        A("ab"),
        Message("user", (Text("a"), Text("b"))),
        Message("user", (Text("ab"),), name="me"),
        A(c("ab")),
        A(c("a", "b")),
        T("1", "ab"),
        T("1", "ab", is_error=True),
        Message("assistant", (Thinking("ab"),)),
        Message("assistant", (Thinking("ab", signed=True, raw={"signature": "x"}),)),
        Message("assistant", (Thinking("ab", signed=True, raw={"signature": "y"}),)),
    ]
    assert len({content_hash(message) for message in texts}) == len(texts)


def test_repeated_messages_get_ids_by_occurrence():
    first = identify([U("ok"), U("ok"), U("ok")])
    assert len({message.id for message in first}) == 3
    assert identify([U("ok"), U("ok")]) == first[:2]
    assert [m.id for m in identify([U("ok"), U("ok")])] == [m.id for m in first[:2]]


def test_taken_ids_are_not_reused():
    (first,) = identify([U("ok")])
    (second,) = identify([U("ok")], taken=[first.id])
    assert first.id != second.id


@given(st.lists(st.sampled_from(["a", "b", "c"]), max_size=12))
def test_ids_of_a_prefix_never_depend_on_what_follows(texts):
    whole = identify([U(text) for text in texts])
    for size in range(len(texts)):
        assert [m.id for m in identify([U(t) for t in texts[:size]])] == [
            m.id for m in whole[:size]
        ]
    assert len({message.id for message in whole}) == len(whole)


def test_equal_values_share_one_json_form():
    assert canonical_json({"b": 1, "a": "é"}) == canonical_json({"a": "é", "b": 1})
    assert canonical_json({"a": "é"}) == '{"a":"é"}'


def test_derived_ids_differ_from_each_other_and_have_the_usual_form():
    assert derived_id("a", "b") != derived_id("b", "a")
    assert len(derived_id("a")) == 32


def test_texts_with_half_a_surrogate_pair_make_an_id_too():
    assert derived_id("\udcff half") == derived_id("\udcff half") != derived_id("half")


@pytest.mark.parametrize(
    ("left", "right", "length"),
    [
        ("", "", 0),
        ("abc", "abd", 2),
        ("abc", "abcd", 3),
        ("abcb", "xbcb", 0),
        ([1, 2], (1, 2), 2),
        ([float("nan")], [float("nan")], 0),
    ],
)
def test_the_shared_length_ends_at_the_first_difference(left, right, length):
    assert shared_length(left, right) == shared_length(right, left) == length


def test_an_item_is_always_equal_to_itself():
    item = float("nan")
    assert shared_length([item], [item]) == 1


def test_the_caller_defines_equality():
    one, other = [1], [1]
    assert shared_length([one, one], [one, other], is_) == 1
    assert shared_length(["a", "b"], [1, 2], lambda word, number: ord(word) == number + 96) == 2
