from __future__ import annotations

from pathlib import Path

import pytest

from foldline.errors import InputError
from foldline.notes import CyclicTasks, NoteConflict, Notes, UnknownNote


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    return Notes.open(tmp_path)


@pytest.mark.requirement("E4.3")
def test_dependencies_stand_in_the_file_of_the_task(notes: Notes) -> None:
    build = notes.tasks.add("Build", "make all", tags=["ci"])
    ship = notes.tasks.add("Ship", needs=[build.id])
    (path,) = notes.folder.glob("*ship*.md")
    assert f"status: pending\nneeds: [{build.id}]\n" in path.read_text()
    assert [card.id for card in notes.tasks.ready()] == [build.id]
    other = Notes.open(notes.folder)
    assert other.tasks.graph().standings[ship.id].state == "waiting"


@pytest.mark.requirement("E4.3")
def test_a_cycle_is_refused_with_its_way(notes: Notes) -> None:
    first = notes.tasks.add("A")
    second = notes.tasks.add("B", needs=[first.id])
    third = notes.tasks.add("C", needs=[second.id])
    with pytest.raises(CyclicTasks, match="A → C → B → A") as caught:
        notes.tasks.need(first.id, third.id)
    assert caught.value.cycle == (first.id, third.id, second.id, first.id)
    with pytest.raises(CyclicTasks, match="A → A"):
        notes.tasks.need(first.id, first.id)
    assert notes.read(first.id).needs == ()
    notes.tasks.spare(second.id, first.id)
    assert notes.tasks.need(first.id, third.id).needs == (third.id,)


@pytest.mark.requirement("E4.3")
def test_a_failed_task_blocks_and_frees_again_when_it_is_mended(notes: Notes) -> None:
    build = notes.tasks.add("Build")
    ship = notes.tasks.add("Ship", needs=[build.id])
    notes.tasks.start(build.id)
    failed = notes.tasks.fail(build.id, "exit code 2\nin\x1b[31m step 3")
    assert failed.outcome == "exit code 2 in [31m step 3"
    standing = notes.tasks.graph().standings[ship.id]
    assert (standing.state, standing.because) == ("blocked", (build.id,))
    with pytest.raises(NoteConflict, match="cannot begin: 'Build' failed"):
        notes.tasks.start(ship.id)
    notes.tasks.reopen(build.id)
    notes.tasks.finish(build.id, "ok")
    assert notes.tasks.start(ship.id).status == "running"


def test_a_task_takes_only_steps_that_make_sense(notes: Notes) -> None:
    task, note = notes.tasks.add("Build"), notes.create("no task")
    assert notes.tasks.start(task.id).attempts == 1
    with pytest.raises(NoteConflict, match="is running"):
        notes.tasks.start(task.id)
    notes.tasks.finish(task.id)
    for step in (notes.tasks.start, lambda one: notes.tasks.fail(one, "x"), notes.tasks.give_back):
        with pytest.raises(NoteConflict, match="is done"):
            step(task.id)
    with pytest.raises(InputError, match="no task"):
        notes.tasks.finish(note.id)
    for unknown in (note.id, "nobody"):
        with pytest.raises(UnknownNote):
            notes.tasks.add("x", needs=[unknown])
        with pytest.raises(UnknownNote):
            notes.tasks.need(task.id, unknown)
    assert [one.status for one in notes.history(task.id) for one in [one.note]] == [
        "pending",
        "running",
    ]


def test_deleting_a_task_blocks_what_needs_it_until_it_is_back(notes: Notes) -> None:
    build = notes.tasks.add("Build")
    ship = notes.tasks.add("Ship", needs=[build.id])
    notes.delete(build.id)
    assert notes.tasks.graph().standings[ship.id].state == "blocked"
    notes.restore(build.id)
    assert notes.tasks.graph().standings[ship.id].state == "waiting"


def test_a_long_outcome_is_cut(notes: Notes) -> None:
    task = notes.tasks.add("Build")
    assert len(notes.tasks.finish(task.id, "x" * 100_000).outcome) == 2_000
