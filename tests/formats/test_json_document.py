from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.errors import InputError
from foldline.formats.fields import prefix_errors
from foldline.formats.json_document import (
    JsonFormat,
    Path,
    at,
    is_unchanged,
    members,
    replace_values,
    style_of,
)
from foldline.formats.source import TranscriptSource
from foldline.values.messages import Message, Text
from foldline.values.transcript import Transcript

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
def test_a_changed_list_parses_as_the_new_one_and_kept_items_keep_their_text(
    items: list[Any], new: Any, layout: dict[str, Any], data: Any
) -> None:
    document = {"before": [1.0, "x"], "deep": [{"list": items}], "after": {"é": None}}
    text = json.dumps(document, **layout) + "\n"
    read = json.loads(text)
    kept = data.draw(st.lists(st.sampled_from(read["deep"][0]["list"]), max_size=6))
    wanted = [*kept, new]

    written = replace_values(text, read, {("deep", 0, "list"): wanted})

    assert json.loads(written) == {**read, "deep": [{"list": wanted}]}
    start = text.index(json.dumps("deep"))
    assert written[:start] == text[:start]
    assert written.endswith(text[text.rindex('"after"') :])


def test_text_outside_the_list_is_preserved_in_any_encoding_of_json() -> None:
    text = '{ "n": 1.50e+2,  "m": [ {"a": 1} , {"b":2.0} ],"z":"\\u00e9" }\r\n'
    read = json.loads(text)
    written = replace_values(text, read, {("m",): [read["m"][1]]})
    assert written == '{ "n": 1.50e+2,  "m": [ {"b":2.0} ],"z":"\\u00e9" }\r\n'


def test_new_items_take_the_indentation_of_their_neighbours() -> None:
    text = json.dumps({"m": [{"a": {"b": 1}}]}, indent=4)
    read = json.loads(text)
    new = {"a": {"b": 2}}
    written = replace_values(text, read, {("m",): [*read["m"], new]})
    assert written == json.dumps({"m": [*read["m"], new]}, indent=4)


def test_several_lists_can_change_together() -> None:
    text = json.dumps([{"m": [1]}, {"m": [2]}, {"m": [3]}])
    read = json.loads(text)
    written = replace_values(text, read, {(0, "m"): [], (2, "m"): [3, 4]})
    assert written == '[{"m": []}, {"m": [2]}, {"m": [3, 4]}]'


def test_the_last_of_repeated_keys_changes() -> None:
    text = '{"m": [1], "m": [2]}'
    assert replace_values(text, json.loads(text), {("m",): [5]}) == '{"m": [1], "m": [5]}'


@pytest.mark.parametrize("escaped", [True, False])
def test_a_document_keeps_its_escaping_of_non_ascii_characters(escaped: bool) -> None:
    text = json.dumps({"m": [{"t": "汉字"}]}, ensure_ascii=escaped)
    written = replace_values(text, json.loads(text), {("m",): [{"t": "新"}]})
    assert written == json.dumps({"m": [{"t": "新"}]}, ensure_ascii=escaped)


def test_a_lone_surrogate_is_escaped() -> None:
    text = '{"m": ["é"]}'
    written = replace_values(text, json.loads(text), {("m",): ["\ud83d"]})
    assert written.encode("utf-8") == b'{"m": ["\\ud83d"]}'


def test_members_are_found_with_their_keys() -> None:
    text = ' {"a" : [1, 2], "b":{}}'
    assert [(m.key, text[m.start : m.end]) for m in members(text, 1)] == [
        ("a", "[1, 2]"),
        ("b", "{}"),
    ]


def test_a_value_nested_too_deeply_to_write_is_an_input_error() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InputError, match="too deeply"):
        style_of("[]").dumps(deep)


WIRES = [{"t": "eins"}, {"t": "zwölf"}]


class Entries(JsonFormat):
    name = "x"
    title = "x"

    def recognises(self, source: TranscriptSource) -> float:
        return float(source.document is not None)

    def find(self, document: Any) -> list[tuple[str, Path, Any]]:
        return [("one", ("m",), document)]

    def read(self, wire: Any) -> Transcript:
        return Transcript.of([Message("user", (Text(w["t"]),), w, "x") for w in wire["m"]], "x")

    def write(self, messages: Sequence[Message]) -> list[Any]:
        return [message.raw for message in messages]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_changed_document_keeps_its_encoding(encoding: str) -> None:
    text = json.dumps({"m": WIRES, "n": 1}, ensure_ascii=False)
    source = TranscriptSource.of(text.encode(encoding))
    recording = Entries().decode(source)
    there = recording.current.transcript
    assert Entries().encode(recording) is source.data

    changed = recording.with_transcript(0, there.with_messages(there.messages[1:]))
    data = Entries().encode(changed)
    assert data == json.dumps({"m": WIRES[1:], "n": 1}, ensure_ascii=False).encode(encoding)


def test_a_pinned_message_is_unchanged_and_a_moved_one_is_not() -> None:
    there = Entries().read({"m": WIRES})
    one, two = there.messages
    assert is_unchanged((one, two), (replace(one, pinned=True), two))
    assert not is_unchanged((one, two), (two, one))
    assert not is_unchanged((one, two), (one,))
    assert not is_unchanged((one, two), (one.with_parts((Text("other"),)), two))


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (("a", 1, "b"), 7),
        ((), {"a": [0, {"b": 7}]}),
        (("a", 9), None),
        (("a", "b"), None),
        (("x",), None),
        (("a", 1, "b", "c"), None),
    ],
)
def test_a_path_gives_its_value_or_none(path: tuple[str | int, ...], found: object) -> None:
    assert at({"a": [0, {"b": 7}]}, path) == found


def test_an_error_about_a_message_names_the_conversation_too() -> None:
    with pytest.raises(InputError) as caught, prefix_errors("task 3"):
        raise InputError("it is empty", index=4, field="content", hint="Say something.")
    assert str(caught.value) == "task 3, message 4, field content: it is empty. Say something."
    assert (caught.value.index, caught.value.field) == (4, "content")
