from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from foldline.errors import BudgetError, InputError, StoreError
from foldline.notes import CyclicTasks, Note, NoteConflict, Notes, Schedule, UnknownNote


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    return Notes.open(tmp_path)


@pytest.mark.requirement("E4.3")
def test_dependencies_are_stored_in_the_file_of_the_task(notes: Notes) -> None:
    build = notes.tasks.add("Build", "make all", tags=["ci"])
    ship = notes.tasks.add("Ship", needs=[build.id])
    (path,) = notes.folder.glob("*ship*.md")
    assert f"status: pending\nneeds: [{build.id}]\n" in path.read_text()
    assert [card.id for card in notes.tasks.ready()] == [build.id]
    other = Notes.open(notes.folder)
    assert other.tasks.graph().states[ship.id].state == "waiting"


@pytest.mark.parametrize(("tags", "kept"), [("ci, ready", ("ci", "ready")), (None, ())])
def test_a_task_takes_tags_with_commas_and_neither_tags_nor_content(
    notes: Notes, tags: str | None, kept: tuple[str, ...]
) -> None:
    task = notes.tasks.add("Build", None, tags=tags)
    assert (task.tags, task.content) == (kept, "")


@pytest.mark.requirement("E4.3")
def test_a_cycle_is_refused_with_its_path(notes: Notes) -> None:
    first = notes.tasks.add("A")
    second = notes.tasks.add("B", needs=[first.id])
    third = notes.tasks.add("C", needs=[second.id])
    with pytest.raises(CyclicTasks, match="A → C → B → A") as caught:
        notes.tasks.need(first.id, third.id)
    assert caught.value.cycle == (first.id, third.id, second.id, first.id)
    with pytest.raises(CyclicTasks, match="A → A"):
        notes.tasks.need(first.id, first.id)
    assert notes.read(first.id).needs == ()
    notes.tasks.remove_needs(second.id, first.id)
    assert notes.tasks.need(first.id, third.id).needs == (third.id,)


@pytest.mark.requirement("E4.3")
def test_a_failed_task_blocks_until_it_is_repaired(notes: Notes) -> None:
    build = notes.tasks.add("Build")
    ship = notes.tasks.add("Ship", needs=[build.id])
    notes.tasks.start(build.id)
    failed = notes.tasks.fail(build.id, "exit code 2\nin\x1b[31m step 3")
    assert failed.outcome == "exit code 2 in [31m step 3"
    state = notes.tasks.graph().states[ship.id]
    assert (state.state, state.because) == ("blocked", (build.id,))
    with pytest.raises(NoteConflict, match="cannot start: 'Build' failed"):
        notes.tasks.start(ship.id)
    notes.tasks.reopen(build.id)
    notes.tasks.finish(build.id, "ok")
    assert notes.tasks.start(ship.id).status == "running"


def test_a_task_refuses_invalid_transitions(notes: Notes) -> None:
    task, note = notes.tasks.add("Build"), notes.create("no task")
    assert notes.tasks.start(task.id).attempts == 1
    with pytest.raises(NoteConflict, match="is running"):
        notes.tasks.start(task.id)
    notes.tasks.finish(task.id)
    for step in (notes.tasks.start, lambda one: notes.tasks.fail(one, "x"), notes.tasks.give_back):
        with pytest.raises(NoteConflict, match="is done"):
            step(task.id)
    with pytest.raises(InputError, match="not a task"):
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


def test_deleting_a_task_blocks_its_dependents_until_it_is_restored(notes: Notes) -> None:
    build = notes.tasks.add("Build")
    ship = notes.tasks.add("Ship", needs=[build.id])
    notes.delete(build.id)
    assert notes.tasks.graph().states[ship.id].state == "blocked"
    notes.restore(build.id)
    assert notes.tasks.graph().states[ship.id].state == "waiting"


def test_a_long_outcome_is_cut(notes: Notes) -> None:
    task = notes.tasks.add("Build")
    assert len(notes.tasks.finish(task.id, "x" * 100_000).outcome) == 2_000


def diamond(notes: Notes) -> dict[str, str]:
    """One task, two that depend on it, one that depends on both."""
    top = notes.tasks.add("top").id
    left, right = (notes.tasks.add(name, needs=[top]).id for name in ("left", "right"))
    return {
        "top": top,
        "left": left,
        "right": right,
        "end": notes.tasks.add("end", needs=[left, right]).id,
    }


async def _order(notes: Notes) -> list[str]:
    order = []

    async def work(note: Note) -> str:
        order.append(note.title)
        assert notes.read(note.id).status == "running"
        return f"{note.title} is fine"

    await notes.run_tasks(work)
    return order


@pytest.mark.requirement("E4.3")
def test_tasks_are_done_in_order_and_every_step_is_in_the_files(notes: Notes) -> None:
    ids = diamond(notes)
    order = asyncio.run(_order(notes))
    assert (order[0], order[3], set(order)) == ("top", "end", {"top", "left", "right", "end"})
    end = Notes.open(notes.folder).read(ids["end"])
    assert (end.status, end.outcome, end.attempts) == ("done", "end is fine", 1)
    assert [v.note.status for v in notes.history(end.id)] == ["pending", "running"]


