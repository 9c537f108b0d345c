import sqlite3
import stat
import subprocess
import sys
from dataclasses import replace
from hashlib import blake2b

import pytest
from tests.children import launch

from foldline.engine.receipt import Receipt
from foldline.errors import StoreError
from foldline.session.batches import restore_history
from foldline.stores import blobs
from foldline.stores.migrations import APPLICATION_ID, MIGRATIONS
from foldline.stores.protocol import Change, SessionHead, StoredBatch, StoredMemory, StoredMessage
from foldline.stores.sqlite import SqliteStore

HEAD = SessionHead("s", "openai-chat")


def message(number, text="hello"):
    return StoredMessage(f"{number:032x}", "user", {"role": "user", "content": text})


def raw(path):
    return sqlite3.connect(path, isolation_level=None)


def test_equal_content_is_stored_once(tmp_path):
    store = SqliteStore(tmp_path / "a.db")
    store.begin(HEAD)
    long = "line of text\n" * 5_000
    store.commit("s", 0, Change(at=0, messages=tuple(message(n, long) for n in range(50))))
    store.close()

    connection = raw(tmp_path / "a.db")
    (blobs,) = connection.execute("SELECT count(*) FROM blobs").fetchone()
    (size,) = connection.execute("SELECT sum(length(data)) FROM blobs").fetchone()
    connection.close()

    assert blobs == 1
    assert size < len(long) / 20


