"""
Programs with their own language: sed, awk and jq.

Scripts are not analyzed. Sed gets ``--sandbox`` and itself refuses to run, read or write anything;
the kernel prevents awk from starting a program or writing. Here a script is only searched for
commands that access files or programs, so that a person can approve them instead of the script
failing, and for commands that print another file of the workspace.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from foldline.tools.terminal.paths import WorkingDirectory, find_binary
from foldline.tools.terminal.programs.options import (
    PROGRAMS,
    CheckedCommand,
    names,
    option_spec,
    read_arguments,
)
from foldline.tools.terminal.refusal import NeedsApproval, Refused, Risk, visible

# --- sed -----------------------------------------------------------------------------------

SED: Final = option_spec(PROGRAMS["special"]["sed"])

SED_RISKS: Final[dict[str, Risk]] = {"e": "execute", "r": "outside", "w": "write"}

_SED_REACHES: Final = re.compile(
    r"(?:^[ \t]*|[^\w\s:-][gpiImM0-9]*|[;{}\n!$0-9][ \t]+|[0-9])([rRwWe])(?=[\s;}]|$)"
)
"""A command, or a flag of ``s``, with external access; sed refuses any that is missed."""


def check_sed(name: str, words: Sequence[str], place: WorkingDirectory) -> CheckedCommand:
    """
    Check ``sed`` with scripts in its arguments.

    Raises:
        NeedsApproval: It edits in place, reads a script file, or a command has external access.
    """
    given = read_arguments(name, SED, words, place)
    scripts = given.values("-e", "--expression")
    operands = list(given.operands)
    if not scripts:
        if not operands:
            raise Refused(f"{name}: a script is missing.")
        scripts = [operands.pop(0)]
    for script in scripts:
        if found := _SED_REACHES.search(script):
            risk = SED_RISKS[found[1].lower()]
            raise NeedsApproval(f"sed: {found[1]!r} in the script may run or access files.", risk)
    for path in operands:
        if path != "-":
            place.check(path)
    return CheckedCommand(name, ("--sandbox", *given.words(SED), "--", *given.operands))


# --- awk -----------------------------------------------------------------------------------

AWK: Final = option_spec(PROGRAMS["special"]["awk"])

AWK_NAMES: Final = re.compile(
    r"\b(getline|ENVIRON|ARGV|ARGC|PROCINFO|SYMTAB|FUNCTAB)\b|\bsystem[\s\\]*\("
)
"""Matched anywhere, also in strings: a string for one awk may be code for another."""

AWK_OPERAND: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=", re.ASCII)

_AWK_TEXT: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"?')
_AWK_REGEX: Final = re.compile(r"(^|[(,{;!~&|\n}])([ \t]*)/(?:[^/\\\n]|\\.)*/?")
_AWK_REACHES: Final = re.compile(r"@|>>|(?<!\|)\|(?!\|)")


def check_awk(name: str, words: Sequence[str], place: WorkingDirectory) -> CheckedCommand:
    """
    Check ``awk`` with a program in its arguments.

    Raises:
        NeedsApproval: The program seems to have external access, or comes from a file.
    """
    if list(words) in (["--version"], ["-W", "version"]):
        return CheckedCommand(name, tuple(words))
    given = read_arguments(name, AWK, words, place, mixed=False)
    if not given.operands:
        raise Refused(f"{name}: a program is missing.")
    program, *operands = given.operands
    if sign := _reaching(program):
        why = f"awk: {sign!r} could run a command, or read or write a file."
        raise NeedsApproval(why, "execute")
    for operand in operands:
        if operand != "-" and not AWK_OPERAND.match(operand):
            place.check(operand)
    # With one of these characters only the kernel can confine the program.
    opaque = re.search(r"[|>@]", program) is not None
    # Some versions of awk have their own sandbox.
    path = find_binary("awk")
    is_gnu = path is not None and Path(path).resolve().name == "gawk"
    sandbox = ("--sandbox",) if is_gnu else ()
    arguments = (*sandbox, *given.words(AWK), "--", program, *operands)
    return CheckedCommand(name, arguments, opaque=opaque)


def _reaching(program: str) -> str:
    """Return the part of a program that seems to have external access, "" if none does."""
    if found := AWK_NAMES.search(program):
        return found[0].strip()
    plain = _AWK_REGEX.sub(r"\1\2 0 ", _AWK_TEXT.sub(" 0 ", program))
    if found := _AWK_REACHES.search(plain):
        return found[0]
    plain = re.sub(r"\([^()\n]*\)", "", plain)  # comparisons in parentheses are not redirections
    for statement in re.split(r"[;{}]", plain):
        _, printing, rest = statement.partition("print")
        if printing and ">" in rest:
            return ">"
    return ""


# --- jq ------------------------------------------------------------------------------------

JQ_FLAGS: Final = names(PROGRAMS["words"]["jq_flags"])
JQ_LETTERS: Final = frozenset("nrRacCMSsje")

JQ_LOADING: Final = re.compile(r"(?<![.\w\"$-])(import|include|modulemeta|get_search_list)\b")


def check_jq(name: str, words: Sequence[str], place: WorkingDirectory) -> CheckedCommand:
    """
    Check ``jq``.

    Raises:
        NeedsApproval: An option or the filter reads another file.
    """
    out: list[str] = []
    operands: list[str] = []
    left = list(reversed(words))
    while left:
        word = left.pop()
        if word in {"--arg", "--argjson"}:
            if len(left) < 2:
                raise Refused(f"{name}: {word} takes a name and a value.")
            out += [word, left.pop(), left.pop()]
        elif word == "--indent" and left and re.fullmatch("[0-7]", left[-1]):
            out += [word, left.pop()]
        elif word in JQ_FLAGS or (re.fullmatch(r"-[A-Za-z]+", word) and {*word[1:]} <= JQ_LETTERS):
            out.append(word)
        elif word.startswith("-") and word != "-":
            why = f"{name} with {visible(word)} is not known to be safe."
            raise NeedsApproval(why, "outside")
        else:
            operands.append(word)
    if not operands and not {"--help", "--version"} & {*out}:
        raise Refused(f"{name}: a filter is missing.")
    if operands and JQ_LOADING.search(operands[0]):
        raise NeedsApproval(f"{name}: the filter loads another file.", "outside")
    for path in operands[1:]:
        place.check(path)
    return CheckedCommand(name, (*out, *operands))
