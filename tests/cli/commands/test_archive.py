"""``foldline archive``."""

import json
import sqlite3

import pytest
from tests.cli.sample import foldline

from foldline.session import Session


@pytest.fixture
def place(tmp_path):
    path = tmp_path / "a.db"
    with Session.open(path, "agent", window=8_000) as session:
        for word in ("one", "two"):
            session.append({"role": "user", "content": word})
    return path


def test_an_archive_is_copied_and_checked(place, tmp_path):
    copied = foldline("archive", "copy", place, tmp_path / "b.db", "--json")
    assert json.loads(copied.stdout)["messages"] == 2
    assert "agent: 2 messages added" in copied.stderr
    checked = foldline("archive", "check", tmp_path / "b.db")
    assert checked.exit_code == 0
    assert "1 session, 2 messages: all of it readable." in checked.stderr


def test_an_archive_is_encrypted_and_its_key_changed_by_copying_it(place, tmp_path, monkeypatch):
    def key():
        return foldline("archive", "key").stdout.strip()

    one, other = key(), key()
    assert one != other
    (tmp_path / "new-key.txt").write_text(other + "\n")
    monkeypatch.setenv("FOLDLINE_ARCHIVE_KEY", one)
    foldline("archive", "copy", place, tmp_path / "one.db")
    new = ("--key-file", tmp_path / "new-key.txt")
    copied = foldline("archive", "copy", tmp_path / "one.db", tmp_path / "two.db", *new)
    assert "2 messages added" in copied.stderr
    refused = foldline("archive", "check", tmp_path / "two.db")
    assert refused.exit_code == 5
    assert "encrypted with another key" in refused.stderr
    monkeypatch.setenv("FOLDLINE_ARCHIVE_KEY", other)
    assert "all of it readable" in foldline("archive", "check", tmp_path / "two.db").stderr
    foldline("archive", "copy", tmp_path / "two.db", tmp_path / "plain.db", "--plain")
    monkeypatch.delenv("FOLDLINE_ARCHIVE_KEY")
    assert "all of it readable" in foldline("archive", "check", tmp_path / "plain.db").stderr


def test_damage_is_named_and_sets_the_exit_code(place):
    with sqlite3.connect(place) as connection:
        connection.execute("UPDATE blobs SET data = zeroblob(3)")
    connection.close()
    done = foldline("archive", "check", place, "--json")
    assert done.exit_code == 5
    assert json.loads(done.stdout)["damaged"][0]["unreadable"] == 2


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("check", "nowhere.db"), 5, "There is no archive nowhere.db"),
        (("copy", "a.db", "./a.db"), 2, "the same archive"),
        (("copy", "postgresql://u:pw@127.0.0.1:x/d", "b.db"), 5, "127.0.0.1/d cannot be reached"),
    ],
)
def test_a_wrong_place_is_named(words, code, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = foldline("archive", *words)
    assert done.exit_code == code
    assert sentence in done.stderr
    assert "u:pw" not in done.stderr
