"""``foldline memory``: what agents remember between conversations."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from foldline.cli import options
from foldline.cli.errors import NamingGroup
from foldline.cli.options import IntegerType, NumberType
from foldline.cli.output import Output
from foldline.cli.stores import existing, make_folder, memory_file
from foldline.cli.streams import text_argument
from foldline.errors import InputError
from foldline.evaluation.figures import moment
from foldline.memory import Memory, MemoryItem
from foldline.memory.items import KINDS


def _place(file: Path | str | None) -> Path | str:
    return file if isinstance(file, str) else memory_file(file)


def _open(file: Path | str | None, user: str) -> Memory:
    """
    Open the memory.

    Raises:
        StoreError: There is none.
    """
    place = existing(_place(file), "memory", made_by="memory add", option="--file")
    return Memory.open(place, user=user)


_file = options.store_file("memory")
_user = partial(click.option, "--user", metavar="NAME", help="Owner of the memory.")
_target_options = options.together(_file, _user(callback=options.or_before))
_on_memory = options.on_store(_target_options, ("file", "user"), _open)
"""Pass a command the open memory, and its output."""


class DateType(click.DateTime):
    """A date, with or without a time; its error gives examples."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a date, or fail with examples."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            words = "write 2026-01-31 or 2026-01-31T18:30:00"
            self.fail(f"{str(value)[:40]!r} is not a date: {words}.", param, ctx)


DATE: Final = DateType()


def seconds(when: datetime | None) -> float | None:
    """Return a time as seconds since 1970; a date without a zone is in UTC."""
    return None if when is None else when.replace(tzinfo=UTC).timestamp()


def memories(number: int) -> str:
    """Return a number of memories as text."""
    return f"{number:,} memory" if number == 1 else f"{number:,} memories"


_kinds_option = click.option(
    "--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Only this kind."
)


_filter_options = options.together(
    _kinds_option,
    options.fraction("--min-importance", 0.0, "Only memories at least this important, 0 to 1."),
    click.option("--since", metavar="DATE", type=DATE, help="Only since this date."),
    click.option("--until", metavar="DATE", type=DATE, help="Only until this date."),
    click.option("--session", metavar="NAME", help="Only of this conversation."),
)
"""The options that filter memories."""


@click.command("search", short_help="Find memories relevant to a question.")
@options.query
@options.number("--limit", IntegerType(1, 1000), 10)
@options.fraction("--min-strength", 0.0, "Only evidence at least this strong, 0 to 1.")
@_filter_options
@_on_memory
def search(memory: Memory, /, query: str, output: Output, **rest: Any) -> None:
    """Find memories relevant to QUERY, the most relevant first."""
    found = memory.search(query, **_filters(rest))
    records = []
    for one in found:
        figures = {"score": one.score, "strength": one.strength, "parts": dict(one.parts)}
        records.append(one.item.to_dict() | figures)
    output.records(
        "memory.search/1",
        {"results": records},
        _columns("evidence"),
        [_cells(one.item, f"{one.strength:.0%}") for one in found],
        empty="No memory matches.",
    )


@click.command("list", short_help="List memories.")
@options.number("--limit", IntegerType(1, 1000), 50)
@options.choice("--order", ("added", "happened", "importance"))
@_filter_options
@_on_memory
def list_memories(memory: Memory, /, output: Output, **rest: Any) -> None:
    """List memories, the latest or most important first."""
    items = memory.items(**_filters(rest))
    output.records(
        "memory.list/1",
        {"memories": [item.to_dict() for item in items]},
        _columns("importance"),
        [_cells(item, f"{item.importance:.2f}") for item in items],
        empty="There are no memories.",
    )


@click.command("show", short_help="Show one memory with its history.")
@click.argument("id")
@_on_memory
def show(memory: Memory, /, id: str, output: Output) -> None:  # noqa: A002  # as the argument is called
    """Show the memory ID; its earlier revisions go to stderr."""
    found, history = memory.get(id), memory.history(id)
    if not history:
        raise InputError(f"there is no memory {id[:60]!r}", field="id")
    past = [item.to_dict() | {"state": state} for item, state in history]
    output.result(
        "memory.show/1",
        {"memory": None if found is None else found.to_dict(), "history": past},
        *(f"{i.name}  {moment(i.added):%Y-%m-%d %H:%M}  {state}" for i, state in history),
        text="" if found is None else found.content,
    )


@click.command("stats", short_help="Show what a memory holds.")
@_on_memory
def stats(memory: Memory, /, output: Output) -> None:
    """Show how much is remembered, by kind."""
    output.result("memory.stats/1", memory.stats(), text=memory.summary(5))


def _filters(given: dict[str, Any]) -> dict[str, Any]:
    start, end = seconds(given.pop("since")), seconds(given.pop("until"))
    return given | {"time_range": (start, end)}


def _columns(figure: str) -> tuple[str, ...]:
    return "id", "kind", f">{figure}", "happened", "*content"


def _cells(item: MemoryItem, figure: str) -> tuple[str, ...]:
    return item.id, item.kind, figure, f"{moment(item.happened):%Y-%m-%d}", item.content


DAY: Final = 86_400.0


