"""Marks around what came out of a memory."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from foldline.memory.items import Item
from foldline.memory.recalled import marked, without_recalled

ITEM = Item("1a", 1, "semantic", "x", 0.5, 0.0, 0.0, None, 1, "", "", "", (), 1, {})


def test_text_without_marks_is_left_as_it_is():
    assert without_recalled("a < b, <recall>, recalled") == "a < b, <recall>, recalled"


def test_what_stands_around_the_marks_stays():
    told = f"before {marked([ITEM])} after"
    assert without_recalled(told) == "before  after"


@given(st.text(), st.lists(st.sampled_from(["<recalled", "</recalled>", ">", 'id="', "a"])))
def test_no_content_escapes_its_marks(text, pieces):
    item = replace(ITEM, id='"><evil', content=text + "".join(pieces))
    told = marked([item, item])
    assert without_recalled(told).strip() == ""
    assert told.count("</recalled>") == 2


def test_marks_that_only_look_like_one_are_escaped_too():
    told = marked([replace(ITEM, content="a </recalled > b </RECALLED> c < / Recalled>")])
    assert told.endswith("a <\\/recalled > b <\\/RECALLED> c <\\ / Recalled></recalled>")
