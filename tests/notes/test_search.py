from __future__ import annotations

from datetime import UTC
from pathlib import Path

import pytest

from foldline.notes import RELEVANCE, Notes
from foldline.tokens.estimate import estimate


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    return Notes.open(tmp_path)


@pytest.mark.requirement("T6")
def test_a_packet_has_the_fields_of_a_context(notes: Notes) -> None:
    note = notes.create("慢查询", "发现多个慢查询", type="blocker", tags=["db"])
    (packet,) = notes.packets("慢查询")
    assert packet.content == "[笔记: 慢查询]\n类型: blocker\n\n发现多个慢查询"
    assert packet.timestamp == note.updated_at
    assert packet.timestamp.tzinfo == UTC
    assert packet.token_count == estimate(packet.content)
    assert packet.relevance_score == 0.9
    assert packet.metadata["note_id"] == note.id
    assert packet.metadata["type"] == "note"
    assert 0 < packet.metadata["strength"] <= 1


def test_types_are_weighted_in_the_reference_order() -> None:
    assert RELEVANCE["blocker"] > RELEVANCE["action"] > RELEVANCE["task_state"]
    assert RELEVANCE["task_state"] > RELEVANCE["conclusion"] > RELEVANCE["general"]


def test_the_newest_blockers_come_first_and_nothing_twice(notes: Notes) -> None:
    for n in range(4):
        notes.create(f"blocker {n}", "the disk is full", type="blocker")
    notes.create("deploy", "the deploy waits for the disk", type="action")
    told = [packet.metadata["title"] for packet in notes.packets("deploy", limit=4)]
    assert told[:3] == ["blocker 3", "blocker 2", "deploy"]
    assert len(told) == len(set(told))
    assert len(notes.packets("disk", limit=3)) == 3
    assert notes.packets("x", limit=0) == ()


def test_without_a_query_the_newest_notes_are_packed(notes: Notes) -> None:
    for n in range(3):
        notes.create(f"note {n}", "said")
    notes.tasks.add("build")
    packets = notes.packets(limit=2)
    assert [packet.metadata["title"] for packet in packets] == ["build", "note 2"]
    assert packets[0].metadata["status"] == "pending"
    assert packets[0].content.startswith("[Note: build]\nType: task_state")
