"""Encrypted archives: no difference with the key, nothing readable without it."""

from __future__ import annotations

import secrets
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from foldline import Archive, Session
from foldline.errors import StoreError
from foldline.stores.encrypted import EncryptedStore, Seal
from foldline.stores.memory import MemoryStore
from foldline.stores.opening import KEY, open_store
from foldline.stores.protocol import (
    Change,
    SessionHead,
    StoredBatch,
    StoredCheckpoint,
    StoredMemory,
    StoredMessage,
)
from foldline.stores.transfer import check_sessions, copy_sessions

pytest.importorskip("cryptography", reason="the extra encryption is not installed")

ONE, OTHER = (secrets.token_urlsafe(32) for _ in range(2))
WORD = "tangerine"


@pytest.fixture(autouse=True)
def no_key(monkeypatch):
    monkeypatch.delenv(KEY, raising=False)


def fill(place, key, name="s", turns=30):
    with Session.open(place, name, window=3_000, key=key) as session:
        for number in range(turns):
            role = "assistant" if number % 2 else "user"
            session.append({"role": role, "content": f"{number} {WORD}{number} " * 40})
            session.view()
        session.pin(session.messages[-1].id)
        return session.view(), session.messages, session.receipts


def stored(place):
    """Return the whole content of an archive as text."""
    if isinstance(place, Path):
        files = place.parent.glob(f"{place.name}*")
        return "".join(file.read_bytes().decode("latin-1") for file in files)
    store = open_store(place, key=ONE)
    with store._store._database.reading() as connection:
        tables = ("sessions", "messages", "blobs", "batches", "memories", "checkpoints")
        rows = [
            str(row[0])
            for table in tables
            for row in connection.execute(f"SELECT t::text FROM {table} t")  # noqa: S608  # constants
        ]
    store.close()
    return "\n".join(rows)


def test_with_the_key_everything_works_as_without_encryption(place):
    view, messages, receipts = fill(place, ONE)

    with Session.open(place, "s", window=3_000, key=ONE) as session:
        assert session.view() == view
        assert session.messages == messages
        assert session.messages[-1].pinned
        assert session.receipts == receipts
        handles = [handle for receipt in receipts for handle in receipt.recall]
        assert handles
        assert all(session.recall(handle).text for handle in handles)
        assert session.undo() is not None
    with Archive.open(place, key=ONE) as archive:
        assert archive.recall(handles[0]).text
        assert archive.recall(messages[3].id[:8]).text == messages[3].text
        assert [info.messages for info in archive.sessions()] == [30]


def test_without_the_key_nothing_can_be_read(place):
    _, messages, _ = fill(place, ONE)
    found = stored(place)
    assert "openai-chat" in found
    assert WORD not in found
    assert WORD.encode().hex() not in found
    # Handles are prefixes of these ids, too short to search for among random bytes.
    assert not any(message.id in found for message in messages)


def test_equal_content_is_stored_once(place):
    def contents():
        store = open_store(place, key=ONE)
        with store._store._database.reading() as connection:
            (count,) = connection.execute("SELECT count(*) FROM blobs").fetchone()
        store.close()
        return count

    messages = [{"role": "user", "content": f"{WORD} {number}"} for number in range(5)]
    for name in ("one", "two"):
        with Session.open(place, name, key=ONE) as session:
            session.extend(messages)
        assert contents() == 5


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (None, "This archive is encrypted. Give its key"),
        ("", "This archive is encrypted. Give its key"),
        (OTHER, "encrypted with another key. Give its own"),
        ("swordfish", "not the key of an archive. A key is 32 random bytes"),
        ("é" * 43, "not the key of an archive"),
    ],
    ids=["none", "empty", "another", "short", "not-ascii"],
)
def test_a_missing_or_wrong_key_is_an_error_with_a_hint(place, key, words):
    fill(place, ONE, turns=2)
    for opening in (
        lambda: Session.open(place, "s", key=key),
        lambda: Session.open(place, "new", key=key),
        lambda: Archive.open(place, key=key),
    ):
        with pytest.raises(StoreError, match=words) as caught:
            opening()
        assert not key or key not in str(caught.value)


def test_an_archive_with_plain_sessions_is_not_encrypted_implicitly(place):
    fill(place, None, turns=2)
    with pytest.raises(StoreError, match=r"not encrypted\. Copy it into a new one"):
        Session.open(place, "t", key=ONE)
    with Archive.open(place) as archive:
        assert [info.messages for info in archive.sessions()] == [2]


def test_a_writer_from_before_the_encryption_writes_nothing_plain(place):
    message = StoredMessage("1" * 32, "user", {"role": "user", "content": WORD})
    plain, sealed = open_store(place, key=""), open_store(place, key=ONE)
    with pytest.raises(StoreError, match=r"encrypted meanwhile.*Open it again with its key"):
        plain.begin(SessionHead("s"))
    assert sealed.names() == ()
    sealed.begin(SessionHead("s"))
    for use in (
        lambda: plain.load("s"),
        lambda: plain.begin(SessionHead("s")),
        lambda: plain.commit("s", 0, Change(0, (message,))),
    ):
        with pytest.raises(StoreError, match="encrypted meanwhile"):
            use()
    sealed.commit("s", 0, Change(0, (message,)))
    assert list(sealed.load("s").messages) == [message]
    plain.close()
    sealed.close()