def test_the_file_is_readable_by_its_owner_only(tmp_path):
    path = tmp_path / "a.db"
    store = SqliteStore(path)
    store.begin(HEAD)

    modes = {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    store.close()

    assert modes == {0o600}


def test_commits_are_synced_unless_the_caller_disables_it(tmp_path):
    levels = []
    for durability in ("full", "process"):
        store = SqliteStore(tmp_path / "a.db", durability=durability)
        with store._database.reading() as connection:
            levels.append(connection.execute("PRAGMA synchronous").fetchone()[0])
            mode = connection.execute("PRAGMA journal_mode").fetchone()[0]
        store.close()

    assert levels == [2, 1]
    assert mode == "wal"


def test_an_unknown_durability_is_rejected(tmp_path):
    with pytest.raises(StoreError, match="durability"):
        SqliteStore(tmp_path / "a.db", durability="perhaps")


def test_a_file_of_a_newer_version_is_not_changed(tmp_path):
    path = tmp_path / "a.db"
    SqliteStore(path).close()
    connection = raw(path)
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    connection.close()

    with pytest.raises(StoreError, match="newer Foldline") as caught:
        SqliteStore(path)

    assert "pip install --upgrade" in caught.value.hint


def test_a_file_that_is_not_a_database_is_not_changed(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("my notes, which are long enough to be taken for a header\n" * 100)
    before = path.read_bytes()

    with pytest.raises(StoreError, match="not a SQLite file"):
        SqliteStore(path)

    assert path.read_bytes() == before


def test_a_database_of_another_program_is_not_changed(tmp_path):
    path = tmp_path / "other.db"
    connection = raw(path)
    connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.close()
    before = path.read_bytes()

    with pytest.raises(StoreError, match="another program"):
        SqliteStore(path)

    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("place", "words"),
    [(".", "is a folder"), ("missing/a.db", "does not exist"), ("a.db/b.db", "cannot be opened")],
)
def test_an_impossible_path_is_named(tmp_path, place, words):
    (tmp_path / "a.db").touch()

    with pytest.raises(StoreError, match=words) as caught:
        SqliteStore(tmp_path / place)

    assert caught.value.hint


def test_damaged_content_is_detected(tmp_path):
    path = tmp_path / "a.db"
    store = SqliteStore(path)
    store.begin(HEAD)
    store.commit("s", 0, Change(at=0, messages=(message(1, "x" * 10), message(2, "y" * 2_000))))
    for statement in (
        "UPDATE blobs SET data = replace(data, 'x', 'z') WHERE codec = 0",
        "UPDATE blobs SET data = zeroblob(length(data)) WHERE codec = 1",
    ):
        with store._database.writing() as connection:
            connection.execute(statement)

        with pytest.raises(StoreError, match="damaged"):
            tuple(store.load("s").messages)
    store.close()


def test_a_closed_store_raises_an_error(tmp_path):
    store = SqliteStore(tmp_path / "a.db")
    store.close()

    with pytest.raises(StoreError, match="is closed"):
        store.load("s")


def test_a_second_writer_waits_and_then_gets_an_error_with_a_hint(tmp_path):
    path = tmp_path / "a.db"
    store = SqliteStore(path, patience=0.05)
    store.begin(HEAD)
    other = raw(path)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(StoreError, match=r"Another process has been writing") as caught:
        store.commit("s", 0, Change(at=0, messages=(message(1),)))
    readable = store.load("s")
    other.execute("ROLLBACK")

    assert "Try again" in caught.value.hint
    assert readable.messages == ()
    assert store.commit("s", 0, Change(at=0, messages=(message(1),))) == 1
    other.close()
    store.close()


WRITER = """
import sys
from foldline.stores.protocol import Change, SessionHead, StoredBatch, StoredMemory, StoredMessage
from foldline.stores.sqlite import SqliteStore

store = SqliteStore(sys.argv[1], durability="process", patience=60)
name = sys.argv[2]
generation = store.begin(SessionHead(name)).generation
for number in range(100):
    wire = {"role": "user", "content": f"{name} {number}"}
    message = StoredMessage(f"{name}{number:031x}", "user", wire)
    generation = store.commit(name, generation, Change(at=number, messages=(message,)))
print(generation)
"""


def test_processes_write_concurrently_while_another_reads(tmp_path):
    path = tmp_path / "a.db"
    store = SqliteStore(path)
    names = ("a", "b", "c")
    children = [
        launch([sys.executable, "-c", WRITER, str(path), name], stdout=subprocess.PIPE, text=True)
        for name in names
    ]
    seen = []
    while any(child.poll() is None for child in children):
        loaded = store.load("a")
        seen.append(0 if loaded is None else len(loaded.messages))
    out = [child.communicate(timeout=60)[0].strip() for child in children]

    assert out == ["100"] * 3
    assert seen == sorted(seen)
    assert [len(store.load(name).messages) for name in names] == [100] * 3
    store.close()


def test_two_processes_that_open_a_new_file_at_once_both_succeed(tmp_path):
    code = "import sys; from foldline.stores.sqlite import SqliteStore; SqliteStore(sys.argv[1])"
    for attempt in range(3):
        path = str(tmp_path / f"{attempt}.db")
        children = [launch([sys.executable, "-c", code, path]) for _ in range(3)]

        assert [child.wait(timeout=60) for child in children] == [0, 0, 0]


def test_a_session_without_messages_is_stored(tmp_path):
    SqliteStore(tmp_path / "a.db").begin(replace(HEAD, model="gpt-5", window=9_000, created=3.5))

    store = SqliteStore(tmp_path / "a.db")
    head = store.load("s").head
    store.close()

    assert head == SessionHead("s", "openai-chat", "gpt-5", 9_000, 3.5)


def test_a_path_that_sqlite_would_take_for_memory_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = SqliteStore(":memory:")
    store.begin(HEAD)
    store.commit("s", 0, Change(at=0, messages=(message(1),)))
    store.close()

    assert len(SqliteStore(tmp_path / ":memory:").load("s").messages) == 1


@pytest.mark.parametrize("replaced", [False, True])
def test_nothing_is_recorded_in_a_removed_file(tmp_path, replaced):
    path = tmp_path / "a.db"
    store = SqliteStore(path)
    store.begin(HEAD)
    path.rename(tmp_path / "moved.db")
    if replaced:
        SqliteStore(path).close()

    with pytest.raises(StoreError, match="removed or replaced"):
        store.commit("s", 0, Change(at=0, messages=(message(1),)))


@pytest.mark.parametrize(
    "head",
    [SessionHead("s\ud800"), SessionHead("s", model="\udc80"), SessionHead("s", window=2**70)],
)
def test_values_that_sqlite_cannot_hold_are_rejected(tmp_path, head):
    store = SqliteStore(tmp_path / "a.db")

    with pytest.raises(StoreError, match="not one that SQLite holds"):
        store.begin(head)
    assert store.sessions() == ()


DEEP = b"[" * 100_000 + b"]" * 100_000


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE blobs SET size = -1",
        "UPDATE blobs SET size = 'x'",
        "UPDATE blobs SET data = 'text'",
        "UPDATE messages SET usage = 'nothing'",
        "UPDATE messages SET usage = '[1, 2, 3, 4, 5, 6, 7, 8]'",
    ],
)
def test_damaged_rows_raise_a_clear_error(tmp_path, damage):
    store = SqliteStore(tmp_path / "a.db")
    store.begin(HEAD)
    store.commit("s", 0, Change(at=0, messages=(message(1, "long " * 500),)))
    raw(tmp_path / "a.db").execute(damage)

    with pytest.raises(StoreError):
        tuple(store.load("s").messages)


