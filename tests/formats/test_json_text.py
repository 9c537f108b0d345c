from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.errors import InputError
from foldline.formats.json_text import members, replaced, style_of

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
objects = st.lists(st.dictionaries(st.text(), values, max_size=4), min_size=1, max_size=6)
layouts = st.fixed_dictionaries(
    {
        "indent": st.sampled_from([None, 1, 2, 4, "\t"]),
        "ensure_ascii": st.booleans(),
        "separators": st.sampled_from([(",", ": "), (",", ":"), (", ", ": ")]),
    }
)


@given(objects, values, layouts, st.data())
def test_a_changed_list_reads_as_the_new_one_and_kept_items_keep_their_text(
    items: list[Any], new: Any, layout: dict[str, Any], data: Any
) -> None:
    document = {"before": [1.0, "x"], "deep": [{"list": items}], "after": {"é": None}}
    text = json.dumps(document, **layout) + "\n"
    read = json.loads(text)
    kept = data.draw(st.lists(st.sampled_from(read["deep"][0]["list"]), max_size=6))
    wanted = [*kept, new]

    written = replaced(text, read, {("deep", 0, "list"): wanted})

    assert json.loads(written) == {**read, "deep": [{"list": wanted}]}
    start = text.index(json.dumps("deep"))
    assert written[:start] == text[:start]
    assert written.endswith(text[text.rindex('"after"') :])


def test_characters_outside_the_list_stay_even_where_json_would_write_them_otherwise() -> None:
    text = '{ "n": 1.50e+2,  "m": [ {"a": 1} , {"b":2.0} ],"z":"\\u00e9" }\r\n'
    read = json.loads(text)
    written = replaced(text, read, {("m",): [read["m"][1]]})
    assert written == '{ "n": 1.50e+2,  "m": [ {"b":2.0} ],"z":"\\u00e9" }\r\n'


def test_new_items_take_the_indentation_of_their_neighbours() -> None:
    text = json.dumps({"m": [{"a": {"b": 1}}]}, indent=4)
    read = json.loads(text)
    new = {"a": {"b": 2}}
    written = replaced(text, read, {("m",): [*read["m"], new]})
    assert written == json.dumps({"m": [*read["m"], new]}, indent=4)


def test_several_lists_change_at_once() -> None:
    text = json.dumps([{"m": [1]}, {"m": [2]}, {"m": [3]}])
    read = json.loads(text)
    written = replaced(text, read, {(0, "m"): [], (2, "m"): [3, 4]})
    assert written == '[{"m": []}, {"m": [2]}, {"m": [3, 4]}]'


def test_of_repeated_keys_the_last_one_changes() -> None:
    text = '{"m": [1], "m": [2]}'
    assert replaced(text, json.loads(text), {("m",): [5]}) == '{"m": [1], "m": [5]}'


@pytest.mark.parametrize("escaped", [True, False])
def test_a_document_keeps_its_way_with_characters_outside_ascii(escaped: bool) -> None:
    text = json.dumps({"m": [{"t": "汉字"}]}, ensure_ascii=escaped)
    written = replaced(text, json.loads(text), {("m",): [{"t": "新"}]})
    assert written == json.dumps({"m": [{"t": "新"}]}, ensure_ascii=escaped)


def test_half_a_surrogate_pair_is_written_so_that_it_can_be_encoded() -> None:
    text = '{"m": ["é"]}'
    written = replaced(text, json.loads(text), {("m",): ["\ud83d"]})
    assert written.encode("utf-8") == b'{"m": ["\\ud83d"]}'


def test_members_are_found_with_their_keys() -> None:
    text = ' {"a" : [1, 2], "b":{}}'
    assert [(m.key, text[m.start : m.end]) for m in members(text, 1)] == [
        ("a", "[1, 2]"),
        ("b", "{}"),
    ]


def test_a_value_too_deep_to_write_is_an_error_of_ours() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InputError, match="too deeply"):
        style_of("[]").dumps(deep)
