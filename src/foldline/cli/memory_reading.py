"""``foldline memory search``, ``list``, ``show`` and ``stats``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from foldline.cli import options
from foldline.cli.memory_place import Place, opened, seconds
from foldline.cli.numbers import Number, Whole
from foldline.cli.output import console, flexible, moment, table, write_json, write_text
from foldline.errors import InputError
from foldline.memory import Item
from foldline.memory.items import KINDS

Command = TypeVar("Command", bound=Callable[..., Any])


def _narrowed(taking: Command) -> Command:
    """Give a command the options that narrow down which memories are meant."""
    for option in (
        click.option("--session", metavar="NAME", help="Only of this conversation."),
        click.option("--until", metavar="DATE", type=click.DateTime(), help="Only until then."),
        click.option("--since", metavar="DATE", type=click.DateTime(), help="Only from then on."),
        click.option(
            "--min-importance",
            metavar="X",
            type=Number(0, 1),
            default=0.0,
            help="Only what is at least so important, 0 to 1.",
        ),
        click.option(
            "--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Only this kind."
        ),
    ):
        taking = option(taking)
    return taking


@click.command("search", short_help="Find what has to do with a question.")
@click.argument("query")
@click.option("--limit", metavar="N", type=Whole(1, 1000), default=10, show_default=True)
@click.option(
    "--min-strength",
    metavar="X",
    type=Number(0, 1),
    default=0.0,
    help="Only what is at least so strong evidence, 0 to 1.",
)
@_narrowed
@options.voice
@click.pass_obj
def search(place: Place, /, query: str, **rest: Any) -> None:
    """Find what has to do with QUERY, the most relevant first."""
    voice = options.voiced(rest)
    with opened(place) as memory:
        found = memory.search(query, **_filters(rest))
    if voice.json:
        rows = [
            one.item.to_dict()
            | {"score": one.score, "strength": one.strength, "parts": dict(one.parts)}
            for one in found
        ]
        write_json("memory.search/1", {"results": rows})
        return
    if not found:
        voice.note("Nothing is remembered about that.")
        return
    _show([(one.item, f"{one.strength:.0%}") for one in found], "evidence")


@click.command("list", short_help="Go through memories.")
@click.option("--limit", metavar="N", type=Whole(1, 1000), default=50, show_default=True)
@click.option(
    "--order",
    type=click.Choice(("added", "happened", "importance")),
    default="added",
    show_default=True,
)
@_narrowed
@options.voice
@click.pass_obj
def listed(place: Place, /, **rest: Any) -> None:
    """Go through memories, the latest or most important first."""
    voice = options.voiced(rest)
    with opened(place) as memory:
        items = memory.items(**_filters(rest))
    if voice.json:
        write_json("memory.list/1", {"memories": [item.to_dict() for item in items]})
        return
    if not items:
        voice.note("Nothing is remembered.")
        return
    _show([(item, f"{item.importance:.2f}") for item in items], "importance")


@click.command("show", short_help="Show one memory with its history.")
@click.argument("id")
@options.voice
@click.pass_obj
def show(place: Place, /, id: str, **rest: Any) -> None:  # noqa: A002  # as the argument is called
    """Show the memory ID; its earlier revisions go to stderr."""
    voice = options.voiced(rest)
    with opened(place) as memory:
        found, history = memory.get(id), memory.history(id)
    if not history:
        raise InputError(f"there is no memory {id[:60]!r}", field="id")
    if voice.json:
        past = [item.to_dict() | {"state": state} for item, state in history]
        now = None if found is None else found.to_dict()
        write_json("memory.show/1", {"memory": now, "history": past})
        return
    for item, state in history:
        voice.note(f"{item.name}  {moment(item.added):%Y-%m-%d %H:%M}  {state}")
    if found is not None:
        write_text(found.content)


@click.command("stats", short_help="Show what a memory holds.")
@options.voice
@click.pass_obj
def stats(place: Place, /, **rest: Any) -> None:
    """Show how much is remembered, by kind."""
    voice = options.voiced(rest)
    with opened(place) as memory:
        figures, summary = memory.stats(), memory.summary(5)
    if voice.json:
        write_json("memory.stats/1", figures)
        return
    write_text(summary)


def _filters(given: dict[str, Any]) -> dict[str, Any]:
    out = dict(given)
    until = seconds(out.pop("until"))
    return out | {"time_range": (seconds(out.pop("since")), until)}


def _show(rows: list[tuple[Item, str]], figure: str) -> None:
    grid = table("id", "kind", f">{figure}", "happened", "*content")
    for item, number in rows:
        day = f"{moment(item.happened):%Y-%m-%d}"
        grid.add_row(item.id, item.kind, number, day, flexible(item.content))
    console().print(grid)
