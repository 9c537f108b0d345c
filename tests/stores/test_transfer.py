"""Whole archives: copied, and checked."""

import sqlite3

import pytest

from foldline import Archive, Session
from foldline.errors import StoreError
from foldline.stores import transfer
from foldline.stores.opening import open_store
from foldline.stores.transfer import SessionCopy, check_sessions, copy_sessions

TEXT = "The cache is stale because the clock of the worker runs behind. " * 12


def fill(place, name="s", turns=40):
    with Session.open(place, name, window=4_000) as session:
        for number in range(turns):
            role = "assistant" if number % 2 else "user"
            session.append({"role": role, "content": f"{number}: {TEXT}"})
            session.view()
        return session.view()


def copy(source, target):
    stores = open_store(source), open_store(target)
    try:
        return list(copy_sessions(*stores))
    finally:
        for store in stores:
            store.close()


def test_a_copy_has_the_same_view_and_recall(tmp_path, place):
    source = tmp_path / "source.db"
    view = fill(source)
    copied = copy(source, place)

    with Archive.open(source) as old, Archive.open(place) as new:
        first = old.messages("s")[0].id
        assert new.messages("s") == old.messages("s")
        assert new.recall(first).text == old.recall(first).text
    with Session.open(place, "s", window=4_000) as session:
        assert session.view() == view
    assert copied[0].messages == 40
    assert copied[0].batches > 0


def test_a_copy_of_a_copy_is_the_same_again(tmp_path, place):
    source, back = tmp_path / "source.db", tmp_path / "b.db"
    view = fill(source)
    copy(source, place)
    copy(place, back)
    with Session.open(back, "s", window=4_000) as session:
        assert session.view() == view


def test_only_new_content_is_copied(tmp_path, place):
    source = tmp_path / "source.db"
    fill(source)
    copy(source, place)
    assert copy(source, place) == [SessionCopy("s", 0, 0)]
    with Session.open(source, "s", window=4_000) as session:
        session.append({"role": "user", "content": "one more"})
    assert copy(source, place) == [SessionCopy("s", 1, 0)]


def test_another_session_with_the_same_name_is_not_changed(tmp_path, place):
    source = tmp_path / "source.db"
    fill(source, turns=2)
    with Session.open(place, "s", window=4_000) as session:
        session.append({"role": "user", "content": "something else"})
    with pytest.raises(StoreError, match="another session 's'"):
        copy(source, place)


def test_a_check_names_damage_and_continues(tmp_path):
    place = tmp_path / "source.db"
    fill(place, "whole", 4)
    fill(place, "hurt", 6)
    with sqlite3.connect(place) as connection:
        connection.execute(
            "UPDATE blobs SET data = zeroblob(9) WHERE id = (SELECT wire FROM messages m"
            " JOIN sessions s ON s.id = m.session WHERE s.name = 'hurt' AND m.seq = 5)"
        )
    connection.close()
    store = open_store(place)
    checks = {one.name: one for one in check_sessions(store)}
    store.close()

    assert (checks["whole"].messages, checks["whole"].problem) == (4, "")
    assert (checks["hurt"].messages, checks["hurt"].unreadable) == (6, 1)
    assert "damaged" in checks["hurt"].problem


def test_a_check_skips_a_gap_at_once(tmp_path, monkeypatch):
    place, read, plain = tmp_path / "source.db", [], transfer._read
    fill(place, "s", 4)
    with sqlite3.connect(place) as connection:
        connection.execute("UPDATE messages SET seq = 1 << 38 WHERE seq = 3")
    connection.close()

    def counted(stored, start, stop):
        read.append(start)
        assert len(read) < 3 * transfer.CHUNK
        return plain(stored, start, stop)

    monkeypatch.setattr(transfer, "_read", counted)
    store = open_store(place)
    (check,) = check_sessions(store)
    store.close()

    assert (check.messages, check.messages - check.unreadable) == (2**38 + 1, 4)


@pytest.mark.parametrize("first", [3, 4])
def test_messages_after_a_gap_are_counted_and_salvaged(tmp_path, monkeypatch, first):
    place = tmp_path / "source.db"
    monkeypatch.setattr(transfer, "CHUNK", 4)
    fill(place, "s", 20)
    with sqlite3.connect(place) as connection:
        connection.execute("DELETE FROM messages WHERE seq BETWEEN ? AND 12", (first,))
    connection.close()
    store = open_store(place)
    (check,) = check_sessions(store)
    store.close()

    assert (check.messages, check.unreadable) == (20, 13 - first)
    assert check.problem
    with Archive.open(place) as archive:
        kept = [int(message.text.split(":")[0]) for message in archive.salvage("s")]
    assert kept == [*range(first), *range(13, 20)]
