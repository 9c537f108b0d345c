from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.corpus import corpus_files, requires_corpus
from tests.formats.transcripts.editing import (
    assert_edits_survive,
    assert_identity,
    edited,
    messages_of,
    read,
    source_of,
)

from foldline.errors import InputError
from foldline.formats.source import TranscriptSource
from foldline.formats.transcripts import inspect_ai
from foldline.formats.transcripts.inspect_ai import InspectAI, ZipEntry, entry_names, pack, unpack
from foldline.values.edits import Rewrite
from foldline.values.messages import Media, Opaque, Text, Thinking, ToolCall

FORMAT = InspectAI()
PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "YPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


def sample(number: int = 1) -> dict[str, Any]:
    call = {"id": "c1", "function": "go", "arguments": {"url": "attachment://h2", "n": 1}}
    messages = [
        {"role": "system", "content": "attachment://h1", "id": "m0"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is this?"},
                {"type": "image", "image": PIXEL, "detail": "auto"},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "reasoning", "reasoning": "c2VjcmV0", "signature": "s", "redacted": True},
                {"type": "text", "text": ""},
                {"type": "data", "data": {"x": 1}},
            ],
            "source": "generate",
            "tool_calls": [call],
        },
        {
            "role": "tool",
            "content": "not allowed",
            "tool_call_id": "c1",
            "function": "go",
            "error": {"type": "permission", "message": "no"},
        },
        {"role": "assistant", "content": "A dot.", "model": "m"},
    ]
    attachments = {"h1": "You are looking.", "h2": "https://example.org"}
    return {
        "id": number,
        "epoch": 1,
        "messages": messages,
        "events": [],
        "attachments": attachments,
    }


def log(*samples: dict[str, Any]) -> dict[str, Any]:
    return {"version": 2, "status": "success", "eval": {"task": "t"}, "samples": list(samples)}


