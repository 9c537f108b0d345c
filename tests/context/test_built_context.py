from __future__ import annotations

import copy
import json
import pickle

import pytest

from foldline.context import Context, ContextBuilder, ContextConfig, ContextPacket


@pytest.fixture
def context() -> Context:
    packets = [
        ContextPacket(
            "the billing port is 8443", metadata={"type": "knowledge", "title": "ports"}
        ),
        ContextPacket("The billing port is 8443!", metadata={"type": "knowledge"}),
        ContextPacket("lunch is at noon"),
    ]
    return ContextBuilder(config=ContextConfig()).build(
        "Which port has billing?", system_instructions="Be brief.", custom_packets=packets
    )


def test_it_is_its_own_text(context: Context):
    assert isinstance(context, str)
    assert type(context.text) is str
    assert json.loads(json.dumps({"content": context})) == {"content": context.text}
    assert f"{context}".startswith("[Role & Policies]")


def test_it_does_not_change(context: Context):
    with pytest.raises(AttributeError, match="is immutable"):
        context.report = None  # type: ignore[assignment]
    with pytest.raises(AttributeError):
        context.extra = 1  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="is immutable"):
        del context.tokens
    assert context.tokens > 0
    assert not hasattr(context, "__dict__")


def test_it_contains_exactly_its_parts(context: Context):
    parts = {name: getattr(context, name) for name in Context.__slots__}
    assert Context("text", **parts).report == context.report
    with pytest.raises(TypeError, match="report"):
        Context("text", **{name: part for name, part in parts.items() if name != "report"})
    with pytest.raises(TypeError, match="extra"):
        Context("text", **parts, extra=1)


def test_copies_have_the_same_details(context: Context):
    for twin in (copy.copy(context), pickle.loads(pickle.dumps(context))):  # noqa: S301  # ours
        assert twin == context
        assert twin.tokens == context.tokens
        assert twin.report == context.report


@pytest.mark.requirement("T3")
def test_every_packet_is_explained(context: Context):
    rows = {row["packet"]: row for row in context.explain()}
    assert rows["ports"]["section"] == "evidence"
    assert rows["The billing port is 8443!"]["why"] == "repeats ports"
    assert rows["lunch is at noon"]["why"] == "relevance"
    assert rows["Be brief."]["why"] == "mandatory"
    assert json.dumps(context.explain())


def test_messages_hold_the_whole_text(context: Context):
    system, user = context.messages
    assert (system["role"], user["role"]) == ("system", "user")
    for part in str(context).split("\n\n"):
        assert part in system["content"] + "\n\n" + user["content"]