def test_content_nested_too_deeply_raises_a_clear_error():
    digest = blake2b(DEEP, digest_size=16).digest()

    with pytest.raises(StoreError, match="no readable JSON"):
        blobs.read(digest, blobs.PLAIN, len(DEEP), DEEP)


# --- archives of earlier versions, and session memory -----------------------------------------


def first_version(path):
    """Write an archive in the format of the first version."""
    connection = raw(path)
    for statement in MIGRATIONS[0]:
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("PRAGMA user_version = 1")
    connection.execute(
        "INSERT INTO sessions (name, dialect, model, window, created, updated, generation)"
        " VALUES ('s', 'openai-chat', '', NULL, 1.0, 2.0, 2)"
    )
    wire = blobs.put(connection, blobs.pack({"role": "user", "content": "hello"}))
    edits = blobs.put(connection, blobs.pack({"schema": "foldline.edits/1", "edits": []}))
    receipt = blobs.put(connection, blobs.pack({"status": "unchanged"}))
    connection.execute(
        "INSERT INTO messages VALUES (1, 0, ?, 'user', 1.0, 0, NULL, ?, NULL)", ("1" * 32, wire)
    )
    connection.execute(
        "INSERT INTO batches VALUES (1, 0, 1, 'attempt', 2.0, NULL, ?, ?)", (edits, receipt)
    )
    connection.close()


@pytest.mark.requirement("F94", "K28")
def test_an_archive_of_the_first_version_can_be_continued(tmp_path):
    first_version(tmp_path / "a.db")
    store = SqliteStore(tmp_path / "a.db")
    old = store.load("s")

    assert [m.wire["content"] for m in old.messages] == ["hello"]
    assert (old.memory, old.batches[0].memory, old.batches[0].repeats) == (None, None, 1)
    store.commit("s", 2, Change(at=1, memory=prepared(1)))
    store.commit("s", 3, Change(at=1, again=0, time=3.0))
    again = SqliteStore(tmp_path / "a.db").load("s")
    assert again.memory == prepared(1)
    assert again.batches[0].repeats == 2


def prepared(number, text="x"):
    content = {"edits": {"schema": "foldline.edits/1", "edits": []}, "text": text}
    return StoredMemory(f"{number:032x}", f"{number:032x}", number, number, 7.0, content)


@pytest.mark.requirement("F94")
def test_repeated_preparations_take_the_space_of_one(tmp_path):
    path = tmp_path / "a.db"
    store = SqliteStore(path, durability="process")
    store.begin(HEAD)
    for number in range(300):
        text = f"{number} " + "what was done, and why " * 500
        store.commit("s", number, Change(at=0, memory=prepared(number, text)))
    store.close()

    connection = raw(path)
    (rows,) = connection.execute("SELECT count(*) FROM memories").fetchone()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    assert rows == 1
    assert path.stat().st_size < 200_000