def zipped(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return out.getvalue()


def archive(**members: Any) -> TranscriptSource:
    data = {
        f"samples/{name}_epoch_1.json" if name[1:].isdigit() else f"{name}.json": value
        for name, value in members.items()
    }
    written = {name: json.dumps(value, indent=2).encode() for name, value in data.items()}
    return TranscriptSource.of(zipped(written), "run.eval")


def test_attachments_are_resolved_and_unchanged_messages_keep_the_reference() -> None:
    recording = assert_identity(FORMAT, source_of(log(sample())))
    messages = messages_of(recording)
    assert messages[0].text == "You are looking."
    assert messages[0].raw["content"] == "attachment://h1"
    assert messages[2].calls == (ToolCall("c1", "go", '{"url": "https://example.org", "n": 1}'),)


def test_images_reasoning_and_unknown_content_are_kept_apart() -> None:
    messages = messages_of(FORMAT.decode(source_of(log(sample()))))
    _, image = messages[1].parts
    assert isinstance(image, Media)
    assert (image.kind, image.media_type, image.width) == ("image", "image/png", 1)
    assert messages[2].parts[:3] == (Thinking("", signed=True), Text(""), Opaque("data"))
    assert messages[3].results[0].is_error


def test_a_changed_message_changes_one_field() -> None:
    recording = FORMAT.decode(source_of(log(sample(1), sample(2))))
    messages = messages_of(recording, 1)
    edits = [
        Rewrite(messages[3].id, 0, "[cleared]", "clear"),
        Rewrite(messages[2].id, 0, None, "reasoning"),
    ]
    data, again = edited(FORMAT, recording, edits, 1)
    wanted = log(sample(1), sample(2))
    wanted["samples"][1]["messages"][3]["content"] = "[cleared]"
    message = wanted["samples"][1]["messages"][2]
    del message["content"][0]
    message["tool_calls"][0]["arguments"]["url"] = "https://example.org"
    assert data == json.dumps(wanted, indent=2).encode()
    assert messages_of(again, 1)[3].results[0].is_error


def test_an_unchanged_archive_is_identical_bytes() -> None:
    recording = assert_identity(FORMAT, archive(header={}, s1=sample(1), s2=sample(2)))
    assert [c.name for c in recording.conversations] == ["sample 1 epoch 1", "sample 2 epoch 1"]


def test_a_changed_sample_is_the_only_member_of_an_archive_that_changes() -> None:
    source = archive(header={"a": 1}, s1=sample(1), s2=sample(2), summaries=[])
    recording = FORMAT.decode(source)
    result = messages_of(recording, 1)[3]
    data, again = edited(FORMAT, recording, [Rewrite(result.id, 0, "[cleared]", "clear")], 1)
    before = {m.info.filename: m.data for m in unpack(source.data, "")}
    after = {m.info.filename: m.data for m in unpack(data, "")}
    assert list(before) == list(after)
    assert [name for name in before if before[name] != after[name]] == ["samples/s2_epoch_1.json"]
    assert messages_of(again, 1)[3].results[0].text == "[cleared]"


def test_a_zip_bomb_is_rejected() -> None:
    with pytest.raises(InputError, match="larger than 8,388,608 bytes"):
        FORMAT.decode(archive(header={}, s1={"messages": "0" * 9_000_000}))


@pytest.mark.parametrize(
    "source", [archive(other={}), archive(header={}), source_of({"eval": {}})]
)
def test_other_archives_and_documents_are_not_recognised(source: TranscriptSource) -> None:
    assert FORMAT.recognises(source) == 0.0
    with pytest.raises(InputError):
        FORMAT.decode(source)


@pytest.mark.parametrize(
    ("position", "change", "field"),
    [
        (0, {"role": "judge"}, "role"),
        (1, {"content": [5]}, "content[0]"),
        (2, {"tool_calls": [{"id": "c1"}]}, "tool_calls[0].function"),
    ],
)
def test_a_malformed_message_is_named(position: int, change: dict[str, Any], field: str) -> None:
    broken = sample()
    broken["messages"][position] |= change
    with pytest.raises(InputError, match=r"^sample 1 epoch 1, ") as caught:
        FORMAT.decode(source_of(log(broken)))
    assert (caught.value.index, caught.value.field) == (position, field)


@requires_corpus
@pytest.mark.corpus
@pytest.mark.parametrize("path", corpus_files("inspect"), ids=lambda p: p.name)
def test_real_files_come_back_byte_for_byte_and_survive_edits(path: Path) -> None:
    source = read(path)
    assert FORMAT.recognises(source) == 1.0
    assert_identity(FORMAT, source)
    assert_edits_survive(FORMAT, source)


# --- archives ------------------------------------------------------------------------------


def test_a_changed_member_is_the_only_thing_that_changes() -> None:
    members = unpack(zipped({"a": b"1", "b/c": b"2", "d": b"3"}), "x.eval")
    again = unpack(pack(members, {"b/c": b"new"}), "x.eval")
    assert [(m.info.filename, m.data) for m in again] == [
        ("a", b"1"),
        ("b/c", b"new"),
        ("d", b"3"),
    ]
    assert [m.info.date_time for m in again] == [m.info.date_time for m in members]
    assert all(m.info.compress_type == zipfile.ZIP_DEFLATED for m in again)


def test_a_member_that_expands_beyond_the_limit_is_rejected() -> None:
    bomb = zipped({"bomb": b"\0" * (9 * 2**20)})
    with pytest.raises(InputError, match=r"x\.eval is larger than 8,388,608 bytes"):
        unpack(bomb, "x.eval")
    assert len(unpack(bomb, "x.eval", 9 * 2**20)[0].data) == 9 * 2**20


def test_members_that_together_exceed_the_limit_are_rejected() -> None:
    bomb = zipped({str(number): b"\0" * 400_000 for number in range(4)})
    with pytest.raises(InputError, match="larger than 1,048,576 bytes"):
        unpack(bomb, "x.eval", 2**20)


def test_too_many_members_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_ai, "MAX_MEMBERS", 3)
    with pytest.raises(InputError, match="more than 3 members"):
        unpack(zipped({str(number): b"" for number in range(4)}), "x.eval")


@pytest.mark.parametrize("cut", [10, 40, 90])
def test_a_damaged_archive_is_an_input_error(cut: int) -> None:
    data = zipped({"samples/1.json": b"{}" * 100})
    with pytest.raises(InputError, match="not a readable zip file"):
        unpack(data[:cut], "x.eval")
    assert entry_names(data[:cut]) == []


def test_a_wrong_checksum_is_an_input_error() -> None:
    data = zipped({"a": b"hello world" * 20})
    broken = bytearray(data)
    broken[35] ^= 0xFF
    with pytest.raises(InputError):
        unpack(bytes(broken), "x.eval")


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), min_size=1, max_size=5))
def test_overwritten_bytes_are_read_within_limits_or_raise_an_error_that_names_the_file(
    changes: list[tuple[int, int]],
) -> None:
    data = bytearray(zipped({"samples/1.json": b'{"a": 1}' * 30, "header.json": b"{}"}))
    for position, value in changes:
        data[position % len(data)] = value
    names, found = entry_names(bytes(data)), outcome(bytes(data))
    if isinstance(found, InputError):
        assert "x.eval" in str(found)
    else:
        assert [member.info.filename for member in found] == names
        assert sum(len(member.data) for member in found) <= 1_000


def outcome(data: bytes) -> tuple[ZipEntry, ...] | InputError:
    try:
        return unpack(data, "x.eval", 1_000)
    except InputError as error:
        return error
