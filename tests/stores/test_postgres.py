"""Guarantees of the PostgreSQL store beyond those of every store."""

import threading

import psycopg
import pytest

from foldline.errors import StoreError
from foldline.stores.migrations import POSTGRES_ARCHIVE
from foldline.stores.opening import open_store
from foldline.stores.postgres import PostgresStore
from foldline.stores.protocol import Change, SessionHead, StoredCheckpoint, StoredMessage

HEAD = SessionHead("s", "openai-chat", "gpt-5", 128_000, 10.0)


def message(number):
    wire = {"role": "user", "content": f"message {number}"}
    return StoredMessage(f"{number:032x}", "user", wire, time=float(number))


def terminate(url):
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name LIKE 'foldline%'"
        )


def test_a_store_recovers_from_dropped_connections(postgres_url):
    store = open_store(postgres_url)
    store.begin(HEAD)
    store.commit("s", 0, Change(at=0, messages=(message(0),)))

    terminate(postgres_url)
    store.commit("s", 1, Change(at=1, messages=(message(1),)))
    terminate(postgres_url)

    assert len(store.load("s").messages) == 2
    store.close()


def test_stores_that_open_a_new_database_at_once_all_succeed(postgres_url):
    opened, failed = [], []

    def work():
        try:
            opened.append(open_store(postgres_url))
        except StoreError as error:
            failed.append(error)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for store in opened:
        store.close()
    assert (len(opened), failed) == (6, [])


def test_equal_content_is_stored_once(postgres_url):
    store = open_store(postgres_url)
    for name in ("a", "b"):
        store.begin(SessionHead(name))
        store.commit(name, 0, Change(at=0, messages=(message(7),)))
    with psycopg.connect(postgres_url) as connection:
        (count,) = connection.execute("SELECT count(*) FROM foldline_archive.blobs").fetchone()
    store.close()
    assert count == 1


def test_a_database_of_a_newer_version_is_not_changed(postgres_url):
    open_store(postgres_url).close()
    with psycopg.connect(postgres_url) as connection:
        connection.execute("INSERT INTO foldline_archive.migrations (version) VALUES (99)")

    with pytest.raises(StoreError, match="newer Foldline") as caught:
        open_store(postgres_url)

    assert f"knows {len(POSTGRES_ARCHIVE.steps)}" in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:hunter2@127.0.0.1:1/x",
        "postgresql://me:hunter2@127.0.0.1:notaport/x",
        "postgresql://me:hunter2@[::1/x",
    ],
)
def test_a_missing_database_is_named_without_its_password(url):
    with pytest.raises(StoreError) as caught:
        PostgresStore(url, patience=0.5)
    assert "hunter2" not in str(caught.value)
    assert "hunter2" not in repr(caught.value.__cause__)


def test_a_worker_of_the_previous_version_can_delete_a_session_with_a_checkpoint(postgres_url):
    store = open_store(postgres_url)
    store.begin(HEAD)
    store.commit("s", 0, Change(at=0, checkpoint=StoredCheckpoint(0, 0, {})))
    with store._database.writing() as connection:
        connection.execute("DELETE FROM sessions WHERE name = 's'")
    with store._database.reading() as connection:
        assert connection.execute("SELECT count(*) FROM checkpoints").fetchone() == (0,)
    store.close()


def test_a_name_that_postgresql_cannot_hold_is_rejected(postgres_url):
    store = open_store(postgres_url)
    for name in ("a\0b", "\ud800"):
        with pytest.raises(StoreError, match="not one that PostgreSQL holds"):
            store.begin(SessionHead(name))
    store.close()


def test_a_closed_store_raises_an_error(postgres_url):
    store = open_store(postgres_url)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.load("s")
