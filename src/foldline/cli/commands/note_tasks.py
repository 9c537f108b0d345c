"""``foldline note tasks``, ``task`` and ``tidy``: tasks that need each other, and levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

import click

from foldline.cli import options
from foldline.cli.output import Output, one_line, write_json
from foldline.cli.stores import open_notes
from foldline.notes import ConsolidationPlan, NoteMetadata, Notes, TaskGraph, TaskState
from foldline.notes.note import Status

TAIL: Final = 8
"""Letters at the end of an id that a table shows; they are random, so they identify it."""


on_notes = options.on_store(options.notes_folder, ("folder",), open_notes)
"""Pass a command the open notes, and its output."""


def short_id(metadata: NoteMetadata) -> str:
    """Return the end of a note's id, which is enough to identify it."""
    return metadata.id[-TAIL:]


@click.command("tasks")
@click.option("--ready", is_flag=True, help="Only those that can start now.")
@on_notes
def tasks(notes: Notes, /, ready: bool, output: Output) -> None:
    """List tasks with their state and what blocks them."""
    graph = notes.tasks.graph()
    standings = graph.in_state("ready") if ready else _in_order(graph)
    value = {"tasks": [_row(one) for one in standings], "cycles": [list(c) for c in graph.cycles]}
    rows = [
        (short_id(t.metadata), t.state, t.metadata.title, t.why or t.metadata.outcome)
        for t in standings
    ]
    columns = ("id", "state", "*title", "*why")
    output.records("note-tasks/1", value, columns, rows, noun="task")


BECOMES: Final[Mapping[str, Status]] = {
    "start": "running",
    "done": "done",
    "fail": "failed",
    "cancel": "cancelled",
    "reopen": "pending",
}


@click.command("task")
@click.argument("what", type=click.Choice((*BECOMES, "need")))
@click.argument("note_id", metavar="ID")
@click.argument("words", metavar="[OUTCOME | NEEDED-ID...]", nargs=-1)
@on_notes
def task(notes: Notes, /, what: str, note_id: str, words: tuple[str, ...], output: Output) -> None:
    """Report progress on a task, or name the tasks that it needs."""
    one, on = notes.resolve(note_id), notes.tasks
    if what == "need":
        note = on.need(one, *(notes.resolve(word) for word in words))
    else:
        note = on.progress(one, BECOMES[what], " ".join(words))
    free = [metadata for metadata in on.ready() if one in metadata.needs]
    output.result(
        "note-task/1",
        {"note": note.to_dict(), "now_ready": [metadata.id for metadata in free]},
        f"{one_line(note.title, 60)!r} is {note.status}.",
        *(f"Now ready: {one_line(metadata.title, 60)!r} ({metadata.id})." for metadata in free),
    )


@click.command("tidy")
@click.option("--plan", "only_plan", is_flag=True, help="Show the plan, and change nothing.")
@click.option("--undo", metavar="ID", help="Undo the changes with this id.")
@on_notes
def tidy(notes: Notes, /, only_plan: bool, undo: str | None, output: Output) -> None:
    """Merge, promote and expire temporary notes; all of it can be undone."""
    if undo is not None:
        _undo(notes, undo, output)
        return
    done = None if only_plan else notes.consolidate()
    plan = notes.plan() if done is None else done.plan
    if output.json:
        write_json("note-tidy/1", {"id": done.id if done else None, **_plan(plan)})
        return
    for merge in plan.merges:
        output.note(f"{', '.join(merge.sources)} into {merge.into} ({merge.likeness:.0%} alike)")
    for one in plan.promotions:
        output.note(f"{one.id} from {one.before} to {one.after}: {one.why}")
    for note_id in plan.expired:
        output.note(f"{note_id} expires; it goes to the trash")
    if not plan:
        output.note("There is nothing to do.")
    elif done is not None:
        output.note(f"Done; 'foldline note tidy --undo {done.id}' reverts it.")


def _undo(notes: Notes, undo: str, output: Output) -> None:
    done = notes.undo(undo)
    value = {"reverted": done.reverted, "restored": done.restored, "kept": done.kept}
    output.result(
        "note-undo/1",
        {name: list(ids) for name, ids in value.items()},
        f"{len(done.reverted)} reverted, {len(done.restored)} restored from the trash, "
        f"{len(done.kept)} kept because they changed since.",
    )


def _in_order(graph: TaskGraph) -> tuple[TaskState, ...]:
    """Return the tasks in an order in which they can be done, impossible ones last."""
    behind = sorted(graph.tasks.keys() - set(graph.order))
    return tuple(graph.states[one] for one in (*graph.order, *behind))


def _row(one: TaskState) -> dict[str, Any]:
    return {
        **one.metadata.to_dict(),
        "state": one.state,
        "why": one.why,
        "because": list(one.because),
    }


def _plan(plan: ConsolidationPlan) -> dict[str, Any]:
    merges = [{"into": merge.into, "sources": list(merge.sources)} for merge in plan.merges]
    return asdict(plan) | {"merges": merges}
