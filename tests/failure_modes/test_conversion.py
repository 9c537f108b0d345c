"""Conversations that a provider rejected because they came from another agent's wire."""

import pytest
from tests.neutral import A, T, U, c, log

from foldline.formats.registry import DIALECTS
from foldline.repair.repair import repair
from foldline.testing.wires import wire
from foldline.values.edits import apply
from foldline.values.messages import Message, Text
from foldline.values.transcript import Transcript


def converted(dialect, *messages):
    value = DIALECTS[dialect].encode(Transcript.of(messages, "tau2"))
    assert DIALECTS[dialect].validate(value) == []
    return DIALECTS[dialect].decode(value).messages


@pytest.mark.parametrize("dialect", DIALECTS)
def test_tools_that_the_user_ran_become_user_messages(dialect):
    calling = Message("user", (Text("let me look"), c("u1", "toggle_data", '{"on": true}')))
    told = converted(
        dialect,
        U("no data"),
        A("Toggle it."),
        calling,
        T("u1", "Data is on."),
        U("works"),
        A("ok"),
    )
    assert not any(m.calls or m.results for m in told)
    said = "\n".join(m.text for m in told if m.role == "user")
    assert '[toggle_data {"on": true}]' in said
    assert "Data is on." in said


@pytest.mark.parametrize("dialect", DIALECTS)
def test_tools_of_the_assistant_beside_user_tools_stay_tools(dialect):
    calling = Message("user", (c("u1", "check", "{}"),))
    told = converted(dialect, U("t"), calling, T("u1", ""), A(c("a1")), T("a1", "42"), A("done"))
    assert [r.text for m in told for r in m.results] == ["42"]


@pytest.mark.parametrize("dialect", ["anthropic", "gemini"])
def test_a_history_that_starts_with_the_assistant_gets_a_user_turn_first(dialect):
    told = converted(dialect, A("Hello, how can I help?"), U("hi"), A("ok"))
    assert [m.role for m in told] == ["user", "assistant", "user", "assistant"]


@pytest.mark.parametrize("dialect", ["openai-chat", "langchain", "anthropic"])
def test_ids_that_a_repair_made_unique_are_written_into_calls_and_results(dialect):
    twice = log(U("t"), A(c("1"), c("1")), T("1", "a"), T("1", "b"), A("x"))
    codec = DIALECTS[dialect]
    transcript = codec.decode(wire(twice, dialect))
    mended = apply(transcript.messages, repair(transcript.messages, dialect))
    value = codec.encode(transcript.with_messages(mended))
    assert codec.validate(value) == []
    told = codec.decode(value).messages
    ids = [call.id for m in told for call in m.calls]
    assert [(r.call_id, r.text) for m in told for r in m.results] == list(
        zip(ids, ["a", "b"], strict=True)
    )
    assert len(set(ids)) == 2
