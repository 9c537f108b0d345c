"""Programs that read no file: echo, printf, date, test, which, df."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from foldline.tools.terminal.binaries import find_binary
from foldline.tools.terminal.paths import Place
from foldline.tools.terminal.programs.checked import Checked, names
from foldline.tools.terminal.programs.options import options, read
from foldline.tools.terminal.refusal import Beyond, Refused

_DATE: Final = options(
    "-uR -d=text -I=word? --date=text --utc --universal --iso-8601=word? --rfc-email "
    "--rfc-3339=word"
)

_DF: Final = options("-hHkmTPia -B=word --human-readable --si")

_TESTS: Final = names("-b -c -d -e -f -g -h -k -L -O -p -r -s -S -u -w -x -nt -ot -ef")


def check_echo(name: str, words: Sequence[str], place: Place) -> Checked:  # noqa: ARG001  # a Checker
    """Check ``echo``: whatever follows is said."""
    return Checked("echo", tuple(words))


def check_printf(name: str, words: Sequence[str], place: Place) -> Checked:  # noqa: ARG001  # a Checker
    """Check ``printf``: a format, and what it shows."""
    given = list(words[1:] if words[:1] == ["--"] else words)
    if not given or given[0].startswith("-"):
        raise Refused("printf: a format is missing.", "Write printf -- '-…' for one with a dash.")
    return Checked("printf", ("--", *given))


def check_date(name: str, words: Sequence[str], place: Place) -> Checked:
    """Check ``date``: it shows a moment, and sets nothing."""
    given = read(name, _DATE, words, place)
    if len(given.operands) > 1 or any(not one.startswith("+") for one in given.operands):
        raise Beyond("date with an operand that is no +FORMAT sets the clock.", "execute")
    return Checked("date", (*given.words(_DATE), "--", *given.operands))


def check_test(name: str, words: Sequence[str], place: Place) -> Checked:
    """Check ``test`` and ``[``: every word that stands by a test of files is a path."""
    given = list(words)
    if name == "[":
        if given[-1:] != ["]"]:
            raise Refused("[: the closing ] is missing.")
        given.pop()
    for index, word in enumerate(given):
        if word in _TESTS:
            near = [*given[max(0, index - 1) : index], *given[index + 1 : index + 2]]
            for path in near:
                if path and not path.startswith("-") and path not in {"!", "(", ")"}:
                    place.check_name(path) if word in {"-h", "-L"} else place.resolved(path)
    return Checked("test", tuple(given))


def check_which(name: str, words: Sequence[str], place: Place) -> Checked:  # noqa: ARG001  # a Checker
    """Check ``which`` and ``whereis``: they are answered from the terminal's own list."""
    found = [path for word in words if (path := find_binary(word.removeprefix("-a")))]
    return Checked("printf", ("--", "%s\n", *found)) if found else Checked("false", ())


def check_df(name: str, words: Sequence[str], place: Place) -> Checked:
    """Check ``df``: what it says is said by ``stat -f``, which needs no list of mounts."""
    given = read(name, _DF, words, place)
    for path in given.operands:
        place.check(path)
    return Checked("stat", ("-f", "--", *(given.operands or (".",))))
