"""
Git, read-only: the allowed sub-commands and options.

No list can cover programs configured in a repository itself. So git runs with settings that
disable as many as possible, and only if the kernel confines it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Final

from foldline.frozen import frozen
from foldline.tools.terminal.paths import WorkingDirectory, check_below, check_workspace
from foldline.tools.terminal.programs.options import (
    PROGRAMS,
    CheckedCommand,
    ProgramArguments,
    names,
    option_spec,
    read_arguments,
)
from foldline.tools.terminal.refusal import NeedsApproval, Refused, visible


@frozen
class GitCommand:
    """
    A sub-command: its options, its forced options, and its allowed first words.

    The first word is optional if ``words`` contains ""; ``implied`` is its default.
    """

    options: str
    forced: Sequence[str] = ()
    words: Sequence[str] = ()
    implied: str = ""


READING: Final = {name: GitCommand(**row) for name, row in PROGRAMS["git"].items()}
"""Allowed sub-commands; others may write, run a program, or need the network."""

ALWAYS: Final = tuple(PROGRAMS["words"]["git_always"].split())
"""Options and settings before every sub-command, which disable configured programs."""

HARMLESS: Final = re.compile(
    r"(color\.[a-z]+|core\.quote[pP]ath|log\.(date|decorate)|column\.ui|diff\.renames)=[\w:.-]*"
)
"""Settings that only change the presentation."""

SHOWING: Final = names(PROGRAMS["words"]["git_showing"])

_DOUBTFUL: Final = frozenset("[\\")
"""Characters that git matches differently from `fnmatchcase`."""

_GLOB: Final = _DOUBTFUL | {"*", "?"}

NETWORK: Final = names(PROGRAMS["words"]["git_network"])


def check_git(name: str, words: Sequence[str], place: WorkingDirectory) -> CheckedCommand:
    """
    Check ``git`` with a read-only sub-command.

    Raises:
        NeedsApproval: The sub-command, or an option of it, may write or run a program.
        Refused: It has no sub-command, or needs the network.
    """
    if list(words) in (["--version"], ["version"]):
        return CheckedCommand(name, ("version",))
    left = list(reversed(words))
    before: list[str] = []
    where = place
    while left and left[-1].startswith("-"):
        where = _global(left.pop(), left, before, where)
    if not left:
        raise Refused(f"{name}: a sub-command is missing.")
    arguments = (*ALWAYS, *before, *_sub(left.pop(), left[::-1], where))
    return CheckedCommand(name, arguments, forks=True, opaque=True)


def _global(
    option: str, left: list[str], before: list[str], place: WorkingDirectory
) -> WorkingDirectory:
    if option in {"--no-pager", "-P", "--no-optional-locks"}:
        return place
    if option in {"-C", "-c"} and not left:
        raise Refused(f"git: the value of {option} is missing.")
    if option == "-C":
        moved = place.move_to(left.pop())
        before += ["-C", moved.directory]
        return moved
    if option == "-c" and HARMLESS.fullmatch(left[-1]):
        before += ["-c", left.pop()]
        return place
    raise NeedsApproval(f"git with {visible(option)} is not known to be safe.", "execute")


def _sub(command: str, words: Sequence[str], place: WorkingDirectory) -> list[str]:
    if command in NETWORK:
        raise Refused(f"git {command} is refused.", "The terminal has no network.")
    row = READING.get(command)
    if row is None:
        raise NeedsApproval(f"git {visible(command)} may write or run a program.", "write")
    if row.implied and (not words or words[0].startswith("-")):
        words = [row.implied, *words]
    if row.words and (words[0] if words else "") not in row.words:
        raise NeedsApproval(f"git {command} may write something.", "write")
    spec = option_spec(row.options)
    skipped = [words[0]] if row.words and words else []
    given = read_arguments(f"git {command}", spec, words[len(skipped) :], place)
    if any("%G" in value for value in given.values("--format", "--pretty")):
        # It checks signatures.
        raise NeedsApproval("git: a format with %G runs a program.", "execute")
    if command in RULES:
        RULES[command](given)
    _check_operands(given, place)
    if command in SHOWING:
        _check_printed(command, given, place)
    operands = list(given.operands)
    if given.dashed is not None:  # keeps its position between revisions and paths
        operands.insert(given.dashed, "--")
    return [command, *skipped, *row.forced, *given.words(spec), *operands]


def _check_operands(given: ProgramArguments, place: WorkingDirectory) -> None:
    """Check the operands that are, or look like, paths; revisions are not checked."""
    for operand in given.operands:
        place.check_names(operand.rpartition(":")[2])
        looks = operand.startswith(("/", "./", "../")) or "/../" in operand or operand == ".."
        if looks or place.has_entry(operand):
            place.check(operand)


def _check_printed(command: str, given: ProgramArguments, place: WorkingDirectory) -> None:
    """Check the files that a sub-command prints without naming them in an operand."""
    named = given.operands
    if command == "grep":
        named = named[0 if given.has("-e") else 1 :]
        _check_searched(given, place)
    elif command == "diff" and len(named) == 2:
        # Outside of a repository, it compares two folders recursively.
        if all(Path(place.directory, path).is_dir() for path in named):
            for path in named:
                check_below(place, path)
    elif command not in {"annotate", "blame"}:
        for value in given.values("-L"):
            place.check_names(value.rpartition(":")[2])
    for operand in named:
        if operand.startswith(":(") or not _GLOB.isdisjoint(operand):
            check_workspace(place, partial(_may_match, operand))


def _check_searched(given: ProgramArguments, place: WorkingDirectory) -> None:
    """Check the folders that git grep searches; a revision means all of them."""
    first = 0 if given.has("-e") else 1
    # Git removes x/.. without checking what x is.
    paths = [posixpath.normpath(path) for path in given.operands[max(first, given.dashed or 0) :]]
    known = [path for path in paths if place.has_entry(path)]
    globs = [] if given.dashed is None else [path for path in paths if _is_glob(path)]
    if not paths or {*paths} - {*known, *globs}:
        check_workspace(place)
    for path in known:
        check_below(place, path)


def _is_glob(pathspec: str) -> bool:
    return not (pathspec.startswith(":") or _GLOB.isdisjoint(pathspec))


def _may_match(pathspec: str, below: str) -> bool:
    """
    Return False if a pathspec can match neither a file nor one of its parent folders.

    Args:
        pathspec: A pathspec relative to any directory; its ``*`` matches ``/``, too.
        below: The path of the file relative to the workspace.
    """
    if pathspec.startswith((":!", ":^")):  # these only exclude files
        return False
    if pathspec.startswith((":", "/")) or not _DOUBTFUL.isdisjoint(pathspec):
        return True
    parts = [part for part in posixpath.normpath(pathspec).split("/") if part not in {".", ".."}]
    return fnmatchcase(f"/{below}/", "/".join(("*", *parts, "*")).replace("?", "*"))


def _check_listing(*names: str) -> Callable[[ProgramArguments], None]:
    def rule(given: ProgramArguments) -> None:
        if given.operands and not given.has(*names):
            raise NeedsApproval("git: a name without --list creates one.", "write")

    return rule


def _check_object(given: ProgramArguments) -> None:
    if not given.operands:
        raise Refused("git cat-file: an object is missing.")


def _check_config(given: ProgramArguments) -> None:
    if not given.has("--get", "--get-all", "--get-regexp", "--list", "-l"):
        raise NeedsApproval("git config without --get or --list writes.", "write")


_LISTING: Final = names("-l --list --contains --no-contains --merged --no-merged --points-at")
"""Options with which names are patterns."""

RULES: Final[dict[str, Callable[[ProgramArguments], None]]] = {
    "branch": _check_listing(*_LISTING),
    "cat-file": _check_object,
    "config": _check_config,
    "tag": _check_listing(*_LISTING, "-n"),
}
