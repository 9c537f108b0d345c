from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from foldline.errors import InputError, StoreError
from foldline.notes import LevelSettings, Note, NoteLimits, Notes, UnknownNote
from foldline.notes.consolidation import merged_content

SAID = "The nightly build fails\nbecause the cache of the runner is full\nsince Monday."


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2025, 6, 1, tzinfo=UTC).timestamp()

    def __call__(self) -> float:
        self.now += 1
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def notes(tmp_path: Path, clock: Clock) -> Notes:
    return Notes.open(tmp_path, levels=LevelSettings(automatic=False), clock=clock)


def temporary(notes: Notes, title: str, content: str, **known: object) -> Note:
    return notes.create(title, content, level="temporary", **known)  # type: ignore[arg-type]


def everything(notes: Notes) -> dict[str, tuple[object, ...]]:
    """Return the notes without the metadata of changes."""
    return {
        note.id: (note.title, note.content, note.type, note.level, note.tags, note.merged)
        for note in notes.list(limit=999)
    }


@pytest.mark.requirement("E3.1")
def test_near_duplicates_are_merged_losslessly_with_their_origin(notes: Notes) -> None:
    old = temporary(notes, "Build fails", f"{SAID}\nPort 8080.", tags=["ci"])
    new = temporary(notes, "Build fails", f"{SAID}\nPort 9090.", tags=["cache"])
    done = notes.consolidate()
    (note,) = notes.list()
    assert note.id == new.id
    assert note.merged == (old.id,)
    assert note.tags == ("cache", "ci")
    assert set(f"{SAID}\nPort 8080.\nPort 9090.".splitlines()) <= set(note.content.splitlines())
    assert f"## Also noted: Build fails (2025-06-01, {old.id})" in note.content
    assert notes.deleted() == (old,)
    assert done.plan.merges[0].into == new.id
    assert notes.consolidations() == (done,)


@pytest.mark.requirement("E3.1")
def test_a_consolidation_can_be_undone_completely(notes: Notes, clock: Clock) -> None:
    temporary(notes, "forgotten", "nobody asks for this one")
    clock.now += 40 * 86_400
    temporary(notes, "Build fails", SAID)
    temporary(notes, "Build fails", f"{SAID}\nAgain on Tuesday.")
    temporary(notes, "Stop", "the disk is full", type="blocker")
    before = everything(notes)
    done = notes.consolidate()
    assert len(notes.list()) == 2
    told = notes.undo(done.id)
    assert everything(notes) == before
    assert (len(told.reverted), len(told.restored), told.kept) == (2, 2, ())
    assert notes.consolidations()[0].undone
    again = notes.undo(done.id)
    assert (again.restored, everything(notes)) == ((), before)


@pytest.mark.requirement("E3.1")
def test_later_changes_survive_an_undo(notes: Notes) -> None:
    old = temporary(notes, "Build fails", SAID)
    new = temporary(notes, "Build fails", f"{SAID}\nMore.")
    done = notes.consolidate()
    notes.update(new.id, content="solved")
    told = notes.undo(done.id)
    assert (told.kept, told.restored) == ((new.id,), (old.id,))
    assert notes.read(new.id).content == "solved"
    assert notes.history(new.id)[0].note.content == f"{SAID}\nMore."


@pytest.mark.requirement("E3.1")
def test_a_note_cited_by_others_is_promoted(notes: Notes) -> None:
    note = temporary(notes, "Cache", "The runner has 10 GB.", type="conclusion")
    notes.create("Plan", f"Clean the cache, see {note.id}.")
    notes.create("Why", f"Because of {note.id}", type="reference")
    notes.consolidate()
    assert notes.read(note.id).level == "project"
    assert notes.read(note.id).version == 2


@pytest.mark.requirement("E3.1")
def test_enough_temporary_notes_trigger_one_consolidation(
    tmp_path: Path,
) -> None:
    levels = LevelSettings(threshold=5)
    notes = Notes.open(tmp_path, levels=levels, clock=Clock())
    for n in range(12):
        temporary(notes, f"Note {n}", f"{SAID}\nRun {n}.")
        notes.create(f"Of the task {n}", "is not counted")
    assert len(notes.consolidations()) == 2
    assert Notes.open(tmp_path, levels=levels, clock=Clock()).consolidate_if_due() is None
    text = "\n".join(note.content for note in notes.list(limit=99))
    assert all(f"Run {n}." in text for n in range(12))


