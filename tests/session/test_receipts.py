"""The receipts of a session, of which the older ones are left in the store."""

from contextlib import closing

import pytest

from foldline import Session
from foldline.errors import StoreError
from foldline.session import batches
from foldline.stores.sqlite import SqliteStore

COMPACTIONS = 6


@pytest.fixture
def store(tmp_path):
    with closing(SqliteStore(tmp_path / "sessions.db")) as store:
        yield store


@pytest.fixture
def session(store, monkeypatch):
    """A session with more compactions than stay in memory."""
    monkeypatch.setattr(batches, "KEPT", 2)
    with Session.open(None, "s", store=store, window=3_000) as session:
        for number in range(COMPACTIONS):
            compact(session, number)
        yield session


def compact(session, number):
    session.extend(
        {"role": role, "content": f"{role} {number} " + f"word{number} " * 300}
        for role in ("user", "assistant")
    )
    assert session.compact(force=True).edits


def test_they_are_a_sequence_of_what_there_is_by_then(session):
    receipts = session.receipts
    compact(session, COMPACTIONS)
    assert len(receipts) == COMPACTIONS
    assert len(session.receipts) == COMPACTIONS + 1
    assert receipts == tuple(receipts) == tuple(session.receipts)[:-1]
    assert receipts[1:3] == tuple(receipts)[1:3]
    assert receipts[-1] == receipts[COMPACTIONS - 1]
    assert repr(receipts[0]) in repr(receipts)
    with pytest.raises(IndexError):
        receipts[COMPACTIONS]


def test_how_many_there_are_and_the_newest_are_known_without_reading_the_store(session, store):
    receipts = session.receipts
    session.close()
    store.close()
    assert len(receipts) == COMPACTIONS
    assert receipts[-1].status == "compacted"
    with pytest.raises(StoreError):
        receipts[0]