def test_one_of_many_concurrent_keys_locks_a_new_archive(place):
    plain = open_store(place, key="")
    keys = [secrets.token_urlsafe(32) for _ in range(6)]
    with ThreadPoolExecutor(len(keys)) as threads:
        taken = [threads.submit(open_store, place, key=key) for key in keys]
    failed = [work.exception() for work in taken if work.exception() is not None]
    assert len(failed) == len(keys) - 1
    assert [e for e in map(str, failed) if "another key" not in e] == []
    for work in taken:
        if work.exception() is None:
            work.result().close()
    plain.close()


def test_locking_waits_for_a_first_session_in_progress(place):
    plain = open_store(place, key="")
    with ThreadPoolExecutor(1) as threads:
        with plain._database.writing() as connection:
            plain._insert(connection, SessionHead("s"))
            locking = threads.submit(open_store, place, key=ONE)
            with pytest.raises(TimeoutError):
                locking.result(0.3)
        assert isinstance(locking.exception(30), StoreError)
    assert plain.read_key_check() == ""
    assert plain.begin(SessionHead("s")).generation == 0
    plain.close()


def test_an_archive_that_has_another_key_meanwhile_is_not_written(place):
    message = StoredMessage("1" * 32, "user", {"role": "user", "content": WORD})
    store = open_store(place, key=ONE)
    store.begin(SessionHead("s"))
    with store._store._database.writing() as connection:
        connection.execute("UPDATE locks SET check_value = ?", (Seal(OTHER).check,))
    with pytest.raises(StoreError, match="not encrypted with the key"):
        store.commit("s", 0, Change(0, (message,)))
    with pytest.raises(StoreError, match="not encrypted with the key"):
        store.begin(SessionHead("t"))
    assert store.names() == ("s",)
    store.close()


def test_a_new_archive_is_encrypted_even_if_plain_ones_are_accepted(place):
    open_store(place, key=ONE, takes_plain=True).close()
    with pytest.raises(StoreError, match="This archive is encrypted"):
        open_store(place, key="")


def test_an_archive_with_plain_sessions_is_accepted_on_request(place):
    fill(place, "", turns=2)
    store = open_store(place, key=ONE, takes_plain=True)
    assert store.names() == ("s",)
    assert len(list(store.load("s").messages)) == 2
    store.close()


def test_the_key_may_come_from_the_environment(place, monkeypatch):
    monkeypatch.setenv(KEY, ONE)
    view, _, _ = fill(place, None)
    monkeypatch.delenv(KEY)
    with Session.open(place, "s", window=3_000, key=ONE) as session:
        assert session.view() == view


def test_a_copy_with_another_key_is_equal_and_the_old_key_no_longer_opens_it(place, tmp_path):
    view, _, receipts = fill(place, ONE)
    old, new = open_store(place, key=ONE), open_store(tmp_path / "new.db", key=OTHER)
    assert [copied.messages for copied in copy_sessions(old, new)] == [30]
    assert [copied.messages for copied in copy_sessions(old, new)] == [0]
    assert [check.problem for check in check_sessions(new)] == [""]
    old.close()
    new.close()
    with Session.open(tmp_path / "new.db", "s", window=3_000, key=OTHER) as session:
        assert session.view() == view
        assert session.receipts == receipts
    with pytest.raises(StoreError, match="another key"):
        Archive.open(tmp_path / "new.db", key=ONE)


def test_changed_content_is_reported_as_damage():
    seal = Seal(ONE)
    sealed = seal.seal({"role": "user"})
    ((mark, text),) = sealed.items()
    for wrong in ({mark: text[:-4] + "AAA="}, {mark: 3}, {"role": "user"}, "x", 7):
        with pytest.raises(StoreError, match="did not encrypt"):
            seal.open(wrong)
    assert seal.open(sealed) == {"role": "user"}
    with pytest.raises(StoreError, match="did not encrypt"):
        seal.show("00" * 48)


def test_an_unreadable_id_hides_no_other_from_a_search(place):
    _, messages, _ = fill(place, ONE, "damaged", turns=3)
    fill(place, ONE, "whole", turns=3)
    store = open_store(place, key=ONE)
    with store._store._database.writing() as connection:
        connection.execute(
            "UPDATE messages SET id = 'none' WHERE seq = 1 AND session ="
            " (SELECT id FROM sessions WHERE name = 'damaged')"
        )
    first, second, third = (message.id for message in messages)
    assert store.find(first) == (("whole", first), ("damaged", first))
    assert store.find(second) == (("whole", second),)
    assert store.find(third) == (("whole", third), ("damaged", third))
    store.close()


def test_any_store_can_be_wrapped():
    inner = MemoryStore()
    with Session.open(None, "s", store=EncryptedStore(inner, Seal(ONE))) as session:
        number = session.append({"role": "user", "content": WORD})
        assert EncryptedStore(inner, Seal(ONE)).find(number[:8]) == (("s", number),)
    assert WORD not in str(inner.load("s").messages[0].wire)


def test_an_undecryptable_memory_hides_nothing_of_the_session():
    kept = MemoryStore()
    store = EncryptedStore(kept, Seal(ONE))
    store.begin(SessionHead("s"))
    said = StoredMessage("0" * 32, "user", {"content": WORD})
    batch = StoredBatch(0, 1, "compaction", {"edits": []}, {}, 1.0)
    store.commit("s", 0, Change(0, (said,), (batch,)))
    memory, checkpoint = StoredMemory("u", "d", 1, 1, 1.0, {}), StoredCheckpoint(0, 1, {})
    kept.commit("s", 1, Change(1, memory=memory, checkpoint=checkpoint))

    stored = store.load("s")

    assert (stored.memory, stored.checkpoint) == (None, None)
    assert stored.messages == (said,)
