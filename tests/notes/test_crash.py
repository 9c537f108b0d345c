"""Real processes that write notes concurrently, and that are killed at any moment."""

from __future__ import annotations

import asyncio
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.children import launch

from foldline.notes import Note, Notes

pytestmark = pytest.mark.disk

WRITER = """
import sys
from dataclasses import replace
from foldline.notes import Notes
notes = Notes.open(sys.argv[1])
name, count = sys.argv[2], int(sys.argv[3])
shared = sys.argv[4] if len(sys.argv) > 4 else None
for number in range(count):
    note = notes.create(f"{name} {number}", "said " * 400, tags=[name])
    print("created", note.id, flush=True)
    notes.update(note.id, content=f"{number} " * 400)
    print("updated", note.id, flush=True)
    if shared:
        line = f"{name}{number}\\n"
        notes._store.rewrite(shared, lambda n: replace(n, content=n.content + line))
    if number % 3 == 2:
        notes.delete(note.id)
        print("deleted", note.id, flush=True)
"""

RUNNER = """
import asyncio, sys
from foldline.notes import Notes
notes = Notes.open(sys.argv[1])
async def work(note):
    print("begun", note.id, flush=True)
    await asyncio.sleep(0)
    return note.title
asyncio.run(notes.run_tasks(work))
print("finished", "-", flush=True)
"""


def start(code: str, *words: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *map(str, words)]
    return launch(command, stdout=subprocess.PIPE, text=True)


def killed(process: subprocess.Popen[str], lines: int) -> list[list[str]]:
    """Kill a process after a number of lines; return its complete lines."""
    assert process.stdout
    said = [process.stdout.readline() for _ in range(lines)]
    process.send_signal(signal.SIGKILL)
    said += process.stdout.readlines()
    process.stdout.close()
    assert process.wait(60) in (-signal.SIGKILL, 0)
    return [line.split() for line in said if line.endswith("\n")]


@pytest.mark.requirement("T6")
def test_two_processes_at_once_lose_nothing(tmp_path: Path) -> None:
    notes = Notes.open(tmp_path)
    shared = notes.create("shared", "")
    count = 40
    writers = [start(WRITER, tmp_path, name, count, shared.id) for name in ("a", "b")]
    told = [writer.communicate(timeout=120)[0] for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0]
    made = {line.split()[1] for text in told for line in text.splitlines() if "created" in line}
    assert len(made) == 2 * count
    listed = {note.id for note in notes.list(limit=1_000)} | {n.id for n in notes.deleted()}
    assert listed == made | {shared.id}
    lines = notes.read(shared.id).content.split()
    assert sorted(lines) == sorted(f"{name}{n}" for name in "ab" for n in range(count))
    assert len(notes.history(shared.id)) == 2 * count
    assert notes.troubles == ()


@pytest.mark.requirement("T6")
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_kill_loses_at_most_the_step_that_was_under_way(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311  # when to kill, reproducibly
    said: list[list[str]] = []
    for _ in range(4):
        said += killed(start(WRITER, tmp_path, "w", 100_000), chance.randint(1, 60))
        notes = Notes.open(tmp_path)
        there = {note.id: note for note in notes.list(limit=10_000)}
        trash = {note.id for note in notes.deleted()}
        assert notes.troubles == ()
        assert not there.keys() & trash
        steps = {step: {one for what, one in said if what == step} for step in
                 ("created", "updated", "deleted")}  # fmt: skip
        assert steps["created"] <= there.keys() | trash
        assert steps["deleted"] <= trash
        for one in steps["updated"] - trash:
            assert (there[one].version, len(notes.history(one))) == (2, 1)
        for note in there.values():
            assert note.content.startswith("said ") == (note.version == 1)
        assert {
            one.id for one in notes._store.refresh().values() for one in [one.metadata]
        } == set(there)
    halves = len(there.keys() | trash) - len(steps["created"])
    assert 0 <= halves <= 4  # at most one per kill was created without being reported


@pytest.mark.requirement("E4.3")
def test_a_killed_run_is_resumed(tmp_path: Path) -> None:
    notes = Notes.open(tmp_path)
    before: list[str] = []
    for number in range(12):
        before.append(notes.tasks.add(f"task {number}", needs=before[-1:]).id)
    said = killed(start(RUNNER, tmp_path), 3)
    begun = [one for what, one in said if what == "begun"]
    assert begun == before[: len(begun)]
    graph = notes.tasks.graph()
    states = [graph.states[one].state for one in before]
    assert states.count("running") <= 1
    assert states[: len(begun) - 1] == ["done"] * (len(begun) - 1)
    again: list[str] = []

    async def work(note: Note) -> str:
        again.append(note.id)
        return note.title

    report = asyncio.run(notes.run_tasks(work))
    assert report.blocked == report.failed == ()
    assert {note.status for note in notes.list()} == {"done"}
    assert again == before[states.count("done") :]
