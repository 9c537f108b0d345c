"""Checkpoints in the archive: the newest that holds is found, and old ones do not pile up."""

from __future__ import annotations

import pytest
from tests.stores.test_store import HEAD, batch

from foldline.stores import checkpoints
from foldline.stores.opening import open_store
from foldline.stores.protocol import Change, StoredCheckpoint


@pytest.fixture
def store(store):
    store.begin(HEAD)
    return store


def checkpoint(number):
    return StoredCheckpoint(number, number + 1, {"shown": [[number, number + 1]]})


def compacted(store, count):
    for number in range(count):
        change = Change(
            number + 1, batches=(batch(number, number + 1),), checkpoint=checkpoint(number)
        )
        store.commit("s", number, change)


def test_the_newest_whose_compaction_is_in_effect_is_found(store):
    assert store.load("s").checkpoint is None
    compacted(store, 3)
    assert store.load("s").checkpoint == checkpoint(2)

    store.commit("s", 3, Change(3, undone=2))

    assert store.load("s").checkpoint == checkpoint(1)


def test_two_and_a_few_old_ones_stay(tmp_path):
    store = open_store(tmp_path / "a.db")
    store.begin(HEAD)
    compacted(store, 3 * checkpoints.EVERY)
    with store._database.reading() as connection:
        kept = [n for (n,) in connection.execute("SELECT number FROM checkpoints ORDER BY number")]
    assert kept == [15, 31, 46, 47]
    for number in (47, 46):
        store.commit("s", store.load("s").generation, Change(48, undone=number))
    assert store.load("s").checkpoint == checkpoint(31)
    store.close()


def test_one_that_is_damaged_is_passed_over(tmp_path):
    store = open_store(tmp_path / "a.db")
    store.begin(HEAD)
    compacted(store, 1)
    with store._database.writing() as connection:
        connection.execute("UPDATE checkpoints SET data = x'00'")
    assert store.load("s").checkpoint is None
    store.close()


def test_deleting_a_session_deletes_them(tmp_path):
    store = open_store(tmp_path / "a.db")
    store.begin(HEAD)
    compacted(store, 2)
    assert store.delete(["s"]) == 1
    with store._database.reading() as connection:
        assert connection.execute("SELECT count(*) FROM checkpoints").fetchone() == (0,)
    store.close()
