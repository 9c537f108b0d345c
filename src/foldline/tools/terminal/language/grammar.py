"""
What a command line is made of.

    list     := pipeline ( ("&&" | "||" | ";") pipeline )* [";"]
    pipeline := command ( "|" command )*
    command  := word+ redirect*
    redirect := "2>&1" | ">&2" | ("2>" | ">" | "&>") "/dev/null" | "<" word
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from foldline.tools.terminal.language.words import Operator, ShellWord, Token, tokenize
from foldline.tools.terminal.refusal import Refused

Sink: TypeAlias = Literal["out", "err", "null"]
Joint: TypeAlias = Literal["&&", "||", ";"]

MOST_COMMANDS: Final = 20
MOST_PIPELINES: Final = 10
"""More are refused, not asked about: no number of them turns a no into a question."""

ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\[.*\])?\+?=")


@dataclass(frozen=True, slots=True)
class Command:
    """
    One command; ``out`` and ``err`` say where its two streams go, ``source`` what it reads.

    "out" is the next command or the answer, "err" the errors of the answer, "null" nowhere.
    """

    words: tuple[ShellWord, ...]
    out: Sink = "out"
    err: Sink = "err"
    source: ShellWord | None = None


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands joined by pipes, and what joins the whole to the pipeline before it."""

    commands: tuple[Command, ...]
    joint: Joint = ";"


def parse_line(command: str) -> tuple[Pipeline, ...]:
    """
    Read a command line.

    Args:
        command: The text of the model.

    Raises:
        Refused: It is not understood, or too long.
    """
    found = tokenize(command)
    pipelines: list[Pipeline] = []
    joint: Joint = ";"
    part: list[Token] = []
    for index, token in enumerate(found):
        if isinstance(token, Operator) and token.text in {"&&", "||", ";"}:
            pipelines.append(_pipeline(part, joint, token.text))
            joint, part = token.text, []  # type: ignore[assignment]  # one of three
            if token.text == ";" and index == len(found) - 1:
                return _check_bounds(pipelines)
        else:
            part.append(token)
    pipelines.append(_pipeline(part, joint, "the end"))
    return _check_bounds(pipelines)


def _check_bounds(pipelines: Sequence[Pipeline]) -> tuple[Pipeline, ...]:
    commands = sum(len(pipeline.commands) for pipeline in pipelines)
    if len(pipelines) > MOST_PIPELINES or commands > MOST_COMMANDS:
        raise Refused(
            f"The line has {commands} commands in {len(pipelines)} pipelines; {MOST_COMMANDS} in "
            f"{MOST_PIPELINES} are allowed.",
            "Write several lines.",
        )
    return tuple(pipelines)


def _pipeline(part: Sequence[Token], joint: Joint, until: str) -> Pipeline:
    commands, current = [], list[Token]()
    for token in [*part, Operator("|")]:
        if token == Operator("|"):
            if not current:
                raise Refused(f"A command is missing before {until if not part else '|'}.")
            commands.append(_command(current))
            current = []
        else:
            current.append(token)
    if any(command.source is not None for command in commands[1:]):
        raise Refused("Only the first command of a pipeline may read a file with <.")
    return Pipeline(tuple(commands), joint)


def _command(part: Sequence[Token]) -> Command:
    words: list[ShellWord] = []
    sinks: dict[str, Sink] = {"out": "out", "err": "err"}
    source = None
    left = iter(part)
    for token in left:
        if isinstance(token, ShellWord):
            words.append(token)
            continue
        target = next(left, None)
        if not isinstance(target, ShellWord):
            raise Refused(f"The target of {token.text} is missing.")
        if token.text in {"<", "0<"}:
            source = target
        else:
            _redirect(token.text, target, sinks)
    if not words:
        raise Refused("A redirection without a command is refused.")
    first = words[0]
    if (name := ASSIGNMENT.match(first.text)) and all(first.live[: name.end()]):
        raise Refused("This terminal refuses an assignment.", "No variables are kept or passed.")
    return Command(tuple(words), sinks["out"], sinks["err"], source)


def _redirect(sign: str, target: ShellWord, sinks: dict[str, Sink]) -> None:
    """Say where a stream goes from now on, in the order in which the line says it."""
    match sign, target.text:
        case "2>" | "2>>", "/dev/null":
            sinks["err"] = "null"
        case ">" | ">>" | "1>" | "1>>", "/dev/null":
            sinks["out"] = "null"
        case "&>" | "&>>" | ">&", "/dev/null":
            sinks["out"] = sinks["err"] = "null"
        case "2>&", "1":
            sinks["err"] = sinks["out"]
        case ">&" | "1>&", "2":
            sinks["out"] = sinks["err"]
        case ">&" | "1>&" | "2>&", same if same in {"1", "2"}:
            pass
        case _:
            raise Refused(
                "This terminal refuses a redirection to a file or descriptor.",
                "Only 2>/dev/null, >/dev/null, &>/dev/null, 2>&1 and >&2 are understood; "
                "files are written by other tools.",
            )
