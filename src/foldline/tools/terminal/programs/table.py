"""All read-only programs by name: a row of options for most, a checker for the others."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from foldline.core.validation import suggest_name
from foldline.frozen import frozen
from foldline.tools.terminal.paths import FOLDERS, WorkingDirectory, check_below, find_binary
from foldline.tools.terminal.programs import scripts, searching
from foldline.tools.terminal.programs.git import check_git
from foldline.tools.terminal.programs.options import (
    PROGRAMS,
    CheckedCommand,
    Checker,
    ProgramArguments,
    names,
    option_spec,
    read_arguments,
)
from foldline.tools.terminal.refusal import NeedsApproval, Refused, visible

Operands: TypeAlias = Literal["paths", "listed", "names", "text", "none"]
"""
The kind of operands: paths to read; paths to list, also pipes and devices; names whose last link
is not followed; anything; or none.
"""


@frozen
class Program:
    """
    One row: its options, the kind of its operands, and their maximum number.

    ``runs`` is the program that is actually run, ``forced`` its forced arguments. ``bare`` drops
    the options, ``dashed`` is True if the program supports ``--``. ``expands`` is True if it
    replaces ``@file`` with the words of the file, even after ``--``.
    """

    options: str = ""
    operands: Operands = "paths"
    most: int = 10_000
    runs: str = ""
    forced: Sequence[str] = ()
    dashed: bool = True
    bare: bool = False
    expands: bool = False


_FOLLOWING, _ITSELF, _TARGET = (
    PROGRAMS["words"][kind].split() for kind in ("follow_links", "list_itself", "list_target")
)
"""
Options of programs that name or list files: those that follow a link, those with which ls prints
the link itself, and those with which it prints the target all the same.
"""

TABLE: Final = {name: Program(**row) for name, row in PROGRAMS["rows"].items()}
"""Programs without a checker."""


def _check_row(name: str, words: Sequence[str], place: WorkingDirectory) -> CheckedCommand:
    """
    Check a command by its row.

    Args:
        name: The name of the row.
        words: The arguments.
        place: The working directory.

    Raises:
        NeedsApproval: An option is not in the row.
        Refused: It is invalid.
    """
    row = TABLE[name]
    program = row.runs or name
    spec = option_spec(row.options)
    given = read_arguments(name, spec, words, place)
    operands = given.operands
    if len(operands) > (0 if row.operands == "none" else row.most):
        raise Refused(f"{name}: too many operands.", "The second one may be a file to write.")
    deep = given.has("-r", "--recursive")
    for operand in operands:
        _check_operand(operand, row, given, place)
        if name == "diff":  # it prints the files of two folders even without -r
            check_below(place, operand, lambda below: deep or "/" not in below)
    if row.bare:
        return CheckedCommand(program, ("--", *operands))
    written = [*row.forced, *given.words(spec)]
    if not row.dashed:
        plain = (f"./{one}" if one.startswith("-") and one != "-" else one for one in operands)
        return CheckedCommand(program, (*written, *plain))
    return CheckedCommand(program, (*written, "--", *operands))


def _check_operand(
    operand: str, row: Program, given: ProgramArguments, place: WorkingDirectory
) -> None:
    if row.expands and operand.startswith("@"):
        why = f"{visible(operand)} would expand to the words of a file, which are not checked."
        raise Refused(why, f"Write {visible('./' + operand)} for a file of that name.")
    if operand == "-" or row.operands in {"text", "none"}:
        return
    if row.operands == "listed" and given.has(*_ITSELF) and not given.has(*_TARGET):
        place.check_name(operand)
    elif row.operands == "listed":
        place.resolve(operand)
    elif row.operands == "paths" or given.has(*_FOLLOWING):
        place.check(operand)
    else:
        place.check_name(operand)


# --- small programs with special arguments --------------------------------------------------

DATE: Final = option_spec(PROGRAMS["special"]["date"])
DF: Final = option_spec(PROGRAMS["special"]["df"])

_PAIRS: Final = names("-nt -ot -ef")
_LINKS: Final = names("-h -L")
_TESTS: Final = _PAIRS | _LINKS | names("-b -c -d -e -f -g -G -k -N -O -p -r -s -S -u -w -x")
_OTHERS: Final = names("! ( ) = == != < > -a -o -n -z -t -l -eq -ne -lt -le -gt -ge")
"""The operators of test; everything else is a word or a path."""


def check_echo(name: str, words: Sequence[str], place: WorkingDirectory) -> CheckedCommand:  # noqa: ARG001  # a Checker
    """Check ``echo``: any arguments are printed."""
    return CheckedCommand("echo", tuple(words))


def check_printf(name: str, words: Sequence[str], place: WorkingDirectory) -> CheckedCommand:  # noqa: ARG001  # a Checker
    """Check ``printf``: a format and its arguments."""
    given = list(words[1:] if words[:1] == ["--"] else words)
    if not given or given[0].startswith("-"):
        raise Refused("printf: a format is missing.", "Write printf -- '-…' for one with a dash.")
    return CheckedCommand("printf", ("--", *given))


def check_date(name: str, words: Sequence[str], place: WorkingDirectory) -> CheckedCommand:
    """Check ``date``: it prints a time, and must not set the clock."""
    given = read_arguments(name, DATE, words, place)
    if len(given.operands) > 1 or any(not one.startswith("+") for one in given.operands):
        raise NeedsApproval("date with an operand other than +FORMAT sets the clock.", "execute")
    return CheckedCommand("date", (*given.words(DATE), "--", *given.operands))


def check_test(name: str, words: Sequence[str], place: WorkingDirectory) -> CheckedCommand:
    """Check ``test`` and ``[``: any word may be a path."""
    given = list(words)
    if name == "[":
        if given[-1:] != ["]"]:
            raise Refused("[: the closing ] is missing.")
        given.pop()
    if not _TESTS.isdisjoint(given):
        for before, word, after in zip(["", *given], given, [*given[1:], ""], strict=False):
            # An operator may also be the name of a file in this directory: [ -e -x ].
            if not word or (word in _TESTS | _OTHERS and not place.has_entry(word)):
                continue
            if before in _LINKS and after not in _PAIRS:
                place.check_name(word)
            else:
                place.resolve(word)
    return CheckedCommand("test", tuple(given))


def check_which(name: str, words: Sequence[str], place: WorkingDirectory) -> CheckedCommand:  # noqa: ARG001  # a Checker
    """Check ``which`` and ``whereis``: the answer comes from the list of the terminal."""
    found = [path for word in words if (path := find_binary(word.removeprefix("-a")))]
    if not found:
        return CheckedCommand("false", ())
    return CheckedCommand("printf", ("--", "%s\n", *found))


def check_df(name: str, words: Sequence[str], place: WorkingDirectory) -> CheckedCommand:
    """Check ``df``: it is replaced by ``stat -f``, which needs no list of mounts."""
    given = read_arguments(name, DF, words, place)
    for path in given.operands:
        place.check(path)
    return CheckedCommand("stat", ("-f", "--", *(given.operands or (".",))))


# --- all of them ---------------------------------------------------------------------------

SPECIAL: Final[dict[str, Checker]] = {
    "[": check_test,
    "awk": scripts.check_awk,
    "date": check_date,
    "df": check_df,
    "echo": check_echo,
    "egrep": searching.check_grep,
    "fgrep": searching.check_grep,
    "find": lambda name, words, place: searching.check_find(name, words, place, check_command),
    "git": check_git,
    "grep": searching.check_grep,
    "jq": scripts.check_jq,
    "printf": check_printf,
    "rg": searching.check_rg,
    "sed": scripts.check_sed,
    "test": check_test,
    "whereis": check_which,
    "which": check_which,
    "xargs": lambda name, words, place: searching.check_xargs(name, words, place, check_command),
}

HELPING: Final = {
    **{name: name for name in ("find", "grep", "rg", "sed")},
    **dict.fromkeys(("egrep", "fgrep"), "grep"),
}
"""Programs without a row that accept ``--help``, with the program to run."""

WRITERS, NETWORK = (names(PROGRAMS["words"][kind]) for kind in ("writers", "network"))

PROGRAM_NAMES: Final = tuple(sorted({*SPECIAL, *TABLE, "cd"} - {"["}))
"""The names of all read-only programs."""


def check_command(name: str, words: Sequence[str], place: WorkingDirectory) -> CheckedCommand:
    """
    Check one command.

    Args:
        name: The program as written: a name, or its path in a system directory.
        words: The arguments.
        place: The working directory.

    Raises:
        NeedsApproval: It does more than read the workspace, or is unknown.
        Refused: It is invalid, or can never be approved.
    """
    if "/" in name and posixpath.dirname(name) in FOLDERS:
        name = posixpath.basename(name)
    if list(words) in (["--help"], ["--version"]) and (name in TABLE or name in HELPING):
        return CheckedCommand(HELPING.get(name) or TABLE[name].runs or name, tuple(words))
    if name in SPECIAL:
        return SPECIAL[name](name, words, place)
    if name in TABLE:
        return _check_row(name, words, place)
    if name in NETWORK:
        raise Refused(f"{name} is refused.", "The terminal has no network.")
    if name in WRITERS:
        raise NeedsApproval(f"{name} changes files.", "write")
    near = suggest_name(name, PROGRAM_NAMES) if name.isascii() else ""
    why = f"{visible(name, 60)} is not a known read-only program. {near}"
    raise NeedsApproval(why.rstrip(), "execute")
