"""JSON outputs as rows."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.outputs.reading import parse

from foldline.outputs.json_rows import json_rows
from foldline.outputs.json_text import scan
from foldline.values.part_text import MAX_LINE

ROWS = [{"id": n, "name": f"name {n}", "state": ("on", "off")[n % 2]} for n in range(40)]


def rows(value, **layout):
    return json_rows(json.dumps(value, **layout), 0)[0]


def test_an_array_of_objects_becomes_a_table_with_its_keys_once():
    made = rows(ROWS)
    assert made.lines[0] == "[…] 40 rows: id, name, state"
    assert made.lines[8] == "[7] 7, name 7, off"
    assert made.verbatim(8) == json.dumps(ROWS[7])
    assert made.head(8) == 0


def test_values_of_columns_that_have_few_are_counted():
    assert rows(ROWS).lines[-1] == "[…] state: on 20, off 20"


@pytest.mark.parametrize("indent", [None, 2])
def test_a_table_that_is_everything_has_a_form_without_loss(indent):
    text = json.dumps(ROWS, indent=indent)
    made = json_rows(text, 0)[0]
    assert made.lossless
    assert len(made.whole) < len(text) / 2
    assert parse(made.whole.split("\n")) == scan(text, 0)[0]


def test_records_too_large_for_a_row_are_taken_apart_by_path():
    made = rows({"data": {"users": [{"name": "Mei", "bio": "x" * 1_500}, {"name": "Ann"}]}})
    assert any(line.startswith('data.users[0] {"name": "Mei"}') for line in made.lines)
    assert any(line.startswith("data.users[1] ") and "Ann" in line for line in made.lines)
    assert not made.lossless


def test_a_long_text_in_json_is_told_line_by_line():
    made = rows({"output": "\n".join(f"line {n} of the text" for n in range(50)), "exit_code": 3})
    assert "line 33 of the text" in made.lines
    assert any('"exit_code": 3' in line for line in made.lines)


def test_json_lines_are_a_table():
    text = "\n".join(map(json.dumps, ROWS))
    made, end = json_rows(text, 0)
    assert made.lines[0] == "[…] 40 rows: id, name, state"
    assert made.verbatim(8) == json.dumps(ROWS[7])
    assert end == len(text)


def test_what_is_broken_off_keeps_the_rows_that_are_there():
    text = json.dumps(ROWS)[:900]
    made, end = json_rows(text, 0)
    assert any('"name 7"' in made.verbatim(place) for place in range(len(made.lines)))
    assert not made.lossless
    assert end <= len(text)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=30,
    ).filter(lambda value: isinstance(value, (list, dict)))
)
def test_whatever_the_json_rows_are_single_lines_of_bounded_length(value):
    made = rows(value)
    assert all("\n" not in line and len(line) <= MAX_LINE for line in made.lines)
    assert all(0 <= place < len(made.lines) for place in (*made.worth, *made.heads, *made.spans))
