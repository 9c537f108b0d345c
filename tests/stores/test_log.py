"""The messages of a stored session are read on demand, and never change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.errors import StoreError
from foldline.stores import log as module
from foldline.stores.opening import open_store
from foldline.stores.protocol import Change, SessionHead, StoredMessage
from foldline.stores.sqlite import SqliteStore

MESSAGES = tuple(StoredMessage(f"{n:032x}", "user", {"content": n}, time=1.0) for n in range(20))


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = SqliteStore(tmp_path_factory.mktemp("log") / "a.db")
    store.begin(SessionHead("s"))
    store.commit("s", 0, Change(at=0, messages=MESSAGES))
    yield store
    store.close()


@given(wanted=st.slices(20))
def test_a_log_reads_like_the_tuple_of_its_messages(store, wanted):
    stored = store.load("s")

    assert stored.messages == MESSAGES
    assert list(stored.messages[wanted]) == list(MESSAGES[wanted])
    assert list(stored.ids[wanted]) == [message.id for message in MESSAGES[wanted]]
    assert (stored.messages[-1], stored.ids[-1]) == (MESSAGES[-1], MESSAGES[-1].id)
    assert (len(stored.messages), len(stored.ids)) == (20, 20)


def test_later_messages_are_not_in_a_log(place):
    store = open_store(place)
    store.begin(SessionHead("s"))
    store.commit("s", 0, Change(at=0, messages=MESSAGES[:5]))
    before = store.load("s")
    store.commit("s", 1, Change(at=5, messages=MESSAGES[5:]))

    assert before.messages == MESSAGES[:5]
    assert list(before.ids) == [message.id for message in MESSAGES[:5]]
    with pytest.raises(IndexError):
        before.messages[5]
    store.close()


def test_a_long_log_is_read_in_pages(store, monkeypatch):
    monkeypatch.setattr(module, "PAGE", 7)

    assert tuple(store.load("s").messages) == MESSAGES


def test_nothing_can_be_read_after_the_store_is_closed(place):
    store = open_store(place)
    store.begin(SessionHead("s"))
    store.commit("s", 0, Change(at=0, messages=MESSAGES))
    stored = store.load("s")
    store.close()

    with pytest.raises(StoreError, match="closed"):
        tuple(stored.messages)
    with pytest.raises(StoreError, match="closed"):
        list(stored.ids)


def test_the_names_are_those_of_the_sessions_the_newest_first(place):
    store = open_store(place)
    for number, name in enumerate("abc"):
        store.begin(SessionHead(name, created=float(number)))

    assert store.names() == tuple(info.head.name for info in store.sessions()) == ("c", "b", "a")
    store.close()
