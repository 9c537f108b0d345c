"""Tables of objects: whatever the objects hold, they can be read again."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.outputs.reading import parse

from foldline.outputs.json_text import scan
from foldline.outputs.tables import columns, condense_delimited, delimiter, header, row

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
    st.sampled_from(
        ["null", "true", "12", "-1.5e3", "a, b", '"', "", " x", "x ", "2025-01-02", "数"]
    ),
)
CELLS = st.one_of(SCALARS, st.lists(SCALARS, max_size=3), st.dictionaries(st.text(), SCALARS))
KEYS = st.lists(st.text(min_size=0, max_size=8), min_size=1, max_size=5, unique=True)


@st.composite
def objects(draw):
    keys = draw(KEYS)
    rows = [
        {key: draw(CELLS) for key in keys if draw(st.integers(0, 9))}
        for _ in range(draw(st.integers(1, 6)))
    ]
    return [row for row in rows if row] or [{keys[0]: 1}]


def read(value):
    return scan(json.dumps(value), 0)[0]


@given(objects())
def test_what_is_written_as_a_table_is_read_again_exactly(found):
    values = [read(item) for item in found]
    paths = columns(values)
    if paths is not None:
        assert parse([header(paths), *(row(value, paths) for value in values)]) == values


@pytest.mark.parametrize("number", ["1" * 60, "0.1000", "1e400", "-0", "123456789012345678901.5"])
def test_numbers_keep_every_digit(number):
    value = scan(f'{{"n": {number}}}', 0)[0]
    assert row(value, (("n",),)) == number
    assert parse(["n", number]) == [value]


def test_keys_are_written_once_and_nested_ones_get_columns_of_their_own():
    values = [read({"id": n, "at": {"city": "Oslo", "zip": n}}) for n in range(3)]
    paths = columns(values)
    assert header(paths) == "id, at.city, at.zip"
    assert row(values[2], paths) == "2, Oslo, 2"


def test_objects_that_share_no_order_of_keys_are_no_table():
    assert columns([read({"a": 1, "b": 2}), read({"b": 1, "a": 2})]) is None
    assert columns([read([1]), read({"a": 1})]) is None


@pytest.mark.parametrize("lines", [["a, b", "1"], ["", "1"], ["a", '"open']])
def test_what_is_no_table_is_an_error(lines):
    with pytest.raises(ValueError):  # noqa: PT011  # whichever sentence
        parse(lines)


NAMES = ("account", "holder", "tier")


def lines(mark):
    rows = ((str(1000 + n), f"holder {n}", ("gold", "basic")[n % 2]) for n in range(30))
    return [mark.join(row) for row in (NAMES, *rows)]


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_mark_between_columns_is_found(mark):
    assert delimiter(lines(mark)) == mark


def test_the_names_of_the_columns_stay_above_all_rows():
    made = condense_delimited(lines(","), ",")
    assert made.worth[0] == 1.0
    assert made.head(17) == 0
    assert made.lines[17] == "1016,holder 16,gold"


def test_values_of_columns_that_have_few_are_counted():
    assert condense_delimited(lines(","), ",").lines[-1] == "[30 rows; tier: gold 15, basic 15]"


def test_quoted_commas_do_not_hide_a_table():
    quoted = lines(",")
    quoted[4] = '1003,"Li, Ann",gold'
    assert delimiter(quoted) == ","
    assert condense_delimited(quoted, ",").lines[4] == '1003,"Li, Ann",gold'


@pytest.mark.parametrize(
    "text", ["one, two, three\n" + "a sentence\n" * 9, "1,2,3\n" * 9, "short,a,b\n1,2,3"]
)
def test_other_texts_are_no_tables(text):
    assert delimiter(text.strip().split("\n")) == ""
