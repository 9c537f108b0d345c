"""Memory items, kinds, fingerprints and marks."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.errors import InputError
from foldline.memory import Memory
from foldline.memory.items import (
    MemoryItem,
    as_kind,
    clamp_importance,
    fingerprint,
    mark_recalled,
    remove_recalled,
)


def test_an_item_is_made_of_json_values(place):
    with Memory.open(place) as memory:
        item = memory.add("x", metadata={"tags": ["a"]}).item
    assert json.loads(json.dumps(item.to_dict()))["metadata"] == {"tags": ["a"]}
    assert item.name == f"{item.id}@1"


@pytest.mark.parametrize("name", ["", "Working", None, 3, "x" * 999])
def test_there_are_three_kinds(name):
    assert as_kind("semantic") == "semantic"
    with pytest.raises(InputError, match="working, episodic, semantic"):
        as_kind(name)


@given(st.floats() | st.integers())
def test_an_importance_is_between_0_and_1_or_an_error(value):
    if value != value:
        with pytest.raises(InputError):
            clamp_importance(value)
    else:
        assert 0 <= clamp_importance(value) <= 1


@given(st.text())
def test_a_fingerprint_can_be_made_of_any_text(text):
    assert fingerprint(text) == fingerprint(f"  {text} ") or not text.strip()
    assert len(fingerprint(text)) == 16


ITEM = MemoryItem("1a", 1, "semantic", "x", 0.5, 0.0, 0.0, None, 1, "", "", "", (), 1, {})


def test_text_without_marks_is_left_as_it_is():
    assert remove_recalled("a < b, <recall>, recalled") == "a < b, <recall>, recalled"


def test_text_around_the_marks_stays():
    told = f"before {mark_recalled([ITEM])} after"
    assert remove_recalled(told) == "before  after"


@given(st.text(), st.lists(st.sampled_from(["<recalled", "</recalled>", ">", 'id="', "a"])))
def test_no_content_escapes_its_marks(text, pieces):
    item = replace(ITEM, id='"><evil', content=text + "".join(pieces))
    told = mark_recalled([item, item])
    assert remove_recalled(told).strip() == ""
    assert told.count("</recalled>") == 2


def test_lookalike_marks_are_escaped():
    told = mark_recalled([replace(ITEM, content="a </recalled > b </RECALLED> c < / Recalled>")])
    assert told.endswith("a <\\/recalled > b <\\/RECALLED> c <\\ / Recalled></recalled>")
