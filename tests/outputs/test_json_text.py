"""JSON, piece by piece."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.outputs.json_text import children, is_object, one_line, scan, write_value

VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(VALUES)
def test_what_is_read_is_written_with_the_same_meaning(value):
    text = json.dumps(value)
    assert json.loads(write_value(scan(text, 0)[0])) == value


@given(VALUES, st.sampled_from([None, 1, 4]))
def test_a_value_over_several_lines_is_put_on_one_as_it_would_be_written(value, indent):
    assert one_line(json.dumps(value, indent=indent)) == json.dumps(value)


def test_members_are_found_with_their_places():
    text = ' {"a": [1, 2], "b": {"c": null}} tail'
    found = list(children(text, 1))
    assert [(m.key, text[m.start : m.end]) for m in found] == [
        ("a", "[1, 2]"),
        ("b", '{"c": null}'),
    ]
    assert is_object(found[1].value)


@pytest.mark.parametrize("text", ["[1, 2", "[1 2]", '{"a" 1}', "{1: 2}", "[" * 100_000, "{" * 99])
def test_broken_json_is_an_error_and_not_a_crash(text):
    with pytest.raises(ValueError):  # noqa: PT011  # whichever sentence
        list(children(text, 0))