@pytest.mark.requirement("E3.1")
def test_creating_a_note_returns_the_note_it_was_merged_into(tmp_path: Path) -> None:
    notes = Notes.open(tmp_path, levels=LevelSettings(threshold=1))
    known = notes.create("Build fails", SAID)
    assert temporary(notes, "Build fails", SAID).id == known.id
    (gone,) = notes.read(known.id).merged
    with pytest.raises(UnknownNote, match=f"merged into {known.id}"):
        notes.read(gone)


def test_a_plan_changes_nothing(notes: Notes) -> None:
    temporary(notes, "Build fails", SAID)
    temporary(notes, "Build fails", SAID)
    before = everything(notes)
    assert len(notes.plan().merges) == 1
    assert everything(notes) == before
    assert notes.consolidations() == ()


def test_a_second_consolidation_does_nothing(notes: Notes) -> None:
    temporary(notes, "Build fails", SAID)
    temporary(notes, "Build fails", SAID)
    notes.consolidate()
    before = everything(notes)
    assert not notes.consolidate().plan
    assert everything(notes) == before


@pytest.mark.requirement("E3.1")
def test_a_crash_between_merging_and_deleting_is_repaired_by_the_next_run(notes: Notes) -> None:
    temporary(notes, "Build fails", f"{SAID}\nOne.")
    temporary(notes, "Build fails", f"{SAID}\nTwo.")
    done = notes.consolidate()
    notes.restore(done.plan.merges[0].sources[0])  # as if the process had died before this step
    merged = notes.read(done.plan.merges[0].into).content
    notes.consolidate()
    (note,) = notes.list()
    assert note.content == merged
    assert note.merged == done.plan.merges[0].sources


def test_lines_are_added_once() -> None:
    known = {"created_at": datetime.now(UTC), "updated_at": datetime.now(UTC)}
    note = Note(id="a", title="T", content="one\ntwo", **known)
    same = Note(id="b", title="T", content="two\none", **known)
    more = Note(id="c", title="T", content="one\nthree", **known)
    merged = merged_content(note, [same, more, more])
    assert merged.count("three") == 1
    assert "(b" not in merged


@pytest.mark.parametrize("id", ["x", "../../lock", "", "0" * 26])
def test_an_unknown_consolidation_cannot_be_undone(notes: Notes, id: str) -> None:  # noqa: A002
    with pytest.raises(InputError, match="no consolidation"):
        notes.undo(id)


@pytest.mark.parametrize("damage", ["", "{}", '{"merges": 3}', "[" * 100_000])
def test_a_damaged_record_is_reported_and_changes_nothing(notes: Notes, damage: str) -> None:
    temporary(notes, "Build fails", SAID)
    temporary(notes, "Build fails", SAID)
    done = notes.consolidate()
    (record,) = (notes.folder / ".notes" / "consolidations").glob("*.json")
    record.write_text(damage)
    with pytest.raises(StoreError, match="damaged"):
        notes.undo(done.id)
    assert len(notes.list()) == 1


@pytest.mark.requirement("E3.1")
def test_notes_that_are_too_large_to_merge_stay_separate(tmp_path: Path, clock: Clock) -> None:
    limits = NoteLimits(largest=4_096)
    notes = Notes.open(tmp_path, limits=limits, levels=LevelSettings(threshold=2), clock=clock)
    words = "the nightly build fails because the cache of the runner is full"
    large = [f"{words} {number}\n" * 30 for number in range(4)]
    made = [temporary(notes, f"Build {at}", f"{text}{at}\n") for at, text in enumerate(large)]
    lines = "\n".join(f"{words} once more {number}" for number in range(40))
    made.append(temporary(notes, "Build", lines))
    made.append(temporary(notes, "Build", lines.replace("once more", "more once")))
    ids = {note.id for note in notes.list(limit=99)}
    for done in notes.consolidations():
        for merge in done.plan.merges:
            assert ids.isdisjoint(merge.sources)
    gone = {source for d in notes.consolidations() for m in d.plan.merges for source in m.sources}
    assert ids | gone == {note.id for note in made}
    assert {note.id for note in made[-2:]} <= ids
