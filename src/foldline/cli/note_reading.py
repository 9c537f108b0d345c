"""``foldline note show``, ``search``, ``ls`` and ``summary``: read what was noted."""

from __future__ import annotations

from typing import Any

import click

from foldline.cli import note_folder, options
from foldline.cli.note_folder import in_folder, opened
from foldline.cli.note_shown import show_list, show_note, show_summary, warn_of
from foldline.cli.numbers import Whole
from foldline.cli.output import write_json
from foldline.errors import InputError
from foldline.notes import STATUSES


@click.command("show")
@click.argument("note_id", metavar="ID")
@click.option("--version", type=Whole(1), help="What it was, by a number that --history lists.")
@click.option("--history", is_flag=True, help="List its earlier versions instead.")
@in_folder
def show(note_id: str, version: int | None, history: bool, **rest: Any) -> None:
    """Show a note: what is known about it to stderr, its content to stdout."""
    voice = options.voiced(rest)
    with opened(rest["folder"]) as notes:
        note = notes.read(note_id)
        past = notes.history(note.id) if history or version is not None else ()
    if history:
        show_list([one.note for one in past], voice)
        return
    if version is not None:
        known = {one.number: one.note for one in past} | {note.version: note}
        if version not in known:
            listed = ", ".join(map(str, sorted(known)))
            raise InputError(f"there is no version {version} of it", hint=f"Known: {listed}.")
        note = known[version]
    show_note(note, voice)


@click.command("search")
@click.argument("query")
@note_folder.kind
@note_folder.level
@note_folder.tags
@note_folder.limit
@in_folder
def search(query: str, kind: str | None, limit: int, **rest: Any) -> None:
    """Find notes by what they say, the best first; English, Chinese and mixed."""
    voice = options.voiced(rest)
    with opened(rest["folder"]) as notes:
        found = notes.search(
            query,
            type=kind,  # type: ignore[arg-type]  # click checked it
            level=rest["level"],
            tags=rest["tags"],
            limit=limit,
        )
        warn_of(notes.troubles, voice)
    if voice.json:
        shown = [
            {"note": f.note.to_dict(), "score": f.score, "strength": f.strength} for f in found
        ]
        write_json("note-search/1", {"found": shown})
        return
    show_list([one.note for one in found], voice)


@click.command("ls")
@note_folder.kind
@note_folder.level
@note_folder.tags
@click.option("--status", type=click.Choice(STATUSES), help="Only tasks with this status.")
@click.option("--deleted", is_flag=True, help="Only what is in the trash.")
@click.option("--start", metavar="N", type=Whole(0), default=0, help="Pass over N.")
@note_folder.limit
@in_folder
def ls(kind: str | None, deleted: bool, start: int, limit: int, **rest: Any) -> None:
    """List notes, the one that was changed last first."""
    voice = options.voiced(rest)
    with opened(rest["folder"]) as notes:
        if deleted:
            listed = notes.deleted()[start : start + limit]
        else:
            listed = notes.list(
                type=kind,  # type: ignore[arg-type]  # click checked it
                level=rest["level"],
                tags=rest["tags"],
                status=rest["status"],
                limit=limit,
                start=start,
            )
        warn_of(notes.troubles, voice)
    show_list(listed, voice)


@click.command("summary")
@in_folder
def summary(**rest: Any) -> None:
    """Count the notes, and name the files that are none."""
    voice = options.voiced(rest)
    with opened(rest["folder"]) as notes:
        told = notes.summary()
    show_summary(told, voice)
