"""The pieces of a memory."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.errors import InputError
from foldline.memory import Memory
from foldline.memory.items import as_kind, clamped, fingerprint


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
            clamped(value)
    else:
        assert 0 <= clamped(value) <= 1


@given(st.text())
def test_a_fingerprint_can_be_made_of_any_text(text):
    assert fingerprint(text) == fingerprint(f"  {text} ") or not text.strip()
    assert len(fingerprint(text)) == 16