@click.command("add", short_help="Remember something.")
@click.argument("content", metavar="TEXT|-")
@options.choice("--kind", KINDS, "episodic")
@options.fraction("--importance", 0.5)
@click.option("--happened", metavar="DATE", type=DATE, help="Time (default: now).")
@click.option("--session", metavar="NAME", default="", help="Conversation that it comes from.")
@click.option("--author", metavar="NAME", default="", help="Author of the text.")
@click.option("--source", metavar="TEXT", default="", help="Where it comes from.")
@_target_options
@options.output
def add(
    file: Path | str | None,
    user: str,
    content: str,
    happened: datetime | None,
    output: Output,
    **rest: Any,
) -> None:
    """Remember TEXT, or stdin; a repeated text refreshes the existing memory."""
    with Memory.open(make_folder(_place(file), "--file"), user=user) as memory:
        done = memory.add(text_argument(content, "content"), happened=seconds(happened), **rest)
    item, number = (done.item.to_dict(), done.item.id) if done.item else (None, "")
    note = "Known already; refreshed." if done.status == "known" else "Added."
    note = note if item else "Nothing was added: the text came from memory."
    value = {"status": done.status, "memory": item, "evicted": list(done.evicted)}
    output.result("memory.add/1", value, note, text=number)


@click.command("rm", short_help="Forget one memory.")
@click.argument("id")
@_on_memory
def remove(memory: Memory, /, id: str, output: Output) -> None:  # noqa: A002  # as above
    """Forget the memory ID; 'undo' restores it."""
    done = memory.remove(id)
    _report_forgotten(output, done.batch, done.ids)


@click.command("forget", short_help="Forget unimportant, old or surplus memories.")
@options.choice("--by", ("importance", "time", "capacity"))
@options.fraction("--below", 0.1, "Forget memories below this importance.")
@options.number("--older-than", NumberType(0), 30.0, "Forget memories older than this.", "DAYS")
@options.number("--keep", IntegerType(0), 1000, "Memories to keep, the most important first.")
@_kinds_option
@_on_memory
def forget(
    memory: Memory, /, by: Any, below: float, older_than: float, output: Output, **rest: Any
) -> None:
    """Forget unimportant, old or surplus memories; 'undo' restores them."""
    done = memory.forget(by, threshold=below, max_age=older_than * DAY, **rest)
    _report_forgotten(output, done.batch, done.ids)


@click.command("undo", short_help="Restore forgotten memories.")
@click.argument("batch", type=IntegerType(1))
@_on_memory
def undo(memory: Memory, /, batch: int, output: Output) -> None:
    """Restore memories forgotten together, by the number that 'forget' or 'rm' printed."""
    ids = memory.undo(batch)
    if not ids:
        hint = "'forget' and 'rm' print the number; each can be undone once."
        raise InputError(f"No forgotten memory has the number {batch}", hint=hint)
    output.result("memory.undo/1", {"ids": list(ids)}, f"Restored {memories(len(ids))}.")


@click.command("consolidate", short_help="Promote important memories to another kind.")
@click.option("--from", "source", type=click.Choice(KINDS), default="working", show_default=True)
@click.option("--to", "into", type=click.Choice(KINDS), default="episodic", show_default=True)
@options.fraction("--min-importance", 0.7)
@_on_memory
def consolidate(
    memory: Memory, /, source: Any, into: Any, min_importance: float, output: Output
) -> None:
    """Promote important memories from one kind to another."""
    made = memory.consolidate(source, into, min_importance=min_importance)
    value = {"memories": [item.to_dict() for item in made]}
    note = f"Consolidated {memories(len(made))} from {source} to {into}."
    output.result("memory.consolidate/1", value, note)


@click.command("clear", short_help="Erase all memories of the user for good.")
@click.option("--yes", is_flag=True, help="Confirm; nothing is erased without it.")
@_target_options
@options.output
def clear(file: Path | str | None, user: str, yes: bool, output: Output) -> None:
    """Erase all memories of the user and their history; this cannot be undone."""
    if not yes:
        options.refuse("This cannot be undone; confirm with --yes.")
    with _open(file, user) as memory:
        count = memory.clear()
    output.result("memory.clear/1", {"count": count}, f"Erased {memories(count)}.")


def _report_forgotten(output: Output, batch: int, ids: tuple[str, ...]) -> None:
    undo = f" 'foldline memory undo {batch}' brings them back." if ids else ""
    note = f"Forgot {memories(len(ids))}.{undo}"
    output.result("memory.forget/1", {"batch": batch, "ids": list(ids)}, note)


EPILOG = """\b
Examples:
  foldline memory add "The launch moved to May" --importance 0.8
  git log -1 --format=%B | foldline memory add - --kind episodic
  foldline memory search "when is the launch?"
  foldline memory forget --by time --older-than 90
  foldline memory undo 17

\b
Nothing is overwritten or erased, except by 'clear'.
"""


@click.group("memory", cls=NamingGroup, epilog=EPILOG)
@_file
@_user(default="default", show_default=True)
def command(file: Path | str | None, user: str) -> None:  # its subcommands take them
    """Read and change a memory."""


for one in (add, search, list_memories, show, remove, forget, undo, consolidate, stats, clear):
    command.add_command(one)
