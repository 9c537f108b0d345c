from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.sample import foldline
from tests.corpus import ROOT, corpus_files, requires_corpus

from foldline.errors import InputError, UnknownFormat
from foldline.formats.files import (
    FILE_FORMATS,
    UNREADABLE,
    detect_file,
    file_format,
    read_file,
    unreadable_agent,
)
from foldline.formats.source import TranscriptSource

CHAT = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]

FOLDERS = {
    "aider": "aider",
    "claude-code-console": None,  # copies of a terminal: free text
    "claude-code": "claude-code",
    "codex": "codex",
    "gemini-cli": "gemini-cli",
    "gemini-contents": "gemini-contents",
    "inspect": "inspect-ai",
    "langchain": "langgraph",
    "mini-swe-agent": "mini-swe-agent",
    "openhands": "openhands",
    "pi-": "pi",
    "swe-agent": "swe-agent",
    "tau-bench": "tau-bench",
    "tau2": "tau2",
    "magentic": "magentic-one",
    "moatless": "moatless",
    "provider-wire": None,
    "sse-replay": None,
}
MISCELLANEOUS = {
    "codex-small.jsonl.gz": "codex",
    "gemini-large.json": "gemini-cli",
    "example-claude-code.jsonl.gz": "claude-code",
    "claude-code-with-thinking.jsonl": "claude-code",
    "droid-session.jsonl": "droid",
    "droid-session_store_large.jsonl": "droid",
    "T-019ca1ce-3ae2-7686-a41e-ccc078837f8a.json": None,
    "qwen-019f0000-0000-7000-8000-000000000004.jsonl": None,
    "kimi-assistant_tools.jsonl": None,
    "copilot-small.jsonl": None,
    "copilot_session_simple.json": None,
    "continue-cli-session-simple.json": None,
    "windsurf-session-simple.jsonl": None,
    "cursor-session-simple.jsonl": None,
}


def expected(path: Path) -> str | None:
    if path.parent.name.startswith("misc-"):
        return MISCELLANEOUS[path.name]
    name = path.parent.name
    return next(found for prefix, found in FOLDERS.items() if name.startswith(prefix))


def clear_cut() -> list[Path]:
    """Return all real files, without those of tools that imitate other formats."""
    return [
        path
        for path in corpus_files()
        if not path.parent.name.startswith("misc-") or path.name in MISCELLANEOUS
    ]


@requires_corpus
@pytest.mark.corpus
@pytest.mark.parametrize("path", clear_cut(), ids=lambda p: f"{p.parent.name}-{p.name}")
def test_every_real_file_is_recognised_by_its_content(path: Path) -> None:
    source = TranscriptSource.of(path.read_bytes(), "nameless")
    wanted = expected(path)
    if wanted is None:
        with pytest.raises(UnknownFormat, match="foldline formats"):
            detect_file(source)
    else:
        assert detect_file(source).name == wanted


@requires_corpus
@pytest.mark.corpus
def test_files_about_transcripts_are_not_recognised() -> None:
    others = [ROOT / "MANIFEST.json", *sorted(ROOT.glob("*/SOURCE.md"))]
    others += sorted(ROOT.glob("*/LICENSE.txt"))
    for path in others:
        with pytest.raises(UnknownFormat):
            read_file(path)


def test_every_format_can_be_loaded_and_has_a_title() -> None:
    assert list(FILE_FORMATS) == [
        "claude-code",
        "codex",
        "pi",
        "gemini-cli",
        "aider",
        "swe-agent",
        "mini-swe-agent",
        "tau-bench",
        "tau2",
        "openhands",
        "langgraph",
        "inspect-ai",
        "gemini-contents",
        "droid",
        "moatless",
        "magentic-one",
        "wire",
    ]
    for name, found in FILE_FORMATS.items():
        assert found is file_format(name)
        assert found.name == name
        assert found.title


def test_an_unknown_name_suggests_a_similar_one() -> None:
    with pytest.raises(UnknownFormat, match=r"Did you mean 'swe-agent'\?"):
        file_format("sweagent")


def test_the_registry_loads_no_format_by_itself() -> None:
    code = (
        "import sys, foldline.formats.files\n"
        "print([name for name in sys.modules if 'transcripts.' in name])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"a": 1, "b": 2}, "a JSON object with the fields a, b"),
        ({}, "a JSON object with the fields (none)"),
        ({str(n): n for n in range(9)}, "0, 1, 2, 3, 4, 5, 6, 7, …"),
        ([], "an empty JSON list"),
        ([1, 2], "a JSON list of values that are not objects"),
        ([{"x": 1}], "a JSON list of an object with the fields x"),
    ],
)
def test_an_unknown_document_is_described(value: Any, words: str) -> None:
    with pytest.raises(UnknownFormat) as caught:
        read_file(json.dumps(value).encode())
    assert words in caught.value.message
    assert "foldline formats" in caught.value.hint


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{"a": 1}\n{"b": 2}\n', "JSON Lines that begin with an object with the fields a"),
        (b"\n\nDear diary,\n", "text that begins with 'Dear diary,'"),
        (b"[" * 100_000, "text that begins with"),
        (b'{"a":' * 100_000, "text that begins with"),
    ],
)
def test_an_unknown_text_is_described(data: bytes, words: str) -> None:
    with pytest.raises(UnknownFormat) as caught:
        read_file(data)
    assert words in caught.value.message


