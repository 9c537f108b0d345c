from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from foldline.errors import BudgetError, InputError
from foldline.notes import KINDS, NoteConflict, Notes, UnknownNote


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2025, 1, 19, 15, 30, tzinfo=UTC).timestamp()

    def __call__(self) -> float:
        self.now += 1
        return self.now


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    return Notes.open(tmp_path / "notes", clock=Clock())


@pytest.mark.requirement("T6")
def test_a_note_is_a_readable_file(notes: Notes) -> None:
    note = notes.create(
        "重构项目 - 第一阶段",
        "## 完成情况\n\n已完成。",
        type="task_state",
        tags=["refactoring", "一"],
    )
    (path,) = notes.folder.glob("2*.md")
    assert path.name == f"2025-01-19-重构项目-第一阶段-{note.id}.md"
    assert path.read_text() == (
        f"---\nid: {note.id}\ntitle: 重构项目 - 第一阶段\ntype: task_state\nlevel: task\n"
        "tags: [refactoring, 一]\ncreated_at: 2025-01-19T15:30:02.000+00:00\n"
        "updated_at: 2025-01-19T15:30:02.000+00:00\nversion: 1\n---\n\n## 完成情况\n\n已完成。\n"
    )


HOSTILE: tuple[Any, ...] = (
    {"title": "a\nb\r\n---\nid: evil\n---", "content": "---\nid: x\n---\n"},
    {"title": "\x1b[31mred\x07", "content": "\x00\x01\u2028"},
    {"title": "x" * 10_000, "content": ""},
    {"title": "🚀👨‍👩‍👧 émoji", "content": "\ud800 half"},
    {"title": "../../../etc/passwd", "content": "\r\n\r\n", "tags": ["a: b", "- c", "#d", "yes"]},
    {"title": "'\"`: {}[]&*!|>%@", "content": "...\n---", "source": "a\nb"},
    {"title": "null", "content": "~", "tags": ["1.0", "null", "é,ü", "\t"]},
)


@pytest.mark.requirement("T6")
@pytest.mark.parametrize("given", HOSTILE, ids=range(len(HOSTILE)))
def test_any_note_is_read_as_it_was_created(notes: Notes, given: Any) -> None:
    note = notes.create(**given)
    again = Notes.open(notes.folder)
    assert again.read(note.id) == note
    assert again.list() == (note,)
    assert again.troubles == ()
    assert note.content == given["content"].encode("utf-8", "replace").decode()
    assert "\n" not in note.title


@pytest.mark.requirement("T6")
def test_lists_and_pages_begin_with_the_newest(notes: Notes) -> None:
    made = [notes.create(f"note {n}", type=KINDS[n % 6], tags=[f"t{n % 2}"]) for n in range(12)]
    notes.update(made[3].id, content="changed")
    order = [3, 11, 10, 9, 8, 7, 6, 5, 4, 2, 1, 0]
    assert [note.id for note in notes.list()] == [made[n].id for n in order]
    assert [n.title for n in notes.list(limit=3, start=2)] == ["note 10", "note 9", "note 8"]
    assert [n.title for n in notes.list(type="blocker")] == ["note 8", "note 2"]
    assert len(notes.list(tags=["t0", "other"])) == 6
    assert notes.list(level="project") == ()
    for wrong in ({"type": "idea"}, {"level": "x"}):
        with pytest.raises(InputError, match="Known"):
            notes.list(**wrong)  # type: ignore[arg-type]
    with pytest.raises(BudgetError):
        notes.list(limit=-1)


@pytest.mark.requirement("T6")
def test_search_ranks_english_chinese_and_substrings(notes: Notes) -> None:
    notes.create("数据库慢查询问题", "发现多个慢查询,影响系统性能", type="blocker", tags=["db"])
    notes.create("Login", "The retries of getUserName time out behind the proxy.")
    notes.create("依赖冲突", "某些第三方库版本不兼容 requirements.txt")
    for query, title in (
        ("慢查询", "数据库慢查询问题"),
        ("which retry timed out?", "Login"),
        ("user name", "Login"),
        ("版本 不兼容", "依赖冲突"),
        ("requirements.txt", "依赖冲突"),
        ("ogi", "Login"),
    ):
        assert notes.search(query)[0].note.title == title, query
    assert notes.search("慢查询", type="action") == ()
    assert notes.search("kubernetes") == ()
    assert notes.search("慢查询", limit=0) == ()


