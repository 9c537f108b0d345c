"""The log of a session is a sequence of all messages, whether they are in memory or not."""

from collections import UserList
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.session.logs import Kept, log_of, make_messages, pinned

from foldline import Session
from foldline.errors import StoreError
from foldline.session import log as logs

MESSAGES = make_messages(60)


@given(st.integers(0, 60), st.slices(60), st.lists(st.integers(0, 59), max_size=10))
def test_a_log_reads_like_the_list_of_its_messages(cut, wanted, held):
    kept = Kept(MESSAGES[:cut])
    log = log_of(kept=kept)
    log.hold(MESSAGES[position].id for position in held)
    for message in MESSAGES[cut:]:
        log.append(message)
        kept.messages.append(message)

    assert tuple(log) == MESSAGES
    assert log[wanted] == list(MESSAGES[wanted])
    assert log[-1] == MESSAGES[-1]
    assert list(log.originals) == [message.id for message in MESSAGES]
    assert [log.originals[m.id] for m in MESSAGES] == list(MESSAGES)
    assert "x" not in log.originals
    assert list(log.register) == sorted(message.id for message in MESSAGES)


def test_a_position_that_is_not_there_is_an_index_error():
    with pytest.raises(IndexError):
        log_of(MESSAGES)[60]


def test_held_messages_are_read_once_and_others_are_not_kept():
    kept = Kept(MESSAGES)
    log = log_of(kept=kept)
    assert kept.reads == 0

    log.hold([MESSAGES[3].id, "unknown"])
    assert [log[3], log[3]] == [MESSAGES[3]] * 2
    assert kept.reads == 1

    assert [log[4], log[4]] == [MESSAGES[4]] * 2
    assert kept.reads == 3


def test_a_log_longer_than_the_store_is_damage(monkeypatch):
    monkeypatch.setattr(logs, "PAGE", 10)
    read = []

    class Counted(UserList):
        def __getitem__(self, wanted):
            read.append(wanted.stop - wanted.start)
            return self.data[wanted]

    kept = Kept(MESSAGES)
    stored = kept.load()
    log = logs.Log(replace(stored, messages=Counted(stored.messages)), kept.read, kept.load)
    log.take(range(60))
    assert read == [10] * 6


@given(st.lists(st.booleans(), min_size=60, max_size=60))
def test_released_messages_are_read_from_the_store_and_visible_or_pinned_ones_are_not(shows):
    kept = Kept()
    log = log_of(kept=kept)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(logs, "SPARE", 0)
        patch.setattr(logs, "LATELY", 5)
        for message in MESSAGES:
            log.append(message)
            kept.messages.append(message)
        log.put(pinned(MESSAGES[0]))
        kept.messages[0] = pinned(MESSAGES[0])
        shown = [m.id for m, shows_it in zip(MESSAGES, shows, strict=True) if shows_it]
        log.release(shown)
        for message in make_messages(5, 100):
            log.append(message)
            kept.messages.append(message)

    stays = {0, *range(55, 65), *(log.positions[number] for number in shown)}
    assert [log[position] for position in sorted(stays)]
    assert kept.reads == 0
    assert tuple(log) == tuple(kept.messages)
    assert kept.reads == 65 - len(stays)


def test_messages_used_again_are_not_released(monkeypatch):
    monkeypatch.setattr(logs, "SPARE", 0)
    monkeypatch.setattr(logs, "LATELY", 0)
    kept = Kept()
    log = log_of(kept=kept)
    for message in MESSAGES:
        log.append(message)
        kept.messages.append(message)
    log.release([])
    log.hold(message.id for message in MESSAGES)
    log.append(make_messages(1, 100)[0])

    assert tuple(log)[:60] == MESSAGES
    assert kept.reads == 0


def test_reading_all_messages_keeps_them_in_memory(monkeypatch):
    monkeypatch.setattr(logs, "SPARE", 0)
    kept = Kept(MESSAGES)
    log = log_of(kept=kept)

    assert log.whole() == MESSAGES
    log.release([])
    log.append(make_messages(1, 100)[0])
    assert log.whole()[:60] == MESSAGES
    assert kept.reads == 60


def test_recent_messages_and_some_older_ones_are_yielded_in_order():
    log = log_of(MESSAGES)

    found = list(log.recent(3, [MESSAGES[7].id, MESSAGES[2].id, MESSAGES[58].id, "snapshot"]))

    assert [position for position, _ in found] == [2, 7, 57, 58, 59]
    assert [message for _, message in found] == [MESSAGES[position] for position, _ in found]


@pytest.mark.parametrize("replaced", [False, True])
def test_a_deleted_session_reads_nothing_of_another_of_its_name(store, monkeypatch, replaced):
    monkeypatch.setattr(logs, "SPARE", 0)
    monkeypatch.setattr(logs, "LATELY", 5)

    def filled(word):
        session = Session.open(None, "s", store=store, window=3_000)
        for number in range(60):
            role = "assistant" if number % 2 else "user"
            session.append({"role": role, "content": f"{word} {number} " * 100})
            session.view()
        return session

    session = filled("mine")
    store.delete(["s"])
    if replaced:
        filled("theirs")

    with pytest.raises(StoreError, match="no longer in the store"):
        tuple(session.messages)
