from __future__ import annotations

import json
from dataclasses import replace

import pytest

from foldline.errors import InputError
from foldline.formats.json_document import at, reading, recorded, rewritten, unchanged
from foldline.formats.source import Source
from foldline.values.messages import Message, Text
from foldline.values.transcript import Transcript

WIRES = [{"t": "eins"}, {"t": "zwölf"}]


def transcript(source: Source) -> Transcript:
    wires = source.document["m"]
    return Transcript.of([Message("user", (Text(w["t"]),), w, "x") for w in wires], "x")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_changed_document_keeps_its_encoding(encoding: str) -> None:
    text = json.dumps({"m": WIRES, "n": 1}, ensure_ascii=False)
    source = Source.of(text.encode(encoding))
    there = transcript(source)
    recording = recorded("x", source, [("one", ("m",), there)])
    assert rewritten(recording, lambda *_: pytest.fail("nothing changed")) is source.data

    changed = recording.with_transcript(0, there.with_messages(there.messages[1:]))
    data = rewritten(changed, lambda _, __, now: [m.raw for m in now.messages])
    assert data == json.dumps({"m": WIRES[1:], "n": 1}, ensure_ascii=False).encode(encoding)


def test_a_pinned_message_is_unchanged_and_a_moved_one_is_not() -> None:
    there = transcript(Source.of(json.dumps({"m": WIRES}).encode()))
    one, two = there.messages
    assert unchanged((one, two), (replace(one, pinned=True), two))
    assert not unchanged((one, two), (two, one))
    assert not unchanged((one, two), (one,))
    assert not unchanged((one, two), (one.with_parts((Text("other"),)), two))


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
def test_what_stands_at_a_path(path: tuple[str | int, ...], found: object) -> None:
    assert at({"a": [0, {"b": 7}]}, path) == found


def test_an_error_about_a_message_names_the_conversation_too() -> None:
    with pytest.raises(InputError) as caught, reading("task 3"):
        raise InputError("it is empty", index=4, field="content", hint="Say something.")
    assert str(caught.value) == "task 3, message 4, field content: it is empty. Say something."
    assert (caught.value.index, caught.value.field) == (4, "content")
