"""Positions of a view in the log, and usage appended with several messages."""

from collections.abc import Sequence

import pytest

from foldline.errors import StoreError
from foldline.session import Session, log
from foldline.session.log import Positions
from foldline.stores.memory import MemoryStore
from foldline.stores.opening import open_store
from foldline.stores.protocol import Change, SessionHead, StoredMessage
from foldline.values.messages import Usage

TURNS = [
    {"role": role, "content": f"{role} {n} " + f"word{n} " * 200}
    for n in range(30)
    for role in ("user", "assistant")
]


def begun(window=100_000):
    return Session.open(None, "s", store=MemoryStore(), window=window)


def test_unchanged_messages_have_a_position_in_the_log():
    session = begun()
    session.extend(TURNS[:5])
    assert session.positions(session.view()) == [0, 1, 2, 3, 4]


def test_messages_made_by_an_edit_have_no_position():
    session = begun(8_000)
    for turn in TURNS:
        session.append(turn)
        view = session.view()
    places = session.positions(view)
    assert None in places
    assert [TURNS[p] for p in places if p is not None] == [
        wire for wire, p in zip(view, places, strict=True) if p is not None
    ]


def test_usage_is_of_the_last_answer_among_several_messages():
    session = begun()
    session.extend(TURNS[:1])
    session.extend(TURNS[1:3], usage=Usage(900, 100))
    assert [message.usage for message in session.messages] == [None, Usage(900, 100), None]


# --- positions by id ---------------------------------------------------------------------------

IDS = [f"{number:032x}" for number in range(10)]


@pytest.fixture
def stored_ids(place, monkeypatch):
    """Ids that are left in the store: three are more than are read at once."""
    monkeypatch.setattr(log, "EAGER_IDS", 3)
    store = open_store(place)
    for name, ids in (("s", IDS[:6]), ("other", IDS[5:])):
        store.begin(SessionHead(name))
        store.commit(name, 0, Change(0, tuple(StoredMessage(n, "user", {}) for n in ids)))
    yield store.load("s").ids
    store.close()


def test_every_message_of_a_long_log_has_its_position(stored_ids):
    known = Positions("s", stored_ids)
    for number in IDS[8:]:
        known.add(number)

    assert [known.get(number) for number in IDS] == [0, 1, 2, 3, 4, 5, None, None, 6, 7]
    assert IDS[5] in known
    assert IDS[6] not in known
    assert len(known) == 8
    assert [list(known.since(start)) for start in (0, 5, 7, 8)] == [
        [*IDS[:6], *IDS[8:]],
        [IDS[5], *IDS[8:]],
        IDS[9:],
        [],
    ]
    assert list(known) == [*IDS[:6], *IDS[8:]]
    assert list(known.values()) == list(range(8))


def test_early_lookups_do_not_change_the_order(stored_ids):
    known = Positions("s", stored_ids)
    assert known[IDS[4]] == 4
    known.add(IDS[8])
    assert list(known) == [*IDS[:6], IDS[8]]


def test_an_id_is_found_while_another_thread_reads_all_of_them(stored_ids):
    known = Positions("s", stored_ids)

    class Interrupted(dict):
        def get(self, *wanted):
            assert len(list(known)) == 6
            return super().get(*wanted)

    known._known = Interrupted()
    assert known[IDS[4]] == 4


def test_later_ids_are_found_while_another_thread_reads_all_of_them(stored_ids):
    known = Positions("s", stored_ids)
    lock = known._adding

    class Interrupted:
        def __enter__(self):
            known._adding = lock
            assert len(list(known)) == 6
            lock.acquire()

        def __exit__(self, *_):
            lock.release()

    known._adding = Interrupted()
    assert list(known.since(4)) == IDS[4:6]


class OnlyFound(Sequence):
    """Ids of a store that finds them, and misses none; they are not read."""

    def __len__(self):
        return len(IDS)

    def __getitem__(self, wanted):
        raise AssertionError(wanted)

    def find(self, number):
        return IDS.index(number) if number in IDS else None


def test_an_id_is_found_in_a_store_without_contiguous_ids(monkeypatch):
    monkeypatch.setattr(log, "EAGER_IDS", 3)
    assert Positions("s", OnlyFound())[IDS[4]] == 4


def test_a_duplicate_id_in_a_log_is_damage():
    with pytest.raises(StoreError, match="two messages have the same id"):
        Positions("s", (IDS[0], IDS[0]))
