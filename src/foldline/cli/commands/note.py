"""``foldline note``: notes and tasks in files that people can edit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import click

from foldline.cli import options
from foldline.cli.commands.note_tasks import on_notes, short_id, task, tasks, tidy
from foldline.cli.errors import NamingGroup
from foldline.cli.options import IntegerType
from foldline.cli.output import Output, one_line, write_json, write_text
from foldline.cli.stores import open_notes
from foldline.cli.streams import text_argument
from foldline.errors import FoldlineError, InputError
from foldline.evaluation.figures import local_time, plural
from foldline.frozen import replace
from foldline.notes import (
    KINDS,
    LEVELS,
    STATUSES,
    Note,
    NoteMetadata,
    Notes,
    NoteSummary,
    SkippedFile,
)

kind_option = click.option("--type", type=click.Choice(KINDS), help="Kind of note.")
level_option = click.option("--level", type=click.Choice(LEVELS), help="How long it matters.")
tags_option = click.option("--tag", "tags", metavar="WORD", multiple=True, help="May be repeated.")
described = options.together(kind_option, level_option, tags_option)
limit_option = options.number("--limit", IntegerType(0, 10_000), 20, "How many at most.")


def show_note(note: Note, output: Output) -> None:
    """Show the metadata of a note on stderr, and its content on stdout."""
    if output.json:
        write_json("note/1", {"note": note.to_dict()})
        return
    tags = f", tags {', '.join(note.tags)}" if note.tags else ""
    output.note(note.title)
    output.note(f"{note.id}: {note.type}, {note.level}, version {note.version}{tags}")
    if note.status:
        needs = f", needs {', '.join(note.needs)}" if note.needs else ""
        outcome = f": {note.outcome}" if note.outcome else ""
        output.note(f"task, {note.status}{outcome}{needs}")
    if note.source:
        output.note(f"from {note.source}")
    write_text(note.content)


def show_list(notes: Sequence[Note], output: Output) -> None:
    """Show notes in a table."""
    columns = ("id", "type", "level", "*title", "*tags", ">version", "changed")
    value = {"notes": [note.to_dict() for note in notes]}
    output.records("notes/1", value, columns, map(_cells, notes), noun="note")


def show_summary(summary: NoteSummary, output: Output) -> None:
    """Show the number of notes of each kind, and the most recently changed ones."""
    recent = [card.to_dict() for card in summary.recent]
    counts = {"type": summary.by_type, "level": summary.by_level, "task": summary.by_status}
    value = {**asdict(replace(summary, recent=())), "recent": recent}
    rows = [(what, *item) for what, by_name in counts.items() for item in sorted(by_name.items())]
    output.records("note-summary/1", value, ("what", "*which", ">notes"), rows)
    if output.json:
        return
    for card in summary.recent:
        output.note(f"{card.updated_at:%Y-%m-%d} {short_id(card)} {one_line(card.title, 80)}")
    warn_of(summary.troubles, output)
    output.note(f"{plural(summary.total, 'note')}.")


def warn_of(troubles: Iterable[SkippedFile], output: Output) -> None:
    """Warn about skipped files that are not notes, each with the reason."""
    output.warn(f"{one_line(one.name, 80)} is skipped: {one.why}" for one in troubles)


def _cells(card: NoteMetadata) -> tuple[Any, ...]:
    kind = card.type if card.status is None else card.status
    changed = local_time(card.updated_at.timestamp())
    tags = ", ".join(card.tags)
    return short_id(card), kind, card.level, card.title, tags, card.version, changed


@click.command("show")
@click.argument("note_id", metavar="ID")
@options.number("--version", IntegerType(1), None, "An earlier version; --history lists them.")
@click.option("--history", is_flag=True, help="List its earlier versions instead.")
@on_notes
def show(
    notes: Notes, /, note_id: str, version: int | None, history: bool, output: Output
) -> None:
    """Show a note: its metadata on stderr, its content on stdout."""
    note = notes.read(note_id)
    past = notes.history(note.id) if history or version is not None else ()
    if history:
        show_list([one.note for one in past], output)
        return
    if version is not None:
        known = {one.number: one.note for one in past} | {note.version: note}
        if version not in known:
            listed = ", ".join(map(str, sorted(known)))
            raise InputError(f"The note has no version {version}", hint=f"Known: {listed}.")
        note = known[version]
    show_note(note, output)


@click.command("search")
@click.argument("query")
@described
@limit_option
@on_notes
def search(notes: Notes, /, query: str, output: Output, **rest: Any) -> None:
    """Search notes by content, best match first; English, Chinese and mixed."""
    found = notes.search(query, **rest)
    warn_of(notes.troubles, output)
    if output.json:
        records = [
            {"note": f.note.to_dict(), "score": f.score, "strength": f.strength} for f in found
        ]
        write_json("note-search/1", {"found": records})
        return
    show_list([one.note for one in found], output)


@click.command("ls")
@described
@click.option("--status", type=click.Choice(STATUSES), help="Only tasks with this status.")
@click.option("--deleted", is_flag=True, help="Only notes in the trash.")
@options.number("--start", IntegerType(0), 0, "Skip the first N.")
@limit_option
@on_notes
def ls(
    notes: Notes, /, deleted: bool, start: int, limit: int, output: Output, **rest: Any
) -> None:
    """List notes, the most recently changed first."""
    if deleted:
        listed = notes.deleted()[start : start + limit]
    else:
        listed = notes.list(limit=limit, start=start, **rest)
    warn_of(notes.troubles, output)
    show_list(listed, output)


@click.command("summary")
@on_notes
def summary(notes: Notes, /, output: Output) -> None:
    """Count the notes, and name the files that are not notes."""
    show_summary(notes.summary(), output)


@click.command("new")
@click.argument("title")
@click.option("-c", "--content", default="", help='Markdown; "-" reads it from stdin.')
@described
@click.option("--source", default="", help="Source, such as a file and line.")
@click.option("--needs", metavar="ID", multiple=True, help="Make a task that needs this one.")
@click.option("--task", "is_task", is_flag=True, help="Make a task.")
@options.notes_folder
@options.output
def new(
    folder: Path | None,
    title: str,
    content: str,
    needs: tuple[str, ...],
    is_task: bool,
    output: Output,
    **rest: Any,
) -> None:
    """Make a note; its id goes to stdout."""
    text = text_argument(content, "content")
    kind = rest.pop("type")
    rest["level"] = rest["level"] or "task"
    with open_notes(folder, make=True) as notes:
        if is_task or needs:
            source = rest.pop("source")
            if kind not in (None, "task_state") or source:
                raise click.UsageError("A task has no --type and no --source.")
            ids = [notes.resolve(one) for one in needs]
            note = notes.tasks.add(title, text, needs=ids, **rest)
        else:
            note = notes.create(title, text, type=kind or "general", **rest)
    done = f"Noted {one_line(note.title, 60)!r} in {notes.folder}."
    output.result("note/1", {"note": note.to_dict()}, done, text=note.id)


@click.command("edit")
@click.argument("note_id", metavar="ID")
@click.option("--title", help="A new title.")
@click.option("-c", "--content", help='New Markdown, replacing the old; "-" reads it from stdin.')
@kind_option
@level_option
@click.option("--tag", "tags", metavar="WORD", multiple=True, help="New tags; they replace all.")
@click.option("--revert", metavar="N", type=IntegerType(1), help="Restore this version.")
@on_notes
def edit(
    notes: Notes,
    /,
    note_id: str,
    content: str | None,
    revert: int | None,
    output: Output,
    **rest: Any,
) -> None:
    """Change a note; without options, in your editor. Earlier versions stay in its history."""
    given = {name: value for name, value in rest.items() if value not in (None, ())}
    given |= {} if content is None else {"content": text_argument(content, "content")}
    before = notes.read(note_id)
    if revert is not None:
        note = notes.revert(before.id, revert)
    else:
        given = given or _edit_content(before.content) | {"version": before.version}
        note = notes.update(before.id, **given)
    same = note.version == before.version
    done = "Nothing was changed." if same else f"{note.id} is now at version {note.version}."
    output.result("note/1", {"note": note.to_dict()}, done)


@click.command("rm")
@click.argument("note_ids", metavar="ID...", nargs=-1, required=True)
@click.option("--undo", is_flag=True, help="Restore them from the trash instead.")
@on_notes
def rm(notes: Notes, /, note_ids: tuple[str, ...], undo: bool, output: Output) -> None:
    """Move notes to the trash; --undo restores them."""
    done = [notes.restore(one) if undo else notes.delete(one) for one in note_ids]
    became = "was restored" if undo else "was deleted; --undo restores it"
    output.result(
        "note-rm/1",
        {"ids": [card.id for card in done], "undone": undo},
        *(f"{card.id} {one_line(card.title, 60)!r} {became}." for card in done),
    )


def _edit_content(content: str) -> dict[str, Any]:
    """
    Open the content in the editor; return the change, or nothing if it was not saved.

    Raises:
        FoldlineError: The editor failed.
    """
    try:
        saved = click.edit(f"{content}\n", extension=".md")
    except click.ClickException as error:
        why = f"The note is unchanged, because the editor failed: {error.message.rstrip('.')}."
        raise FoldlineError(why, hint="Check the variables VISUAL and EDITOR.") from error
    return {} if saved is None else {"content": saved.removesuffix("\n")}


EPILOG = """\b
Examples:
  foldline note new "Login fails since 1.4" --type blocker --tag auth -c "Only with SSO."
  git log -3 | foldline note new "Last changes" --content -
  foldline note search "登录 timeout"
  foldline note edit 3F7K --type conclusion
  foldline note tasks

\b
An id may be shortened to its last letters. The folder is ./notes, unless --notes or FOLDLINE_NOTES
names another.
"""


COMMANDS: Final = (new, show, edit, rm, search, ls, summary, tasks, task, tidy)


@click.group("note", cls=NamingGroup, epilog=EPILOG, commands=COMMANDS)
@options.notes_folder
def command(folder: Path | None) -> None:  # its subcommands take it
    """Keep notes, and tasks that need each other, in Markdown files that people can edit."""
