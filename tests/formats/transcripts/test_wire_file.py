from __future__ import annotations

import json
from typing import Any

import pytest
from tests.formats.transcripts.editing import assert_identity, edited, messages_of, source_of

from foldline.errors import InputError, UnknownFormat
from foldline.formats.source import TranscriptSource
from foldline.formats.transcripts.wire_file import WireFile
from foldline.values.edits import Drop, Rewrite

FORMAT = WireFile()

CHAT = [
    {"role": "system", "content": "Système."},
    {"role": "user", "content": "Hi"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "found"},
]
ANTHROPIC = [
    {"role": "user", "content": "Hi"},
    {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {}}],
    },
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "found"}],
    },
]
RESPONSES = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
    {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c1", "output": "found"},
]
GEMINI = [
    {"role": "user", "parts": [{"text": "Hi"}]},
    {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]},
    {
        "role": "user",
        "parts": [{"functionResponse": {"name": "look", "response": {"output": "found"}}}],
    },
]
LANGCHAIN = [
    {"type": "human", "content": "Hi"},
    {"type": "ai", "content": "", "tool_calls": [{"name": "look", "args": {}, "id": "c1"}]},
    {"type": "tool", "content": "found", "tool_call_id": "c1"},
]
LISTS = {
    "openai-chat": CHAT,
    "anthropic": ANTHROPIC,
    "openai-responses": RESPONSES,
    "gemini": GEMINI,
    "langchain": LANGCHAIN,
}
BODIES: dict[str, dict[str, Any]] = {
    "openai-chat": {"model": "m", "messages": CHAT, "temperature": 1.50},
    "anthropic": {"model": "m", "system": "S.", "max_tokens": 5, "messages": ANTHROPIC},
    "openai-responses": {"model": "m", "instructions": "S.", "input": RESPONSES},
    "gemini": {"systemInstruction": {"parts": [{"text": "S."}]}, "contents": GEMINI},
    "langchain": {"values": {"messages": LANGCHAIN, "title": "t"}, "next": []},
}
WIRES = [(name, wire) for wires in (LISTS, BODIES) for name, wire in wires.items()]


@pytest.mark.parametrize(("name", "wire"), WIRES)
def test_a_wire_value_of_every_dialect_is_read_and_changed_in_place(name: str, wire: Any) -> None:
    source = source_of(wire, ensure_ascii=False)
    assert 0 < FORMAT.recognises(source) <= 0.5
    recording = assert_identity(FORMAT, source)
    assert recording.conversations[0].transcript.dialect == name
    result = next(m for m in messages_of(recording) if m.results)

    data, again = edited(FORMAT, recording, [Rewrite(result.id, 0, "[cleared]", "clear")])
    assert next(m for m in messages_of(again) if m.results).results[0].text == "[cleared]"
    before, after = source.text.splitlines(), data.decode().splitlines()
    assert [new for new in after if new not in before] == [
        line.replace("found", "[cleared]") for line in before if "found" in line
    ]


@pytest.mark.parametrize(("name", "wire"), list(LISTS.items()))
def test_a_file_may_hold_a_message_in_every_line(name: str, wire: list[Any]) -> None:
    source = source_of(wire, lines=True)
    assert 0 < FORMAT.recognises(source) <= 0.4
    recording = assert_identity(FORMAT, source)
    assert recording.conversations[0].transcript.dialect == name
    result = next(m for m in messages_of(recording) if m.results)
    data, _ = edited(FORMAT, recording, [Rewrite(result.id, 0, "[cleared]", "clear")])
    assert data.splitlines()[:-1] == source.data.splitlines()[:-1]
    assert b"[cleared]" in data.splitlines()[-1]


def test_a_single_line_is_one_message() -> None:
    (message,) = messages_of(assert_identity(FORMAT, source_of(CHAT[1:2], lines=True)))
    assert message.text == "Hi"


def test_lines_that_are_not_messages_keep_their_position() -> None:
    first, *rest = source_of(CHAT, lines=True).data.splitlines(keepends=True)
    source = TranscriptSource.of(b"".join([first, b"// note\n", b"\n", *rest, b'{"role": "us']))
    recording = assert_identity(FORMAT, source)
    assert len(recording.warnings) == 2
    gone = messages_of(recording)[1]
    data, again = edited(FORMAT, recording, [Drop((gone.id,), "window")])
    assert data == b"".join([first, b"// note\n", b"\n", *rest[1:], b'{"role": "us'])
    assert len(messages_of(again)) == 3


def test_a_string_as_input_of_a_request_is_a_message() -> None:
    recording = assert_identity(FORMAT, source_of({"model": "m", "input": "Hi", "store": False}))
    message = messages_of(recording)[0]
    data, _ = edited(FORMAT, recording, [Rewrite(message.id, 0, "Ho", "truncate")])
    assert json.loads(data)["store"] is False
    assert b"Ho" in data


@pytest.mark.parametrize(
    "document",
    [{}, [], [1], [{}], {"role": "user"}, {"a": [{"b": 1}]}, "text", 5, None],
)
def test_other_values_are_not_recognised(document: Any) -> None:
    source = source_of(document)
    assert FORMAT.recognises(source) == 0.0
    with pytest.raises(InputError):
        FORMAT.decode(source)


def test_messages_without_content_are_not_recognised() -> None:
    assert FORMAT.recognises(source_of([{"role": "user", "message": {"content": "x"}}])) == 0.0


def test_plain_text_is_not_a_wire_value() -> None:
    source = TranscriptSource.of(b"# A heading\n\nSome prose.\n")
    assert FORMAT.recognises(source) == 0.0
    with pytest.raises(UnknownFormat, match="neither JSON nor JSON Lines"):
        FORMAT.decode(source)


def test_a_message_inside_another_document_is_not_read_as_a_line() -> None:
    text = '{"a": [\n{"role": "user", "content": "Hi"}\n]}\n'
    assert FORMAT.recognises(TranscriptSource.of(text.encode())) == 0.0


def test_a_malformed_message_is_named_with_its_line() -> None:
    wire = [*CHAT[:3], {"role": "tool", "tool_call_id": 5, "content": "x"}]
    with pytest.raises(InputError, match="line 4") as caught:
        FORMAT.decode(source_of(wire, lines=True))
    assert caught.value.field == "tool_call_id"


def test_a_message_of_no_known_format_is_named_with_its_line() -> None:
    wire = [CHAT[0], {"role": "nobody", "content": "x"}]
    with pytest.raises(InputError, match=r"line 2, message 1, field role: unknown") as caught:
        FORMAT.decode(source_of(wire, lines=True))
    assert (caught.value.index, caught.value.field) == (1, "role")
