"""``foldline memory add``, ``rm``, ``forget``, ``undo``, ``consolidate`` and ``clear``."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import Any, Final

import click

from foldline.cli import options
from foldline.cli.memory_place import Place, memories, opened, seconds
from foldline.cli.numbers import Number, Whole
from foldline.cli.output import Voice, write_json, write_text
from foldline.memory.items import KINDS

DAY: Final = 86_400.0

MOST_READ: Final = 1 << 20
"""Characters that are read from stdin for one memory."""


@click.command("add", short_help="Remember something.")
@click.argument("content", metavar="TEXT|-")
@click.option("--kind", type=click.Choice(KINDS), default="episodic", show_default=True)
@click.option("--importance", metavar="X", type=Number(0, 1), default=0.5, show_default=True)
@click.option("--happened", metavar="DATE", type=click.DateTime(), help="When; now unless given.")
@click.option("--session", metavar="NAME", default="", help="The conversation it is from.")
@click.option("--author", metavar="NAME", default="", help="Who said it.")
@click.option("--source", metavar="TEXT", default="", help="Where it comes from.")
@options.voice
@click.pass_obj
def add(place: Place, /, content: str, happened: datetime | None, **rest: Any) -> None:
    """Remember TEXT, or stdin; the same words again refresh what is there."""
    voice = options.voiced(rest)
    with opened(place, make=True) as memory:
        done = memory.add(_given(content), happened=seconds(happened), **rest)
    if voice.json:
        item = None if done.item is None else done.item.to_dict()
        evicted = list(done.evicted)
        write_json("memory.add/1", {"status": done.status, "memory": item, "evicted": evicted})
        return
    if done.item is None:
        voice.note("Nothing was added: all of it came out of a memory.")
        return
    write_text(done.item.id)
    voice.note("Known already; refreshed." if done.status == "known" else "Added.")


@click.command("rm", short_help="Forget one memory.")
@click.argument("id")
@options.voice
@click.pass_obj
def remove(place: Place, /, id: str, **rest: Any) -> None:  # noqa: A002  # as above
    """Forget the memory ID; 'undo' brings it back."""
    voice = options.voiced(rest)
    with opened(place) as memory:
        done = memory.remove(id)
    _told(voice, done.batch, done.ids)


@click.command("forget", short_help="Forget what matters little, is old, or is too much.")
@click.option(
    "--by",
    type=click.Choice(("importance", "time", "capacity")),
    default="importance",
    show_default=True,
)
@click.option(
    "--below",
    metavar="X",
    type=Number(0, 1),
    default=0.1,
    show_default=True,
    help="Importance below which a memory goes.",
)
@click.option(
    "--older-than",
    metavar="DAYS",
    type=Number(0),
    default=30.0,
    show_default=True,
    help="Days after which a memory goes.",
)
@click.option(
    "--keep",
    metavar="N",
    type=Whole(0),
    default=1000,
    show_default=True,
    help="How many stay, the most important first.",
)
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Only this kind.")
@options.voice
@click.pass_obj
def forget(place: Place, /, by: Any, below: float, older_than: float, **rest: Any) -> None:
    """Forget what matters little, is old, or is too much; 'undo' brings it back."""
    voice = options.voiced(rest)
    with opened(place) as memory:
        done = memory.forget(by, threshold=below, max_age=older_than * DAY, **rest)
    _told(voice, done.batch, done.ids)


@click.command("undo", short_help="Bring back what was forgotten.")
@click.argument("batch", type=Whole(1))
@options.voice
@click.pass_obj
def undo(place: Place, /, batch: int, **rest: Any) -> None:
    """Bring back what was forgotten together, by the number that 'forget' or 'rm' told."""
    voice = options.voiced(rest)
    with opened(place) as memory:
        ids = memory.undo(batch)
    if voice.json:
        write_json("memory.undo/1", {"ids": list(ids)})
        return
    voice.note(f"Brought back {memories(len(ids))}.")


@click.command("consolidate", short_help="Take over what matters into another kind.")
@click.option("--from", "source", type=click.Choice(KINDS), default="working", show_default=True)
@click.option("--to", "target", type=click.Choice(KINDS), default="episodic", show_default=True)
@click.option("--min-importance", metavar="X", type=Number(0, 1), default=0.7, show_default=True)
@options.voice
@click.pass_obj
def consolidate(
    place: Place, /, source: Any, target: Any, min_importance: float, **rest: Any
) -> None:
    """Take over what matters from one kind into another."""
    voice = options.voiced(rest)
    with opened(place) as memory:
        made = memory.consolidate(source, target, min_importance=min_importance)
    if voice.json:
        write_json("memory.consolidate/1", {"memories": [item.to_dict() for item in made]})
        return
    voice.note(f"Consolidated {memories(len(made))} from {source} to {target}.")


@click.command("clear", short_help="Erase all memories of the user for good.")
@click.option("--yes", is_flag=True, help="Do it; without this nothing is erased.")
@options.voice
@click.pass_obj
def clear(place: Place, /, yes: bool, **rest: Any) -> None:
    """Erase all memories of the user, their history included; nothing brings them back."""
    voice = options.voiced(rest)
    if not yes:
        raise click.UsageError("This cannot be undone; say --yes.", click.get_current_context())
    with opened(place) as memory:
        count = memory.clear()
    if voice.json:
        write_json("memory.clear/1", {"count": count})
        return
    voice.note(f"Erased {memories(count)}.")


def _given(content: str) -> str:
    return sys.stdin.read(MOST_READ) if content == "-" else content


def _told(voice: Voice, batch: int, ids: tuple[str, ...]) -> None:
    if voice.json:
        write_json("memory.forget/1", {"batch": batch, "ids": list(ids)})
        return
    undo = f" 'foldline memory undo {batch}' brings them back." if ids else ""
    voice.note(f"Forgot {memories(len(ids))}.{undo}")
