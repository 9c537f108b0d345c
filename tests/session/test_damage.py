"""A session that is damaged in the archive: one error, and the rest stays usable."""
# ruff: noqa: S608  # the statements are put together from names in this file

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from foldline import Archive, Session
from foldline.errors import StoreError
from foldline.session import batches
from foldline.session.batches import restore_history
from foldline.stores.protocol import SessionHead, StoredBatch, StoredSession


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """An archive with a session that was compacted, and another one."""
    file = tmp_path / "a.db"
    for name in ("s", "other"):
        with Session.open(file, name, window=2_000, format="openai-chat") as session:
            for number in range(20):
                role = "assistant" if number % 2 else "user"
                session.append({"role": role, "content": f"{name} {number} " + "word " * 60})
            assert session.compact(force=True).status == "compacted"
    return file


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


def use(path: Path) -> None:
    with Session.open(path, "s", window=2_000) as session:
        tuple(session.messages)
        session.compact()


FIRST = "session = (SELECT id FROM sessions WHERE name = 's')"

DAMAGE = {
    "a message without content": f"UPDATE messages SET wire = 10000 WHERE {FIRST} AND seq = 3",
    "a missing message": f"DELETE FROM messages WHERE {FIRST} AND seq = 3",
    "an id twice": f"UPDATE messages SET id = 'x' WHERE {FIRST} AND seq IN (3, 4)",
    "a role that is none": f"UPDATE messages SET role = 'judge' WHERE {FIRST} AND seq = 3",
    "a time that is none": f"UPDATE messages SET time = 'noon' WHERE {FIRST} AND seq = 3",
    "a usage that is none": f"UPDATE messages SET usage = '[\"x\"]' WHERE {FIRST} AND seq = 3",
    "edits that are none": f"UPDATE batches SET edits = receipt WHERE {FIRST}",
    "a missing compaction": f"UPDATE batches SET number = number + 1 WHERE {FIRST}",
    "a format that is none": "UPDATE sessions SET dialect = 'morse' WHERE name = 's'",
    "a window that is none": "UPDATE sessions SET window = 'wide' WHERE name = 's'",
}


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_session_is_one_error_that_names_it_and_what_can_be_read(
    path: Path, what: str
) -> None:
    change(path, DAMAGE[what])
    with pytest.raises(StoreError) as caught:
        use(path)
    assert caught.value.damaged
    assert caught.value.session == "s"
    assert "The session 's' is damaged" in str(caught.value)
    assert "Archive.salvage('s')" in str(caught.value)


@pytest.mark.parametrize("what", DAMAGE)
def test_the_rest_of_a_damaged_archive_stays_usable(path: Path, what: str) -> None:
    change(path, DAMAGE[what])
    with Archive.open(path) as archive:
        assert {info.head.name for info in archive.sessions()} == {"s", "other"}
        messages = archive.messages("other")
        assert [message.text[:8].split()[1] for message in messages] == [str(n) for n in range(20)]
        assert archive.recall(messages[4].id[:8]).text == messages[4].text
    with Session.open(path, "other", window=2_000) as session:
        session.append({"role": "user", "content": "and on"})
        assert len(session.messages) == 21


def test_a_damaged_history_read_on_demand_hides_no_other_session(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "KEPT", 0)
    change(path, DAMAGE["edits that are none"])
    with Archive.open(path) as archive:
        last = archive.messages("other")[-1]
        assert archive.recall(last.id[:12]).text == last.text


def test_a_snapshot_whose_id_is_not_a_text_is_damage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "KEPT", 0)
    fold = {"type": "fold", "messages": ["a"], "snapshot": {"id": 7}}
    batch = StoredBatch(0, 0, "compaction", {"edits": [fold]}, {"recall": {}})
    history = restore_history(StoredSession(SessionHead("s"), 1, (), (), (batch,)))
    with pytest.raises(StoreError, match="session 's' is damaged"):
        history.snapshots()


def test_a_search_reads_other_sessions_and_names_the_damage_of_the_requested_one(
    path: Path,
) -> None:
    change(path, DAMAGE["a role that is none"])
    with Archive.open(path) as archive:
        found = archive.search("other word")
        assert 'session "other"' in found.text
        assert found.searched == 1
        with pytest.raises(StoreError, match="session 's' is damaged"):
            archive.search("word", session="s")


def test_readable_messages_of_a_damaged_session_are_salvaged(path: Path) -> None:
    with Archive.open(path) as archive:
        before = archive.messages("s")
    change(path, DAMAGE["a role that is none"])
    change(path, DAMAGE["edits that are none"])
    with Archive.open(path) as archive:
        assert archive.salvage("s") == before[:3] + before[4:]
        assert archive.salvage("other") == archive.messages("other")
    change(path, "UPDATE blobs SET data = x'00'")
    with Archive.open(path) as archive, pytest.raises(StoreError, match="session 's' is damaged"):
        archive.salvage("s")


def test_messages_after_much_damage_are_salvaged(path: Path) -> None:
    change(path, f"UPDATE messages SET role = 'judge' WHERE {FIRST} AND seq < 12")
    change(path, f"UPDATE messages SET seq = 1 << 38 WHERE {FIRST} AND seq = 19")
    with Archive.open(path) as archive:
        assert [m.text.split()[1] for m in archive.salvage("s")] == [str(n) for n in range(12, 20)]
