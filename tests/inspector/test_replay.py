from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.sample import conversation
from tests.inspector.sample import (
    NAME,
    claude_code,
    from_our_archive,
    from_our_file,
    make_archive,
    read_archive,
)

from foldline import Session
from foldline.archive import Archive
from foldline.errors import RecallError
from foldline.inspector.timeline import ViewSegment, replay_archive, requests
from foldline.values.messages import Message, Text


def messages_of(*roles: str) -> tuple[Message, ...]:
    return tuple(
        Message(role, (Text(f"{role} {n}"),), id=f"{n:032x}")  # type: ignore[arg-type]
        for n, role in enumerate(roles)
    )


def test_every_request_is_replayed_exactly_as_it_was_sent(tmp_path: Path) -> None:
    sent: list[list[object]] = []
    with Session.open(tmp_path / "agent.db", NAME, window=16_000) as session:
        for message in conversation(40):
            if message["role"] == "assistant":
                sent.append(session.view())
            session.append(message)
        sent.append(session.view())
    with Archive.open(tmp_path / "agent.db") as archive:
        segments = replay_archive(archive.messages(NAME), archive.compactions(NAME))
    found = requests(segments)
    assert len(segments) > 2
    assert len(found) == len(sent)
    for request, view in zip(found, sent, strict=True):
        shown = segments[request.segment].messages[: request.length]
        assert [m.role for m in shown] == [m["role"] for m in view]
        texts = [m.text or "".join(r.text for r in m.results) for m in shown]
        assert texts == [m["content"] or "" for m in view]


def test_an_undone_compaction_restores_the_earlier_view(tmp_path: Path) -> None:
    path = make_archive(tmp_path)
    with Archive.open(path) as archive:
        before = replay_archive(archive.messages(NAME), archive.compactions(NAME))
        assert archive.undo(NAME) is not None
        after = replay_archive(archive.messages(NAME), archive.compactions(NAME))
        with Session.open(path, NAME, window=16_000) as session:
            assert len(session.messages) == len(archive.messages(NAME))
    assert len(after) == len(before) + 1
    last = after[-1]
    assert last.revision is not None
    assert last.revision.cause == "undo"
    assert last.messages[: len(before[-2].messages)] == before[-2].messages


def test_answers_that_follow_each_other_answer_one_request() -> None:
    found = requests(
        (ViewSegment(messages_of("user", "assistant", "assistant", "tool", "assistant"), 0),)
    )
    assert [(r.length, r.end) for r in found] == [(1, 3), (4, 5), (5, 5)]


def test_a_conversation_started_by_the_model_has_no_request_for_its_first_message() -> None:
    found = requests((ViewSegment(messages_of("assistant", "user", "assistant"), 0),))
    assert [r.length for r in found] == [2, 3]


def test_an_empty_session_is_one_request_with_an_empty_view() -> None:
    assert [(r.length, r.end) for r in requests((ViewSegment((), 0),))] == [(0, 0)]


def test_an_agents_own_compactions_split_its_file(tmp_path: Path) -> None:
    first = [("user", "Fix the till"), ("assistant", "I look at till.py"), ("user", "go on")]
    words = "This session is being continued from a previous conversation. It was about the till."
    second = [("user", words), ("assistant", "The till is fixed")]
    trace = from_our_file(claude_code(tmp_path / "s.jsonl", first, second))
    assert [len(segment.messages) for segment in trace.segments] == [3, 2]
    assert trace.segments[1].revision is not None
    assert trace.segments[1].revision.cause == "recorded"
    assert len(trace.log) == 5


def test_the_log_has_every_message_regardless_of_the_view(tmp_path: Path) -> None:
    trace = from_our_archive(tmp_path)
    assert len(trace.log) == len(conversation(40))
    assert len(trace.segments[-1].messages) < len(trace.log)


def test_a_session_that_is_deleted_while_it_is_read_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_archive(tmp_path, steps=2)
    monkeypatch.setattr(Archive, "sessions", lambda _: ())
    with pytest.raises(RecallError, match="There is no session 'nightly'"):
        read_archive(path)
