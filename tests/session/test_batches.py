"""The batches of a session are a sequence, whether they are in memory or not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from foldline import Session
from foldline.errors import StoreError
from foldline.session import batches
from foldline.session.batches import Batches
from foldline.stores.memory import MemoryStore


@pytest.fixture
def compacted(monkeypatch):
    """A session with more compactions than stay in memory, and what each of them was."""
    monkeypatch.setattr(batches, "KEPT", 3)
    store = MemoryStore()
    with Session.open(None, "s", store=store, window=3_000) as session:
        for number in range(8):
            session.extend(
                {"role": role, "content": f"{role} {number} " + f"word{number} " * 300}
                for role in ("user", "assistant")
            )
            assert session.compact(force=True).edits
        yield store, session


def test_receipts_are_equal_in_the_same_and_in_another_process(compacted):
    store, session = compacted
    made, read = session._state.history.batches, Batches(store.load("s"), lambda: store.load("s"))
    assert len(made) == len(read) == 8
    assert list(made) == list(read) == [read[number] for number in range(8)]
    assert made == read
    assert read[2:5] == list(read)[2:5]
    assert list(read.since(6)) == read[6:]
    assert list(reversed(made)) == list(reversed(read)) == list(read)[::-1]
    assert [batch.number for batch in read.read_stored(5)] == [5, 6, 7]


def test_all_receipts_of_a_long_session_are_there(compacted):
    _, session = compacted
    assert [receipt.status for receipt in session.receipts] == ["compacted"] * 8


def test_a_batch_released_from_memory_still_has_its_state(compacted):
    _, session = compacted
    for _ in range(4):
        session.undo()
    assert [b.undone_at is None for b in session._state.history.batches] == [True] * 4 + [
        False
    ] * 4


def test_every_folded_message_is_recalled(compacted):
    _, session = compacted
    handles = [handle for receipt in session.receipts for handle in receipt.recall]
    assert handles
    assert all(session.recall(handle).text for handle in handles)


def test_a_missing_batch_is_damage(compacted):
    store, _ = compacted
    stored = store.load("s")
    stored = replace(stored, batches=stored.batches[1:])
    with pytest.raises(StoreError, match="a compaction is missing"):
        list(Batches(stored, lambda: stored))
