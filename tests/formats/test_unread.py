from __future__ import annotations

import json

import pytest
from tests.cli.sample import foldline
from tests.corpus import ROOT, requires_corpus

from foldline.errors import UnknownFormat
from foldline.formats.files import read_file
from foldline.formats.unread import UNREAD, unread

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


@pytest.mark.parametrize("name", UNREAD)
def test_a_session_that_is_not_read_is_named_and_never_taken_for_another(name: str) -> None:
    with pytest.raises(UnknownFormat, match=f"a session of {name}, which is known but not read"):
        read_file(json.dumps(FIRST[name]).encode())


@requires_corpus
@pytest.mark.corpus
@pytest.mark.parametrize("path", FILES)
def test_real_sessions_that_are_not_read_are_named(path: str) -> None:
    with pytest.raises(UnknownFormat, match=f"a session of {FILES[path]},"):
        read_file(ROOT / path)


def test_what_is_not_read_is_listed() -> None:
    shown = foldline("formats").stdout
    assert all(name in shown for name in UNREAD)
    assert set(json.loads(foldline("formats", "--json").stdout)["not_read"]) == set(UNREAD)


@pytest.mark.parametrize("value", [{}, {"type": []}, {"id": 5}, {"role": 1, "message": 2}])
def test_other_objects_are_none_of_them(value: dict[str, object]) -> None:
    from foldline.formats.source import Source

    assert unread(Source.of(json.dumps(value).encode())) == ""
