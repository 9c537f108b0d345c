"""``foldline note tasks``, ``task`` and ``tidy``: tasks that need each other, and levels."""

from __future__ import annotations

from typing import Any

import click

from foldline.cli import options
from foldline.cli.note_folder import in_folder, opened
from foldline.cli.note_shown import TAIL
from foldline.cli.output import Voice, console, counted, flexible, one_line, table, write_json
from foldline.notes import ConsolidationPlan, Notes, TaskGraph, TaskState


@click.command("tasks")
@click.option("--ready", is_flag=True, help="Only those that can begin now.")
@in_folder
def tasks(ready: bool, **rest: Any) -> None:
    """List tasks: how each stands, and what keeps it from beginning."""
    voice = options.voiced(rest)
    with opened(rest["folder"]) as notes:
        graph = notes.tasks.graph()
    shown = graph.in_state("ready") if ready else _ordered(graph)
    if voice.json:
        value = {"tasks": [_row(one) for one in shown], "cycles": [list(c) for c in graph.cycles]}
        write_json("note-tasks/1", value)
        return
    if shown:
        grid = table("id", "state", "*title", "*why")
        for one in shown:
            told = one.why or one.metadata.outcome
            metadata = one.metadata
            grid.add_row(metadata.id[-TAIL:], one.state, flexible(metadata.title), flexible(told))
        console().print(grid)
    voice.note(f"{counted(len(shown), 'task')}.")


@click.command("task")
@click.argument("what", type=click.Choice(("start", "done", "fail", "cancel", "reopen", "need")))
@click.argument("note_id", metavar="ID")
@click.argument("words", metavar="[OUTCOME | NEEDED-ID...]", nargs=-1)
@in_folder
def task(what: str, note_id: str, words: tuple[str, ...], **rest: Any) -> None:
    """Say what became of a task, or which tasks it needs."""
    voice, told = options.voiced(rest), " ".join(words)
    with opened(rest["folder"]) as notes:
        one, on = notes.resolve(note_id), notes.tasks
        match what:
            case "start":
                note = on.start(one)
            case "done":
                note = on.finish(one, told)
            case "fail":
                note = on.fail(one, told)
            case "cancel":
                note = on.cancel(one, told)
            case "reopen":
                note = on.reopen(one)
            case _:
                note = on.need(one, *(notes.resolve(word) for word in words))
        free = [metadata for metadata in on.ready() if one in metadata.needs]
    if voice.json:
        ready = [metadata.id for metadata in free]
        write_json("note-task/1", {"note": note.to_dict(), "now_ready": ready})
        return
    voice.note(f"{one_line(note.title, 60)!r} is {note.status}.")
    for metadata in free:
        voice.note(f"Now ready: {one_line(metadata.title, 60)!r} ({metadata.id}).")


@click.command("tidy")
@click.option("--plan", "only_plan", is_flag=True, help="Say what would be done, and do nothing.")
@click.option("--undo", metavar="ID", help="Take back what was done under this id.")
@in_folder
def tidy(only_plan: bool, undo: str | None, **rest: Any) -> None:
    """Merge, promote and expire temporary notes, so that it can be undone."""
    voice = options.voiced(rest)
    with opened(rest["folder"]) as notes:
        if undo is not None:
            _undo(notes, undo, voice)
            return
        done = None if only_plan else notes.consolidate()
        plan = notes.plan() if done is None else done.plan
    if voice.json:
        write_json("note-tidy/1", {"id": done.id if done else None, **_plan(plan)})
        return
    for merge in plan.merges:
        voice.note(f"{', '.join(merge.sources)} into {merge.into} ({merge.likeness:.0%} alike)")
    for one in plan.promotions:
        voice.note(f"{one.id} from {one.before} to {one.after}: {one.why}")
    for gone in plan.expired:
        voice.note(f"{gone} expires; it goes to the trash")
    if not plan:
        voice.note("There is nothing to do.")
    elif done is not None:
        voice.note(f"Done; 'foldline note tidy --undo {done.id}' takes it back.")


def _undo(notes: Notes, undo: str, voice: Voice) -> None:
    told = notes.undo(undo)
    if voice.json:
        value = {"reverted": told.reverted, "restored": told.restored, "kept": told.kept}
        write_json("note-undo/1", {name: list(ids) for name, ids in value.items()})
        return
    voice.note(
        f"{len(told.reverted)} as they were, {len(told.restored)} back from the trash, "
        f"{len(told.kept)} changed since and kept."
    )


def _ordered(graph: TaskGraph) -> tuple[TaskState, ...]:
    """Return the tasks in the order in which they can be done, the impossible ones last."""
    behind = sorted(graph.tasks.keys() - set(graph.order))
    return tuple(graph.standings[one] for one in (*graph.order, *behind))


def _row(one: TaskState) -> dict[str, Any]:
    return {
        **one.metadata.to_dict(),
        "state": one.state,
        "why": one.why,
        "because": list(one.because),
    }


def _plan(plan: ConsolidationPlan) -> dict[str, Any]:
    return {
        "merges": [{"into": m.into, "sources": list(m.sources)} for m in plan.merges],
        "promotions": [
            {"id": p.id, "before": p.before, "after": p.after, "why": p.why}
            for p in plan.promotions
        ],
        "expired": list(plan.expired),
    }
