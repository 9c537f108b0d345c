"""
Awk: a program in its own language, read token by token.

Refused are the parts that reach out: running commands, reading and writing files, the environment,
and the list of operands. Where it is not certain how a slash is read, a program with an operator
that could reach out is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from foldline.tools.terminal.paths import WorkingDirectory, find_binary
from foldline.tools.terminal.programs.options import CheckedCommand, option_spec, read_arguments
from foldline.tools.terminal.refusal import Beyond, Refused

AWK: Final = option_spec("-F=text -v=text")

NAMES: Final = re.compile(
    r"\b(getline|ENVIRON|ARGV|ARGC|PROCINFO|SYMTAB|FUNCTAB)\b|\bsystem[\s\\]*\("
)
"""Wherever these stand, also in a text: what is text to one awk may be code to another."""

OPERAND: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=", re.ASCII)

_TOKEN: Final = re.compile(
    r"""(?P<blank>[ \t\r]+|\\\n)
    |(?P<comment>\#[^\n]*)
    |(?P<end>[\n;{}])
    |(?P<text>"(?:[^"\\\n]|\\.)*")
    |(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<sign>\|\||&&|\+\+|--|>>|[<>=!+\-*%^]=|\*\*=?|\|&|[-+*%^!<>=~?:,()\[\]$|@/])
    |(?P<other>[\s\S])""",
    re.VERBOSE | re.ASCII,
)
_REGEX: Final = re.compile(r"/((?:[^/\\\n\[]|\\[^\n]|\[\^?\]?[^\]/\n]*\])*)/")

VALUE: Final = frozenset({"number", "text", "name", "]"})
"""After one of these a slash divides."""

WORDS: Final = frozenset(
    {"print", "printf", "return", "in", "if", "while", "for", "do", "else", "exit", "delete"}
)
DOUBTFUL: Final = frozenset({")", "++", "--", "length", "$"})
"""After one of these, awks differ about what a slash is."""

REACHING: Final = frozenset({"|", "|&", ">>", "@"})


def check_awk(name: str, words: Sequence[str], place: WorkingDirectory) -> CheckedCommand:
    """
    Check ``awk`` with a program in its arguments.

    Raises:
        Beyond: The program could reach out, or comes from a file.
    """
    if list(words) in (["--version"], ["-W", "version"]):
        return CheckedCommand(name, tuple(words))
    given = read_arguments(name, AWK, words, place, mixed=False)
    if not given.operands:
        raise Refused(f"{name}: a program is missing.")
    program, *operands = given.operands
    check_program(program)
    for operand in operands:
        if operand != "-" and not OPERAND.match(operand):
            place.check(operand)
    return CheckedCommand(name, (*_sandboxed(), *given.words(AWK), "--", program, *operands))


def _sandboxed() -> tuple[str, ...]:
    """Return the option by which an awk that can do so refuses by itself to reach out."""
    path = find_binary("awk")
    is_gnu = path is not None and Path(path).resolve().name == "gawk"
    return ("--sandbox",) if is_gnu else ()


def check_program(program: str) -> None:
    """
    Check the text of an awk program.

    Raises:
        Beyond: It could run a command, or read or write a file.
    """
    if found := NAMES.search(program):
        raise _reaches(found[0])
    if not re.search(r"[|>@]", program):
        return  # however it is taken apart, nothing in it reaches out
    printing = False
    depth = 0
    for kind, sign in _tokens(program):
        if sign in {"print", "printf"} and kind == "name":
            printing, depth = True, 0
        elif sign in {";", "}"}:
            printing = False
        elif sign in {"(", "["}:
            depth += 1
        elif sign in {")", "]"}:
            depth -= 1
        elif sign in REACHING or (sign == ">" and printing and depth <= 0):
            raise _reaches(sign)


def _tokens(program: str) -> Iterator[tuple[str, str]]:
    """Yield kinds and signs; texts and regular expressions are one token each."""
    at, before = 0, "start"
    while at < len(program):
        match = _TOKEN.match(program, at)
        kind, sign = (match.lastgroup or "other", match[0]) if match else ("other", program[at])
        at += len(sign)
        if kind in {"blank", "comment"}:
            continue
        if kind == "other":
            raise Refused("awk: the program has a character or a quote that is not understood.")
        if sign == "/" and not _divides(before):
            regex = _REGEX.match(program, at - 1)
            if regex is None:
                raise Refused("awk: a regular expression is not closed, or is ambiguous.")
            at = regex.end()
            kind, sign = "number", regex[0]
        yield kind, (sign if kind in {"sign", "end", "name"} else "")
        before = _before(kind, sign)


def _before(kind: str, sign: str) -> str:
    if kind == "name":
        return sign if sign in WORDS | DOUBTFUL else "name"
    return sign if kind in {"sign", "end"} else kind


def _divides(before: str) -> bool:
    if before in VALUE:
        return True
    if before in DOUBTFUL:
        raise Beyond("awk: after what stands before it, a slash is ambiguous.", "execute")
    return False


def _reaches(sign: str) -> Beyond:
    return Beyond(
        f"awk: {sign.strip()!r} could run a command, or read or write a file.", "execute"
    )
