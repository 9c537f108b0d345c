"""Packed texts: they say the same in less memory."""

import sys
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from foldline.session.history import LEAST, PackedText, packed
from foldline.values.edit_json import edits_from_json, edits_to_json
from foldline.values.edits import Drop, Fold, Insert
from foldline.values.messages import Message, Text

LONG = "what was said → and done\n" * LEAST


@given(st.text(st.characters(codec=None)))
def test_a_packed_text_is_the_same_text(text):
    one = PackedText(text)
    assert one.text == text
    assert one == Text(text)
    assert Text(text) == one
    assert hash(one) == hash(Text(text))
    assert replace(one, text="other") == Text("other")


def test_it_takes_less_memory():
    assert sys.getsizeof(PackedText(LONG)._packed) * 7 < sys.getsizeof(LONG)


def test_an_edit_with_packed_texts_is_equal_and_stored_alike():
    message = Message("user", (Text(LONG),), id="1f", origin="snapshot")
    edits = (Fold(("2a", "3b"), message), Insert("2a", message), Drop(("4c",), "window"))
    small = tuple(map(packed, edits))
    assert small == edits
    assert edits_to_json(small) == edits_to_json(edits)
    assert edits_from_json(edits_to_json(small)) == edits
