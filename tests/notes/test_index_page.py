from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from foldline.notes import NoteLimits, Notes
from foldline.notes.index_page import FEW, MARK, PAUSE, IndexPage


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[Notes]:
    with Notes.open(tmp_path) as opened:
        yield opened


def page(notes: Notes) -> str:
    return (notes.folder / "INDEX.md").read_text(encoding="utf-8")


def lines(notes: Notes) -> list[str]:
    return [line for line in page(notes).splitlines() if line.startswith("- ")]


def test_a_page_lists_the_notes_the_newest_change_first(notes: Notes) -> None:
    old = notes.create("Login fails", type="blocker", tags=["auth", "登录"])
    notes.create("慢查询", level="project")
    task = notes.tasks.add("Ship it")
    notes.update(old.id, title="Login fails since 1.4")
    first, second, third = lines(notes)
    (file,) = notes.folder.glob(f"*{old.id}.md")
    assert first.startswith(f"- [Login fails since 1.4]({file.name}) · ")
    assert first.endswith(" · blocker · task · auth 登录")
    assert "[Ship it]" in second
    assert task.id in second
    assert "pending" in second
    assert "[慢查询](" in third
    assert "3 notes, the newest change first." in page(notes)


def test_every_change_is_on_the_page_at_once(notes: Notes) -> None:
    note = notes.create("One")
    notes.create("Two")
    assert len(lines(notes)) == 2
    notes.delete(note.id)
    assert len(lines(notes)) == 1
    notes.restore(note.id)
    assert len(lines(notes)) == 2


def test_edits_by_hand_are_on_the_page_after_the_next_change_or_when_it_is_closed(
    notes: Notes,
) -> None:
    note = notes.create("By a program")
    (file,) = notes.folder.glob(f"*{note.id}.md")
    file.write_text(file.read_text().replace("By a program", "By hand"))
    notes.create("Another")
    assert any("[By hand]" in line for line in lines(notes))
    file.write_text(file.read_text().replace("By hand", "By hand again"))
    notes.close()
    assert any("[By hand again]" in line for line in lines(notes))


def test_the_page_is_not_a_note_and_is_never_read_back(notes: Notes) -> None:
    note = notes.create("One")
    page_file = notes.folder / "INDEX.md"
    page_file.write_text(f"{MARK}\n- [Made up](made-up.md)\n")
    assert [one.id for one in notes.list()] == [note.id]
    assert notes.troubles == ()
    assert not notes.search("made up")
    notes.create("Two")
    assert "Made up" not in page(notes)


@pytest.mark.parametrize("kind", ["text", "link", "folder"])
def test_a_foreign_file_with_its_name_is_left_alone(tmp_path: Path, kind: str) -> None:
    place, elsewhere = tmp_path / "notes" / "INDEX.md", tmp_path / "elsewhere.md"
    place.parent.mkdir()
    elsewhere.write_text(f"{MARK}\nmine")
    if kind == "text":
        place.write_text("# Mine\n")
    elif kind == "link":
        place.symlink_to(elsewhere)
    else:
        place.mkdir()
    with Notes.open(place.parent) as notes:
        notes.create("One")
        assert [trouble.name for trouble in notes.troubles] == ["INDEX.md"]
    assert elsewhere.read_text() == f"{MARK}\nmine"
    assert kind != "text" or place.read_text() == "# Mine\n"
    assert kind != "link" or place.is_symlink()


def test_a_title_is_text_on_one_line_of_the_page(notes: Notes) -> None:
    notes.create("](javascript:x) <b>\u2028| `a`" + "x" * 500, tags=["[t]"])
    (line,) = lines(notes)
    assert line.startswith("- [\\](javascript:x) \\<b\\> \\| \\`a\\`xxx")
    assert "…](" in line
    assert line.endswith("· \\[t\\]")


def test_the_page_can_be_limited_or_disabled(tmp_path: Path) -> None:
    with Notes.open(tmp_path / "none", limits=NoteLimits(listed=0)) as none:
        none.create("One")
    assert not (none.folder / "INDEX.md").exists()
    with Notes.open(tmp_path / "short", limits=NoteLimits(listed=2)) as short:
        for title in ("One", "Two", "Three"):
            short.create(title)
        assert len(lines(short)) == 2
        assert "3 notes; the 2 that were changed last" in page(short)


def test_a_folder_without_notes_gets_no_page(notes: Notes) -> None:
    notes.close()
    assert not (notes.folder / "INDEX.md").exists()
    notes.delete(notes.create("One").id)
    assert "0 notes" in page(notes)


def test_a_deleted_folder_can_be_closed(notes: Notes) -> None:
    notes.folder.rename(notes.folder.with_name("moved"))
    notes.close()
    assert not notes.folder.exists()


def test_in_a_large_folder_the_page_is_delayed(notes: Notes) -> None:
    now = [100.0]
    listing = IndexPage(notes._store.folder, 10, lambda: now[0])
    notes.create("One")
    assert listing.is_due(FEW + 1)
    listing.write(notes._store.refresh().values())
    assert not listing.is_due(FEW + 1)
    assert listing.is_due(FEW)
    now[0] += PAUSE
    assert listing.is_due(FEW + 1)
