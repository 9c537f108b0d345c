"""``foldline note new``, ``edit`` and ``rm``: make notes, change them, lay them aside."""

from __future__ import annotations

import sys
from typing import Any, Final

import click

from foldline.cli import note_folder, options
from foldline.cli.note_folder import in_folder, opened
from foldline.cli.numbers import Whole
from foldline.cli.output import one_line, write_json, write_text
from foldline.errors import InputError
from foldline.notes.note import Level

LARGEST_INPUT: Final = 1 << 20
"""Bytes that are read from stdin."""


@click.command("new")
@click.argument("title")
@click.option("-c", "--content", default="", help='Markdown; "-" reads it from stdin.')
@note_folder.kind
@note_folder.level
@note_folder.tags
@click.option("--source", default="", help="Where it comes from, such as a file and line.")
@click.option("--needs", metavar="ID", multiple=True, help="Make a task that needs this one.")
@click.option("--task", "is_task", is_flag=True, help="Make a task.")
@in_folder
def new(
    title: str,
    content: str,
    kind: str | None,
    needs: tuple[str, ...],
    is_task: bool,
    **rest: Any,
) -> None:
    """Make a note; its id goes to stdout."""
    voice, said = options.voiced(rest), _content(content)
    with opened(rest["folder"], make=True) as notes:
        if is_task or needs:
            if kind not in (None, "task_state") or rest["source"]:
                raise click.UsageError("A task has no --type and no --source.")
            ids = [notes.resolve(one) for one in needs]
            level: Level = rest["level"] or "task"
            note = notes.tasks.add(title, said, needs=ids, tags=rest["tags"], level=level)
        else:
            note = notes.create(
                title,
                said,
                type=kind or "general",  # type: ignore[arg-type]  # click checked it
                tags=rest["tags"],
                level=rest["level"] or "task",
                source=rest["source"],
            )
    if voice.json:
        write_json("note/1", {"note": note.to_dict()})
        return
    write_text(note.id)
    voice.note(f"Noted {one_line(note.title, 60)!r} in {notes.folder}.")


@click.command("edit")
@click.argument("note_id", metavar="ID")
@click.option("--title", help="A new title.")
@click.option("-c", "--content", help='New Markdown, all of it; "-" reads it from stdin.')
@note_folder.kind
@note_folder.level
@click.option("--tag", "tags", metavar="WORD", multiple=True, help="New tags, all of them.")
@click.option("--revert", metavar="N", type=Whole(1), help="Make it what it was in this version.")
@in_folder
def edit(
    note_id: str, content: str | None, kind: str | None, revert: int | None, **rest: Any
) -> None:
    """Change a note; without options, in your editor. What it was stays in its history."""
    voice, folder = options.voiced(rest), rest.pop("folder")
    given = {name: value for name, value in rest.items() if value not in (None, ())}
    given |= {"type": kind} if kind else {}
    given |= {} if content is None else {"content": _content(content)}
    with opened(folder) as notes:
        before = notes.read(note_id)
        if revert is not None:
            note = notes.revert(before.id, revert)
        else:
            given = given or _edited(before.content) | {"version": before.version}
            note = notes.update(before.id, **given)
    if voice.json:
        write_json("note/1", {"note": note.to_dict()})
        return
    same = note.version == before.version
    voice.note("Nothing was changed." if same else f"{note.id} has now version {note.version}.")


@click.command("rm")
@click.argument("note_ids", metavar="ID...", nargs=-1, required=True)
@click.option("--undo", is_flag=True, help="Bring them back from the trash instead.")
@in_folder
def rm(note_ids: tuple[str, ...], undo: bool, **rest: Any) -> None:
    """Move notes to the trash, from which --undo brings them back."""
    voice = options.voiced(rest)
    with opened(rest["folder"]) as notes:
        done = [notes.restore(one) if undo else notes.delete(one) for one in note_ids]
    if voice.json:
        write_json("note-rm/1", {"ids": [card.id for card in done], "undone": undo})
        return
    for card in done:
        back = "is back" if undo else "was deleted; --undo brings it back"
        voice.note(f"{card.id} {one_line(card.title, 60)!r} {back}.")


def _content(given: str) -> str:
    if given != "-":
        return given
    data = sys.stdin.buffer.read(LARGEST_INPUT + 1)
    if len(data) > LARGEST_INPUT:
        raise InputError(f"stdin has more than {LARGEST_INPUT:,} bytes", field="content")
    return data.decode("utf-8", "replace").removesuffix("\n")


def _edited(content: str) -> dict[str, Any]:
    """Let a person edit a content; nothing comes back where they did not save."""
    told = click.edit(f"{content}\n", extension=".md")
    return {} if told is None else {"content": told.removesuffix("\n")}
