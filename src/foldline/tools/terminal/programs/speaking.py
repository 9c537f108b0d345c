"""Small programs with arguments of their own: echo, printf, date, test, which, df."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from foldline.tools.terminal.paths import WorkingDirectory, find_binary
from foldline.tools.terminal.programs.options import (
    CheckedCommand,
    names,
    option_spec,
    read_arguments,
)
from foldline.tools.terminal.refusal import Beyond, Refused

_DATE: Final = option_spec(
    "-uR -d=text -I=word? --date=text --utc --universal --iso-8601=word? --rfc-email "
    "--rfc-3339=word"
)

_DF: Final = option_spec("-hHkmTPia -B=word --human-readable --si")

_PAIRS: Final = names("-nt -ot -ef")
_LINKS: Final = names("-h -L")
_TESTS: Final = _PAIRS | _LINKS | names("-b -c -d -e -f -g -G -k -N -O -p -r -s -S -u -w -x")
_OTHERS: Final = names("! ( ) = == != < > -a -o -n -z -t -l -eq -ne -lt -le -gt -ge")
"""What a test is made of; what is not among these is a word or a path."""


def check_echo(name: str, words: Sequence[str], place: WorkingDirectory) -> CheckedCommand:  # noqa: ARG001  # a Checker
    """Check ``echo``: whatever follows is said."""
    return CheckedCommand("echo", tuple(words))


def check_printf(name: str, words: Sequence[str], place: WorkingDirectory) -> CheckedCommand:  # noqa: ARG001  # a Checker
    """Check ``printf``: a format, and what it shows."""
    given = list(words[1:] if words[:1] == ["--"] else words)
    if not given or given[0].startswith("-"):
        raise Refused("printf: a format is missing.", "Write printf -- '-…' for one with a dash.")
    return CheckedCommand("printf", ("--", *given))


def check_date(name: str, words: Sequence[str], place: WorkingDirectory) -> CheckedCommand:
    """Check ``date``: it shows a moment, and sets nothing."""
    given = read_arguments(name, _DATE, words, place)
    if len(given.operands) > 1 or any(not one.startswith("+") for one in given.operands):
        raise Beyond("date with an operand that is no +FORMAT sets the clock.", "execute")
    return CheckedCommand("date", (*given.words(_DATE), "--", *given.operands))


def check_test(name: str, words: Sequence[str], place: WorkingDirectory) -> CheckedCommand:
    """Check ``test`` and ``[``: where files are tested, every word may be a path."""
    given = list(words)
    if name == "[":
        if given[-1:] != ["]"]:
            raise Refused("[: the closing ] is missing.")
        given.pop()
    if not _TESTS.isdisjoint(given):
        for before, word, after in zip(["", *given], given, [*given[1:], ""], strict=False):
            # What looks like a test is a file where one is tested: [ -e -x ]. It lies here.
            if not word or (word in _TESTS | _OTHERS and not place.has_entry(word)):
                continue
            if before in _LINKS and after not in _PAIRS:
                place.check_name(word)
            else:
                place.resolve(word)
    return CheckedCommand("test", tuple(given))


def check_which(name: str, words: Sequence[str], place: WorkingDirectory) -> CheckedCommand:  # noqa: ARG001  # a Checker
    """Check ``which`` and ``whereis``: they are answered from the terminal's own list."""
    found = [path for word in words if (path := find_binary(word.removeprefix("-a")))]
    return (
        CheckedCommand("printf", ("--", "%s\n", *found)) if found else CheckedCommand("false", ())
    )


def check_df(name: str, words: Sequence[str], place: WorkingDirectory) -> CheckedCommand:
    """Check ``df``: what it says is said by ``stat -f``, which needs no list of mounts."""
    given = read_arguments(name, _DF, words, place)
    for path in given.operands:
        place.check(path)
    return CheckedCommand("stat", ("-f", "--", *(given.operands or (".",))))