@pytest.mark.requirement("E4.3")
@pytest.mark.parametrize("parallel", [1, 3])
def test_never_more_than_the_limit_run_at_once_and_as_many_as_can(
    notes: Notes, parallel: int
) -> None:
    for n in range(7):
        notes.tasks.add(f"task {n}")
    busy, most, full = 0, 0, asyncio.Event()

    async def work(_: Note) -> None:
        nonlocal busy, most
        busy += 1
        most = max(most, busy)
        if busy == parallel:
            full.set()
        async with asyncio.timeout(20):
            await full.wait()
        await asyncio.to_thread(notes.summary)
        busy -= 1

    report = asyncio.run(notes.run_tasks(work, Schedule(parallel=parallel)))
    assert most == parallel
    assert len(report.done) == 7


@pytest.mark.requirement("E4.3")
def test_a_failure_blocks_its_dependents_only(notes: Notes) -> None:
    ids = diamond(notes)
    other = notes.tasks.add("other")

    async def work(note: Note) -> None:
        if note.title == "left":
            raise ValueError("no\nspace")

    report = asyncio.run(notes.run_tasks(work))
    assert report.failed == (ids["left"],)
    assert report.blocked == (ids["end"],)
    assert set(report.done) == {ids["top"], ids["right"], other.id}
    assert notes.read(ids["left"]).outcome == "ValueError: no space"
    notes.tasks.reopen(ids["left"])

    async def well(_: Note) -> None:
        return None

    assert asyncio.run(notes.run_tasks(well)).done == (ids["left"], ids["end"])


def test_a_task_that_times_out_fails(notes: Notes) -> None:
    task = notes.tasks.add("slow")

    async def work(_: Note) -> None:
        await asyncio.Event().wait()

    report = asyncio.run(notes.run_tasks(work, Schedule(seconds=0.01)))
    assert report.failed == (task.id,)
    assert "0.01 seconds" in notes.read(task.id).outcome


def test_tasks_added_meanwhile_are_done(notes: Notes) -> None:
    notes.tasks.add("first")

    async def work(note: Note) -> None:
        if note.title == "first":
            await asyncio.to_thread(notes.tasks.add, "second", needs=[note.id])

    assert len(asyncio.run(notes.run_tasks(work)).done) == 2


@pytest.mark.requirement("E4.3")
def test_a_cancelled_run_can_restart(notes: Notes) -> None:
    task = notes.tasks.add("long")

    async def cancelled() -> None:
        begun = asyncio.Event()

        async def work(_: Note) -> None:
            begun.set()
            await asyncio.Event().wait()

        run = asyncio.create_task(notes.run_tasks(work))
        async with asyncio.timeout(20):
            await begun.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    asyncio.run(cancelled())
    note = notes.read(task.id)
    assert (note.status, note.outcome) == ("pending", "the run was cancelled")


@pytest.mark.requirement("E4.3")
def test_tasks_of_a_killed_run_restart_a_limited_number_of_times(notes: Notes) -> None:
    task = notes.tasks.add("deadly")
    done = []

    async def work(note: Note) -> None:
        done.append(note.attempts)

    notes.tasks.start(task.id)  # and the process died
    report = asyncio.run(notes.run_tasks(work))
    assert (report.resumed, report.done, done) == ((task.id,), (task.id,), [2])
    notes.tasks.reopen(task.id)
    for _ in range(2):
        notes.tasks.start(task.id)
        notes.tasks.give_back(task.id)
    notes.tasks.start(task.id)
    report = asyncio.run(notes.run_tasks(work))
    assert (report.failed, done) == ((task.id,), [2])
    assert notes.read(task.id).outcome == "it was interrupted 3 times"


def test_only_one_run_at_a_time_uses_a_folder(notes: Notes) -> None:
    notes.tasks.add("first")

    async def work(_: Note) -> None:
        with pytest.raises(StoreError, match="Another run"):
            await asyncio.to_thread(lambda: asyncio.run(Notes.open(notes.folder).run_tasks(work)))

    assert len(asyncio.run(notes.run_tasks(work)).done) == 1


def test_a_manual_status_of_a_running_task_wins(notes: Notes) -> None:
    task = notes.tasks.add("first")

    async def work(note: Note) -> None:
        await asyncio.to_thread(notes.tasks.cancel, note.id, "not needed")

    report = asyncio.run(notes.run_tasks(work))
    assert (report.done, report.failed) == ((), ())
    assert notes.read(task.id).outcome == "not needed"


@pytest.mark.parametrize("wrong", [{"parallel": 0}, {"attempts": 0}, {"seconds": -1.0}])
def test_an_invalid_schedule_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(BudgetError):
        Schedule(**wrong)


@pytest.mark.requirement("E4.3")
def test_a_task_that_cancels_itself_fails_and_others_continue(notes: Notes) -> None:
    ids = [notes.tasks.add(name).id for name in ("odd", "even")]

    async def work(note: Note) -> str:
        if note.title == "odd":
            raise asyncio.CancelledError
        return "fine"

    report = asyncio.run(notes.run_tasks(work, Schedule(parallel=1)))
    assert (report.failed, report.done) == ((ids[0],), (ids[1],))
    assert notes.read(ids[0]).outcome == "it cancelled itself"
