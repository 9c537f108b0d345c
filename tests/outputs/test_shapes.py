"""Rows of one shape, read by an expression."""

import json

from hypothesis import given
from hypothesis import strategies as st
from tests.outputs.reading import parse

from foldline.outputs.json_text import scan
from foldline.outputs.shapes import read_shape, value_of
from foldline.outputs.tables import header

CELL = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.lists(st.integers() | st.text()),
    st.sampled_from(["null", "1.5", "x, ", ', "y', "a\\", "[", "}"]),
)


@given(
    st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=8),
    st.sampled_from([None, 2]),
    st.booleans(),
)
def test_the_table_says_the_same_as_the_json(cells, indent, ascii_only):
    rows = [{"id": a, "at": {"x": b, "y_z": c}} for a, b, c in cells]
    text = json.dumps(rows, indent=indent, ensure_ascii=ascii_only)
    found = read_shape(text, 0)
    if found is not None:
        assert found.end == len(text)
        assert parse([header(found.paths), *found.lines]) == scan(text, 0)[0]
        assert all(text[a] + text[b - 1] == "{}" for a, b in found.spans)


def test_plain_rows_are_always_of_one_shape():
    found = read_shape(
        json.dumps([{"id": n, "name": f"n {n}", "tags": ["a"]} for n in range(50)]), 0
    )
    assert found is not None
    assert found.lines[7] == '7, n 7, ["a"]'
    assert value_of(found.cells[7][1]) == "n 7"


def test_rows_of_different_shapes_are_left_to_the_parser():
    assert read_shape('[{"a": 1}, {"b": 1}]', 0) is None
    assert read_shape("[1, 2]", 0) is None
    assert read_shape('[{"a": 1}, {"a": 1', 0) is None
    assert read_shape('[{"a": 1, "a": 2}]', 0) is None
