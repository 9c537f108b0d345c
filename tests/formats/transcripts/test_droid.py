from __future__ import annotations

from typing import Any

import pytest
from tests.corpus import ROOT, requires_corpus
from tests.formats.transcripts.editing import (
    assert_edits_survive,
    assert_identity,
    messages_of,
    read,
    source_of,
)

from foldline.errors import InputError
from foldline.formats.source import TranscriptSource
from foldline.formats.transcripts.wire_file import Droid

FORMAT = Droid()


def entry(number: int, role: str, *content: dict[str, Any]) -> dict[str, Any]:
    message = {"role": role, "content": list(content)}
    return {"type": "message", "id": f"m{number}", "timestamp": "2026-01-01", "message": message}


def session() -> list[dict[str, Any]]:
    call = {"type": "tool_use", "id": "c1", "name": "Read", "input": {"path": "a.py"}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "x = 1\n" * 40}
    return [
        {"type": "session_start", "id": "s1", "title": "Mend it", "cwd": "/repo"},
        entry(1, "user", {"type": "text", "text": "Mend a.py."}),
        entry(2, "assistant", call),
        {"type": "todo_state", "id": "t1", "todos": {"todos": "1. [in_progress] Mend a.py"}},
        entry(3, "user", result),
        entry(4, "assistant", {"type": "text", "text": "It is mended now, and runs."}),
    ]


def test_entries_that_are_not_messages_are_kept_unread() -> None:
    recording = assert_identity(FORMAT, source_of(session(), lines=True))
    assert recording.current.name == "s1"
    roles = [message.role for message in messages_of(recording)]
    assert roles == ["user", "assistant", "tool", "assistant"]


def test_edits_survive() -> None:
    assert_edits_survive(FORMAT, source_of(session(), lines=True))


def test_a_file_of_another_kind_is_rejected() -> None:
    with pytest.raises(InputError, match="is not a Factory Droid session"):
        FORMAT.decode(TranscriptSource.of(b'{"type": "session"}\n{"type": "message"}\n'))


@requires_corpus
@pytest.mark.corpus
@pytest.mark.parametrize(
    "path",
    [
        "misc-formats-git-ai/droid-session.jsonl",
        "misc-formats-agent-sessions/droid-session_store_large.jsonl",
    ],
)
def test_real_sessions_are_read_and_written(path: str) -> None:
    recording = assert_identity(FORMAT, read(ROOT / path))
    assert any(message.calls for message in messages_of(recording))
    assert_edits_survive(FORMAT, read(ROOT / path))
