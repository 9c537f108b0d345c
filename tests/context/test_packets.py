from __future__ import annotations

import copy
import pickle
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from foldline.context.packets import ContextPacket, HistoryMessage, Unscored, parse_time
from foldline.errors import InputError


@pytest.mark.requirement("T1")
def test_the_fields_and_defaults_are_those_of_the_book():
    now = datetime.now()  # noqa: DTZ005  # as the book writes it
    packet = ContextPacket(
        content="代码库结构", timestamp=now, token_count=3, metadata={"type": "note"}
    )
    assert (packet.content, packet.token_count, packet.type) == ("代码库结构", 3, "note")
    assert packet.relevance_score == 0.5
    assert packet.timestamp == now.astimezone(UTC)
    assert ContextPacket("x", now, 1, 1.7).relevance_score == 1.0
    assert ContextPacket("x", now, 1, -2, None).metadata == {}  # type: ignore[arg-type]


@pytest.mark.requirement("T3")
def test_a_given_relevance_of_a_half_is_distinct_from_an_unset_one():
    assert ContextPacket("x", relevance_score=0.5).judged
    bare = ContextPacket("x")
    for one in (bare, copy.deepcopy(bare), pickle.loads(pickle.dumps(bare))):  # noqa: S301  # ours
        assert isinstance(one.relevance_score, Unscored)
        assert not one.judged


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        (0, 0.0),
        ("1970-01-01T01:00:00+01:00", 0.0),
        (datetime(1970, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))), 0.0),
        (None, None),
    ],
)
def test_a_time_comes_in_any_form(given: Any, seconds: float | None):
    assert ContextPacket("x", given).seconds == seconds


@pytest.mark.parametrize("given", ["yesterday", True, [], 1e300, float("nan"), "9" * 400])
def test_an_invalid_time_is_refused_by_name(given: Any):
    with pytest.raises(InputError, match="timestamp"):
        parse_time(given)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("content", None),
        ("content", b"bytes"),
        ("content", "x" * 2_000_001),
        ("metadata", ["a"]),
        ("relevance_score", "high"),
        ("relevance_score", float("nan")),
    ],
)
def test_a_field_of_another_kind_is_refused_by_name(field: str, value: Any):
    with pytest.raises(InputError, match=field):
        ContextPacket(**{"content": "x", field: value})


def test_the_metadata_of_the_caller_are_not_shared():
    given = {"type": "note"}
    packet = ContextPacket("x", metadata=given)
    given["type"] = "other"
    assert packet.type == "note"


def test_a_packet_is_called_by_its_title_else_by_source_and_beginning():
    assert ContextPacket("text", metadata={"title": " A\n b ", "path": "p"}).label == "A b"
    assert ContextPacket("one two", metadata={"source": "memory"}).label == "memory: one two"
    assert len(ContextPacket("word " * 100).label) == 60


def test_a_message_has_a_role_and_may_have_a_time():
    assert HistoryMessage(content="hi", role="user", timestamp=None) == HistoryMessage("hi")