def test_a_damaged_memory_hides_nothing_of_the_session(tmp_path):
    store = SqliteStore(tmp_path / "a.db")
    store.begin(HEAD)
    store.commit("s", 0, Change(at=0, messages=(message(1),), memory=prepared(1)))
    connection = raw(tmp_path / "a.db")
    connection.execute("UPDATE memories SET data = x'00'")
    connection.close()

    assert store.load("s").memory is None
    assert len(store.load("s").messages) == 1


@pytest.mark.parametrize(
    "damage", ["UPDATE memories SET data = x'00'", "DELETE FROM memories"], ids=["hurt", "missing"]
)
def test_a_damaged_memory_that_is_in_effect_is_an_error(tmp_path, damage):
    store = SqliteStore(tmp_path / "a.db")
    store.begin(HEAD)
    edits = {"schema": "foldline.edits/1", "edits": []}
    receipt = Receipt("compacted", "test", 100, 50, 6, 3, "c", "p", 60).to_dict()
    early = prepared(1)
    early = replace(early, content=early.content | {"recall": {}})
    used = StoredBatch(0, 0, "compaction", edits, receipt, 1.0, memory=early)
    store.commit("s", 0, Change(at=0, batches=(used,)))
    assert len(restore_history(store.load("s")).batches) == 1
    connection = raw(tmp_path / "a.db")
    connection.execute(damage)
    connection.close()

    with pytest.raises(StoreError, match="The compaction 0 cannot be read"):
        restore_history(store.load("s"))


def test_deleted_content_cannot_be_recovered_from_the_files(tmp_path):
    path, secret = tmp_path / "a.db", "the word is pangolin"
    store = SqliteStore(path)
    for name, text in (("s", secret), ("other", "harmless")):
        store.begin(replace(HEAD, name=name))
        messages = tuple(message(n, f"{text} {n}") for n in range(20))
        edits = {"note": text}
        prepared = StoredMemory("u", "d", 20, 1, 1.0, {"note": text})
        batches = (StoredBatch(0, 20, "compaction", edits, {"reason": text}, 1.0),)
        store.commit(name, 0, Change(at=0, messages=messages, batches=batches, memory=prepared))
    assert any(secret.encode() in file.read_bytes() for file in tmp_path.iterdir())

    store.delete(["s"])

    for file in tmp_path.iterdir():
        assert secret.encode() not in file.read_bytes(), file.name
        assert b"harmless" in file.read_bytes() or file.name != "a.db"
    assert path.stat().st_size == store.size()
    store.close()


def test_a_reader_of_a_deleted_session_gets_an_error_and_never_another_session(tmp_path):
    reader, writer = SqliteStore(tmp_path / "a.db"), SqliteStore(tmp_path / "a.db")
    writer.begin(HEAD)
    writer.commit("s", 0, Change(at=0, messages=(message(1),)))
    found = reader.load("s")

    writer.delete(["s"])
    writer.begin(HEAD)
    writer.commit("s", 0, Change(at=0, messages=(message(2),)))

    with pytest.raises(StoreError, match="deleted"):
        list(found.messages)
    reader.close()
    writer.close()


def test_bytes_not_overwritten_because_of_a_reader_are_reported(tmp_path):
    path = tmp_path / "a.db"
    store = SqliteStore(path, patience=0.05)
    store.begin(HEAD)
    store.commit("s", 0, Change(at=0, messages=(message(1),)))
    reader = raw(path)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM sessions").fetchone()

    with pytest.raises(StoreError, match="It was deleted, but"):
        store.delete(["s"])

    reader.close()
    assert store.load("s") is None
    store.close()


def test_an_archive_readable_by_others_is_restricted_to_its_owner(tmp_path):
    path = tmp_path / "a.db"
    SqliteStore(path).close()
    path.chmod(0o644)

    SqliteStore(path).close()

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
