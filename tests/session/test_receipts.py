"""The receipts of a session, of which the older ones are left in the store."""

from contextlib import closing

import pytest

from foldline import Session
from foldline.errors import InputError, StoreError
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


def test_each_receipt_is_found_by_its_number(session):
    receipts = session.receipts
    assert session.receipt_count == len(receipts) == COMPACTIONS
    assert [session.receipt(number) for number in range(COMPACTIONS)] == list(receipts)
    assert session.receipt() == session.receipt(COMPACTIONS - 1) == receipts[-1]
    compact(session, COMPACTIONS)
    assert session.receipt_count == COMPACTIONS + 1
    assert session.receipt(-2) == receipts[-1]


@pytest.mark.parametrize("number", [COMPACTIONS, -COMPACTIONS - 1, 10**9])
def test_an_unknown_receipt_number_is_an_error(session, number):
    with pytest.raises(InputError, match=f"no receipt {number}; there are {COMPACTIONS}"):
        session.receipt(number)


def test_a_session_without_compactions_has_no_receipts(store):
    with (
        Session.open(None, "new", store=store, window=3_000) as session,
        pytest.raises(InputError, match="no receipt yet"),
    ):
        session.receipt()


def test_the_number_of_receipts_and_the_newest_need_no_store(session, store):
    session.close()
    store.close()
    assert session.receipt_count == COMPACTIONS
    assert session.receipt().status == "compacted"
    with pytest.raises(StoreError):
        session.receipt(0)
