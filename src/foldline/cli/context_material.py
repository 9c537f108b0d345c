"""What ``foldline context`` builds from: notes, knowledge, memories, files, a conversation."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from foldline.cli.numbers import Whole
from foldline.cli.output import Voice
from foldline.context.settings import ContextConfig
from foldline.context.sources import Source, files, source
from foldline.core.validation import named
from foldline.errors import InputError

Command = TypeVar("Command", bound=Callable[..., Any])

MOST_BYTES: Final = 2_000_000
"""Bytes of a prompt or a list of queries."""

_FILE: Final = click.Path(path_type=Path, exists=True, dir_okay=False)

OPTIONS: Final = (
    click.option("--notes", type=click.Path(path_type=Path, exists=True, file_okay=False),
                 metavar="DIR", help="A folder of notes."),
    click.option("--kb", type=_FILE, metavar="FILE", help="A knowledge base."),
    click.option("--memory", type=_FILE, metavar="FILE", help="A file of memories."),
    click.option("--user", metavar="NAME", default="default", help="Whose memories (default)."),
    click.option("--file", "paths", multiple=True, metavar="PATH",
                 type=click.Path(path_type=Path, exists=True),
                 help="A text file, or a folder of them; may be given several times."),
    click.option("--history", metavar="FILE", help="A conversation in any format; - is stdin."),
    click.option("--system", metavar="FILE", help="Role and rules; - is stdin."),
    click.option("--budget", type=Whole(1), metavar="N",
                 help="The most that the context takes, in tokens (3000)."),
)  # fmt: skip


def material(command: Command) -> Command:
    """Give a command the options that say what a context is built from."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class Material:
    """What there is to build from."""

    sources: tuple[Source, ...]
    history: tuple[Any, ...] = field(repr=False)
    instructions: str | None = field(repr=False)


@contextmanager
def opened(settings: dict[str, Any], voice: Voice) -> Iterator[Material]:
    """
    Open what the options of `material` name, and close it afterwards.

    Args:
        settings: The options; they are taken out.
        voice: Tells what could not be read.
    """
    folder, kb, memory = (settings.pop(name) for name in ("notes", "kb", "memory"))
    user, paths = settings.pop("user"), settings.pop("paths")
    history, system = settings.pop("history"), settings.pop("system")
    if history == system == "-":
        raise click.UsageError("Only one of --history and --system can be stdin.")
    with ExitStack() as stack:
        sources = list[Source]()
        # Imported where they are named: each of them loads a store.
        if folder is not None:
            from foldline.notes import Notes

            sources.append(source(stack.enter_context(Notes.open(folder)), "notes", "note"))
        if kb is not None:
            from foldline.memory.knowledge import Knowledge

            store = stack.enter_context(Knowledge.open(kb))
            sources.append(source(store, "knowledge", "knowledge"))
        if memory is not None:
            from foldline.memory import Memory

            kept = stack.enter_context(Memory.open(memory, user=user))
            sources.append(source(kept, "memory", "memory"))
        if paths:
            sources.append(files(paths))
        yield Material(
            tuple(sources),
            () if history is None else _conversation(history, voice),
            None if system is None else read_text(system),
        )


def _conversation(file: str, voice: Voice) -> tuple[Any, ...]:
    from foldline.cli.reading import open_input

    there = open_input(file, None, None, voice)
    voice.warn(there.warnings)
    return tuple(there.transcript.messages)


def read_text(file: str) -> str:
    """
    Read a text of a moderate size from a file or from stdin.

    Raises:
        InputError: It cannot be read, or is too large.
    """
    try:
        if file == "-":
            data: bytes = sys.stdin.buffer.read(MOST_BYTES + 1)
        elif not Path(file).is_file():
            raise InputError(f"{file} is no file that can be read", hint="Name a text file.")
        else:
            with Path(file).open("rb") as stream:
                data = stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}") from error
    if len(data) > MOST_BYTES:
        raise InputError(f"{file} is larger than {MOST_BYTES:,} bytes", hint="Give less of it.")
    return data.decode("utf-8-sig", "replace")


def configured(settings: dict[str, str], **fixed: Any) -> ContextConfig:
    """
    Return a configuration.

    Args:
        settings: Values by name, as people write them.
        **fixed: Values that are read already; None leaves the default.

    Raises:
        BudgetError: There is no such setting, or the value makes no sense.
    """
    default: Any = ContextConfig()
    values = {name: value for name, value in fixed.items() if value is not None}
    for name, text in settings.items():
        named("setting", name, [n for n in default.__slots__ if n != "section_budgets"])
        values[name] = _read(text, type(getattr(default, name)))
    return ContextConfig(**values)


def _read(text: str, kind: Any) -> Any:
    """Read a value as its default is; what it cannot be stays text, for the check to refuse."""
    if kind is bool:
        return {"true": True, "false": False}.get(text.lower(), text)
    try:
        return kind(text)
    except ValueError:
        return text