@pytest.mark.parametrize("data", [b"", b"   \n", b"\x7fELF\0\0\0\0", b"\x1f\x8b broken"])
def test_binary_input_is_rejected(data: bytes) -> None:
    with pytest.raises(InputError):
        read_file(data)


def test_a_file_is_read_from_disk_under_any_name(tmp_path: Path) -> None:
    path = tmp_path / "chat.md"
    path.write_bytes(gzip.compress(json.dumps(CHAT).encode()))
    for content in (path, str(path), path.read_bytes()):
        recording = read_file(content)
        assert recording.format == "wire"
        assert len(recording.conversations[0].transcript.messages) == 2


def test_a_named_format_is_not_detected(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(CHAT))
    with pytest.raises(InputError, match="expected an object, found a list"):
        read_file(path, format="swe-agent")
    with pytest.raises(UnknownFormat, match="no file format 'swe'"):
        read_file(path, format="swe")


def test_directories_pipes_devices_and_missing_files_are_rejected(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="is a directory"):
        read_file(tmp_path)
    with pytest.raises(InputError, match="not a regular file"):
        read_file(tmp_path / "pipe")
    with pytest.raises(InputError, match="not a regular file"):
        read_file("/dev/zero")
    with pytest.raises(InputError, match=r"cannot be read: No such file"):
        read_file(tmp_path / "nothing")
    with pytest.raises(InputError, match="cannot be read"):
        read_file("with\0zero")


@pytest.mark.parametrize("limit", [2**62, 2**80])
def test_a_file_is_read_with_a_limit_beyond_all_memory(tmp_path: Path, limit: int) -> None:
    path = tmp_path / "chat.json"
    path.write_text('[{"role": "user", "content": "hi"}]')
    recording = read_file(path, max_bytes=limit)
    assert recording.conversations[0].transcript.messages[0].text == "hi"


def test_a_file_that_is_too_large_is_rejected_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(2**30)
    with pytest.raises(InputError, match="larger than 536,870,912 bytes"):
        read_file(path)
    with pytest.raises(InputError, match="larger than 1,000 bytes"):
        read_file(path, max_bytes=1_000)


FIRST = {
    "amp": {"v": 1, "id": "T-1", "messages": [{"role": "user", "content": "Hi"}]},
    "continue": {"sessionId": "s", "workspaceDirectory": "/", "history": []},
    "copilot": {"type": "session.start", "data": {"sessionId": "s"}},
    "cursor": {"role": "user", "message": {"content": []}},
    "kimi": {"type": "metadata", "protocol_version": "1.4"},
    "qwen-code": {"parentUuid": None, "message": {"role": "user", "parts": []}},
    "windsurf": {"status": "done", "type": "user_input", "user_input": {}},
}
FILES = {
    "misc-formats-git-ai/T-019ca1ce-3ae2-7686-a41e-ccc078837f8a.json": "amp",
    "misc-formats-git-ai/continue-cli-session-simple.json": "continue",
    "misc-formats-git-ai/copilot_session_simple.json": "copilot",
    "misc-formats-agent-sessions/copilot-small.jsonl": "copilot",
    "misc-formats-git-ai/cursor-session-simple.jsonl": "cursor",
    "misc-formats-agent-sessions/kimi-assistant_tools.jsonl": "kimi",
    "misc-formats-agent-sessions/qwen-019f0000-0000-7000-8000-000000000004.jsonl": "qwen-code",
    "misc-formats-git-ai/windsurf-session-simple.jsonl": "windsurf",
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_an_unsupported_session_is_named_and_never_misdetected(name: str) -> None:
    with pytest.raises(UnknownFormat, match=f"a session of {name}, which is known but not read"):
        read_file(json.dumps(FIRST[name]).encode())


@requires_corpus
@pytest.mark.corpus
@pytest.mark.parametrize("path", FILES)
def test_real_unsupported_sessions_are_named(path: str) -> None:
    with pytest.raises(UnknownFormat, match=f"a session of {FILES[path]},"):
        read_file(ROOT / path)


def test_unsupported_agents_are_listed() -> None:
    shown = foldline("formats").stdout
    assert all(name in shown for name in UNREADABLE)
    assert set(json.loads(foldline("formats", "--json").stdout)["not_read"]) == set(UNREADABLE)


@pytest.mark.parametrize("value", [{}, {"type": []}, {"id": 5}, {"role": 1, "message": 2}])
def test_other_objects_are_not_unsupported_sessions(value: dict[str, object]) -> None:
    from foldline.formats.source import TranscriptSource

    assert unreadable_agent(TranscriptSource.of(json.dumps(value).encode())) == ""
