"""Checkpoints in the archive: the newest valid one is found, also after an undo."""

from __future__ import annotations

import pytest
from tests.stores.test_store import HEAD, batch

from foldline.stores.opening import open_store
from foldline.stores.protocol import Change, StoredCheckpoint


@pytest.fixture
def store(store):
    store.begin(HEAD)
    return store


def checkpoint(number):
    return StoredCheckpoint(number, number + 1, {"shown": [[number, number + 1]]})


def compacted(store, count, every=1):
    for number in range(count):
        shown = None if (number + 1) % every else checkpoint(number)
        change = Change(number + 1, batches=(batch(number, number + 1),), checkpoint=shown)
        store.commit("s", number, change)


def test_the_newest_checkpoint_in_effect_is_found(store):
    assert store.load("s").checkpoint is None
    compacted(store, 3)
    assert store.load("s").checkpoint == checkpoint(2)

    store.commit("s", 3, Change(3, undone=2))

    assert store.load("s").checkpoint == checkpoint(1)


def test_after_an_undo_an_older_checkpoint_is_found(store):
    compacted(store, 20, every=8)
    assert store.load("s").checkpoint == checkpoint(15)

    for number in range(19, 14, -1):
        store.commit("s", store.load("s").generation, Change(20, undone=number))

    assert store.load("s").checkpoint == checkpoint(7)


def test_a_damaged_checkpoint_is_skipped(tmp_path):
    store = open_store(tmp_path / "a.db")
    store.begin(HEAD)
    compacted(store, 1)
    with store._database.writing() as connection:
        connection.execute("UPDATE checkpoints SET data = x'00'")
    assert store.load("s").checkpoint is None
    store.close()


def test_deleting_a_session_deletes_its_checkpoints(tmp_path):
    store = open_store(tmp_path / "a.db")
    store.begin(HEAD)
    compacted(store, 2)
    assert store.delete(["s"]) == 1
    with store._database.reading() as connection:
        assert connection.execute("SELECT count(*) FROM checkpoints").fetchone() == (0,)
    store.close()