@pytest.mark.requirement("T6")
def test_search_sees_every_change_at_once(notes: Notes) -> None:
    note = notes.create("one", "apples")
    assert notes.search("apples")
    notes.update(note.id, content="oranges")
    assert not notes.search("apples")
    (path,) = notes.folder.glob("2*.md")
    path.write_text(path.read_text().replace("oranges", "bananas"))
    assert notes.search("bananas")[0].note.content == "bananas"
    Notes.open(notes.folder).create("two", "cherries")
    assert notes.search("cherries")
    notes.delete(note.id)
    assert not notes.search("bananas")


def test_an_update_changes_named_fields_and_keeps_the_earlier_version(notes: Notes) -> None:
    note = notes.create("one", "said", tags=["a"], source="x.py:3")
    after = notes.update(note.id, type="conclusion", tags=[], version=1)
    assert (after.title, after.content, after.source) == ("one", "said", "x.py:3")
    assert (after.type, after.tags, after.version) == ("conclusion", (), 2)
    assert after.updated_at > note.updated_at
    with pytest.raises(NoteConflict, match="version 2, not 1"):
        notes.update(note.id, content="late", version=1)
    back = notes.revert(note.id, 1)
    assert (back.type, back.tags, back.version, back.created_at) == (
        "general", ("a",), 3, note.created_at,
    )  # fmt: skip
    assert [one.number for one in notes.history(note.id)] == [1, 2]
    with pytest.raises(InputError, match="no version 9"):
        notes.revert(note.id, 9)


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "idea"},
        {"level": "x"},
        {"title": " "},
        {"title": 3},
        {"content": b"x"},
        {"tags": [1]},
        {"tags": ["x" * 300]},
        {"tags": [*map(str, range(99))]},
    ],
)
def test_invalid_input_is_refused_and_nothing_is_written(notes: Notes, wrong: Any) -> None:
    note = notes.create("one")
    with pytest.raises(InputError):
        notes.update(note.id, **wrong)
    with pytest.raises(InputError):
        notes.create(**{"title": "two", **wrong})
    assert notes.list() == (note,)


@pytest.mark.requirement("T6")
@pytest.mark.parametrize("id", ["", "../x", "/etc/passwd", "x\0", "nobody", "." * 500])
def test_an_unknown_id_is_not_found_by_any_method(notes: Notes, id: str) -> None:  # noqa: A002
    notes.create("one")
    for use in (notes.read, notes.delete, notes.restore, lambda one: notes.update(one, title="x")):
        with pytest.raises(UnknownNote):
            use(id)


def test_the_end_of_an_id_is_enough_where_it_fits_one(notes: Notes) -> None:
    note = notes.create("one")
    assert notes.read(note.id[-6:].lower()) == note
    assert notes.delete(note.id[-6:]).id == note.id
    assert notes.deleted() == (note,)
    assert notes.restore(note.id[-6:]) == note


def test_a_summary_counts_notes_and_names_invalid_files(notes: Notes) -> None:
    for n in range(7):
        notes.create(f"note {n}", type="action" if n % 2 else "blocker")
    notes.tasks.add("build")
    (notes.folder / "mine.md").write_text("hello")
    summary = notes.summary()
    assert summary.total == 8
    assert summary.by_type == {"blocker": 4, "action": 3, "task_state": 1}
    assert (summary.by_level, summary.by_status) == ({"task": 8}, {"pending": 1})
    assert [card.title for card in summary.recent][:2] == ["build", "note 6"]
    assert [one.name for one in summary.troubles] == ["mine.md"]


def test_threads_share_notes(notes: Notes) -> None:
    def work(name: str) -> None:
        for n in range(10):
            note = notes.create(f"{name} {n}", name)
            notes.update(note.id, content=f"{name} again")
            assert notes.search(name)

    threads = [Thread(target=work, args=(name,), daemon=True) for name in ("apples", "oranges")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(note.version for note in notes.list(limit=99)) == [2] * 20


def test_a_folder_behind_a_link_is_the_folder(notes: Notes, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(notes.folder)
    note = Notes.open(tmp_path / "link").create("one")
    assert notes.read(note.id) == note
