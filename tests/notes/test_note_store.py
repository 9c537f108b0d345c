from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from foldline.errors import BudgetError, InputError, StoreError
from foldline.notes.folder import FolderLock
from foldline.notes.note import BrokenNote, Note, NoteConflict, UnknownNote
from foldline.notes.note_fields import draft_note
from foldline.notes.note_store import NoteLimits, NoteStore


@pytest.fixture
def shelf(tmp_path: Path) -> NoteStore:
    return NoteStore(tmp_path, NoteLimits(patience=0.2))


def make(shelf: NoteStore, title: str = "Title", content: str = "said") -> Note:
    return shelf.create(draft_note(title=title, content=content))


def file_of(shelf: NoteStore, note: Note) -> Path:
    return next(shelf.folder.path.glob(f"*{note.id}.md"))


@pytest.mark.requirement("T6")
def test_every_version_is_kept_as_it_stood_there(shelf: NoteStore) -> None:
    note = make(shelf)
    path = file_of(shelf, note)
    by_hand = path.read_text().replace("said", "said by hand").replace("---\n\n", "# me\n---\n\n")
    path.write_text(by_hand)
    after = shelf.rewrite(note.id, lambda n: replace(n, title="New"))
    assert (after.version, after.content) == (2, "said by hand")
    assert "# me" in path.read_text()
    (old,) = shelf.versions(note.id)
    assert (old.number, old.note.title, old.note.content) == (1, "Title", "said by hand")
    kept = shelf.data.path / "history" / note.id / "0001.md"
    assert kept.read_text() == by_hand


def test_a_change_that_changes_nothing_leaves_no_trace(shelf: NoteStore) -> None:
    note = make(shelf)
    before = file_of(shelf, note).read_bytes()
    assert shelf.rewrite(note.id, lambda n: n) == note
    assert file_of(shelf, note).read_bytes() == before
    assert shelf.versions(note.id) == ()


def test_a_history_that_a_crash_left_ahead_is_used_and_never_overwritten(shelf: NoteStore) -> None:
    note = make(shelf)
    data = file_of(shelf, note).read_bytes()
    history = shelf.data.subfolder("history").subfolder(note.id)
    history.create("0001.md", data)  # the crash came before the note itself was written
    assert shelf.rewrite(note.id, lambda n: replace(n, content="two")).version == 2
    history.create("0002.md", b"somebody else's")
    assert shelf.rewrite(note.id, lambda n: replace(n, content="three")).version == 4
    assert history.read("0002.md", 99)[0] == b"somebody else's"
    (history.path / "0002.md").unlink()
    assert [one.note.content for one in shelf.versions(note.id)] == ["said", "two"]


@pytest.mark.requirement("T6")
def test_a_deleted_note_can_be_restored(shelf: NoteStore) -> None:
    note = make(shelf)
    name = file_of(shelf, note).name
    shelf.move_to_trash(note.id)
    with pytest.raises(UnknownNote):
        shelf.read(note.id)
    with pytest.raises(UnknownNote):
        shelf.move_to_trash(note.id)
    assert shelf.restore_from_trash(note.id) == note
    assert file_of(shelf, note).name == name
    with pytest.raises(NoteConflict, match="not deleted"):
        shelf.restore_from_trash(note.id)


@pytest.mark.requirement("T6")
def test_a_new_note_never_replaces_a_deleted_one(shelf: NoteStore) -> None:
    first = make(shelf)
    shelf.move_to_trash(first.id)
    second = make(shelf)
    assert second.id > first.id
    assert {note.id for _, note in shelf.trashed()} == {first.id}


def test_a_broken_file_is_neither_read_nor_written(shelf: NoteStore) -> None:
    note = make(shelf)
    path = file_of(shelf, note)
    shelf.refresh()
    path.write_text("---\nid: [\n---\n")
    for use in (shelf.read, lambda one: shelf.rewrite(one, lambda n: replace(n, title="x"))):
        with pytest.raises((BrokenNote, UnknownNote)):
            use(note.id)
    assert path.read_text() == "---\nid: [\n---\n"
    assert shelf.versions(note.id) == ()


def test_a_moved_note_is_found(shelf: NoteStore) -> None:
    note = make(shelf)
    file_of(shelf, note).rename(shelf.folder.path / "renamed.md")
    assert shelf.read(note.id) == note


def test_a_change_that_fails_leaves_the_note(shelf: NoteStore) -> None:
    note = make(shelf)

    def refuse(_: Note) -> Note:
        raise NoteConflict("no")

    with pytest.raises(NoteConflict):
        shelf.rewrite(note.id, refuse)
    with pytest.raises(InputError, match="bytes"):
        shelf.rewrite(note.id, lambda n: replace(n, content="x" * (1 << 20)))
    assert shelf.read(note.id) == note


def test_the_limit_of_the_folder_is_an_error(tmp_path: Path) -> None:
    shelf = NoteStore(tmp_path, NoteLimits(most=2))
    make(shelf)
    make(shelf)
    with pytest.raises(StoreError, match="the limit of 2 notes"):
        make(shelf)
    with pytest.raises(StoreError, match="the limit of 2 notes"):
        make(NoteStore(tmp_path, NoteLimits(most=2)))
    assert len(shelf.refresh()) == 2


@pytest.mark.parametrize("wrong", [{"largest": 0}, {"most": 0}, {"patience": -1}])
def test_limits_make_sense(wrong: dict[str, int]) -> None:
    with pytest.raises(BudgetError):
        NoteLimits(**wrong)


def test_waiting_too_long_for_another_writer_is_an_error(shelf: NoteStore) -> None:
    note, ready, done = make(shelf), threading.Event(), threading.Event()
    path = shelf.data.path / "lock"

    def hold() -> None:
        with FolderLock(path, 5, "busy").held():
            ready.set()
            done.wait(10)

    thread = threading.Thread(target=hold, daemon=True)
    thread.start()
    try:
        assert ready.wait(10)
        with pytest.raises(StoreError, match="Another process"):
            shelf.rewrite(note.id, lambda n: replace(n, title="x"))
    finally:
        done.set()
        thread.join(10)
    assert shelf.rewrite(note.id, lambda n: replace(n, title="x")).title == "x"


def test_machine_local_files_are_ignored_by_git(shelf: NoteStore) -> None:
    ignored = (shelf.data.path / ".gitignore").read_text()
    assert {"/lock", "/running", "/index.db*"} <= set(ignored.splitlines())
    assert "history" not in ignored


@pytest.mark.requirement("T6")
def test_unreadable_content_is_never_written(shelf: NoteStore) -> None:
    with pytest.raises(InputError, match="could not be read again"):
        make(shelf, "a" + "\u00ad" * 16_000)  # each is escaped, and takes ten characters
    assert not list(shelf.folder.path.glob("*.md"))
    note = make(shelf)
    path = file_of(shelf, note)
    path.write_text(path.read_text().replace("version: 1", "version: 999999999"))
    with pytest.raises(InputError, match="could not be read again"):
        shelf.rewrite(note.id, lambda n: replace(n, title="New"))
    assert shelf.read(note.id).title == "Title"
