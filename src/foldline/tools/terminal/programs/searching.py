"""Programs that search files or run others on the results: grep, ripgrep, find and xargs."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final

from foldline.tools.terminal.paths import (
    WorkingDirectory,
    check_below,
    check_workspace,
    locate_binary,
)
from foldline.tools.terminal.programs.options import (
    PROGRAMS,
    CheckedCommand,
    Checker,
    OptionSpec,
    ProgramArguments,
    names,
    option_spec,
    read_arguments,
)
from foldline.tools.terminal.refusal import NeedsApproval, Refused, visible

GREP: Final = option_spec(PROGRAMS["special"]["grep"])
RG: Final = option_spec(PROGRAMS["special"]["rg"])


def check_grep(name: str, words: Sequence[str], place: WorkingDirectory) -> CheckedCommand:
    """Check ``grep``, ``egrep`` and ``fgrep``: a pattern, then paths."""
    forced = {"egrep": ("-E",), "fgrep": ("-F",)}.get(name, ())
    return _search("grep", forced, GREP, words, place)


def check_rg(name: str, words: Sequence[str], place: WorkingDirectory) -> CheckedCommand:
    """Check ``rg``: a pattern, then paths; its configuration is disabled."""
    return _search(name, ("--no-config", "--no-ignore-parent", "--color=never"), RG, words, place)


def _search(
    name: str,
    forced: Sequence[str],
    spec: OptionSpec,
    words: Sequence[str],
    place: WorkingDirectory,
) -> CheckedCommand:
    given = read_arguments(name, spec, words, place)
    patterns = 0 if given.has("-e", "--regexp", "--files", "--type-list") else 1
    if len(given.operands) < patterns:
        raise Refused(f"{name}: a pattern is missing.")
    paths = [path for path in given.operands[patterns:] if path != "-"]
    recurses = any(one.startswith("rec") for one in given.values("-d", "--directories"))
    whole = name == "rg" or given.has("-r", "--recursive") or recurses
    for path in paths:
        place.check(path)
    if whole and not given.has("--files", "--type-list"):
        for path in paths or ["."]:
            check_below(place, path, lambda below: _is_searched(name, given, below))
    return CheckedCommand(name, (*forced, *given.words(spec), "--", *given.operands))


def _is_searched(name: str, given: ProgramArguments, below: str) -> bool:
    """Return False if the options exclude a file; if in doubt, it counts as searched."""
    parts = below.split("/")
    if name == "rg":
        every = given.has("--hidden", "-.", "-u", "--unrestricted", "-g", "--glob", "--iglob")
        return every or not any(part.startswith(".") for part in parts)
    excluded = given.values("--exclude-dir")
    if any(_surely_fits(folder, glob) for folder in parts[:-1] for glob in excluded):
        return False
    # The last match decides; unmatched files are searched unless the first option is --include.
    filters = [one for one in given.options if one[0] in {"--include", "--exclude"}]
    searched = not filters or filters[0][0] != "--include"
    for option, glob in filters:
        if option == "--include":
            searched = searched or _may_fit(parts[-1], glob or "")
        elif _surely_fits(parts[-1], glob or ""):
            searched = False
    return searched


def _may_fit(name: str, glob: str) -> bool:
    return _is_doubtful(name, glob) or fnmatchcase(name, glob)


def _surely_fits(name: str, glob: str) -> bool:
    return fnmatchcase(name, glob) and not _is_doubtful(name, glob)


def _is_doubtful(name: str, glob: str) -> bool:
    """Return True if a program may match a glob differently from `fnmatchcase`."""
    # Brackets and backslashes differ; ? may match a single byte of a character.
    return any(sign in glob for sign in "[\\/") or ("?" in glob and not name.isascii())


PLAIN, VALUED, PATHS = (names(PROGRAMS["find"][kind]) for kind in ("plain", "valued", "paths"))
"""Predicates without a value, with a word that is not a path, and with a path."""

MOMENTS: Final = frozenset(f"-newer{x}{y}" for x in "aBcm" for y in "aBcmt")
"""``-newerXY`` takes a path, or a time if it ends in t."""

WRITING: Final = names("-delete -fprint -fprint0 -fprintf -fls")
"""Predicates that write; other unknown ones may run a program."""

NAMING: Final = names("basename dirname du echo file ls readlink realpath stat wc")
"""Programs that print facts about files, but not their content."""


def check_find(
    name: str, words: Sequence[str], place: WorkingDirectory, check: Checker
) -> CheckedCommand:
    """
    Check ``find``.

    Args:
        name: The name of the program.
        words: The arguments.
        place: The working directory.
        check: Checks any command, such as that of ``-exec``.

    Raises:
        NeedsApproval: A predicate writes, runs a program, follows links, or is unknown.
    """
    left = list(reversed(words[1:] if words[:1] == ["-P"] else words))
    starts: list[str] = []
    while left and left[-1] not in {"(", ")", "!", ","} and not left[-1].startswith("-"):
        starts.append(left.pop())
    for start in starts:
        place.resolve(start)
    found = _Expression(name, place, check)
    while left:
        found.take(left.pop(), left)
    if found.shows:
        for start in starts or ["."]:
            check_below(place, start, found.takes)
    return CheckedCommand(name, ("-P", *(starts or ["."]), *found.out), found.runs, found.runs)


class _Expression:
    def __init__(self, name: str, place: WorkingDirectory, check: Checker) -> None:
        self.name, self.place, self.check = name, place, check
        self.out: list[str] = []
        self.globs: list[str] = []
        self.runs = self.shows = False

    def take(self, word: str, left: list[str]) -> None:
        if word in PLAIN:
            self.out.append(word)
        elif word in VALUED | PATHS | MOMENTS:
            if not left:
                raise Refused(f"{self.name}: the value of {word} is missing.")
            value = left.pop()
            if word in PATHS or (word in MOMENTS and not word.endswith("t")):
                self.place.check(value)
            if word == "-name" and not self.shows:  # after -exec it has no effect
                self.globs.append(value)
            self.out += [word, value]
        elif word == "-exec":
            self._exec(left)
        else:
            why = f"{self.name} with {visible(word)} is not known to be safe."
            raise NeedsApproval(why, "write" if word in WRITING else "execute")

    def _exec(self, left: list[str]) -> None:
        words: list[str] = []
        while left and not (left[-1] == ";" or (left[-1] == "+" and words[-1:] == ["{}"])):
            words.append(left.pop())
        end = left.pop() if left else ""
        body = words[:-1] if end == "+" else words
        if not end or not body:
            raise Refused(f"{self.name}: -exec needs a program, and \\; or {{}} + at its end.")
        checked = check_inner(body, self.place, self.check, f"{self.name} -exec")
        tail = ("{}", "+") if end == "+" else (";",)
        self.out += ["-exec", locate_binary(checked.program), *checked.arguments, *tail]
        self.runs = True
        if body[0] not in NAMING:
            self.shows = True
            others = any("{}" in word and word != "{}" for word in body)
            if others or _recurses(checked.arguments):
                check_workspace(self.place)

    def takes(self, below: str) -> bool:
        """Return False if the expression excludes a file by its name; if in doubt, True."""
        if {"!", "-not", "-o", "-or", ","} & {*self.out}:
            return True
        name = posixpath.basename(below)
        return all(_may_fit(name, glob) for glob in self.globs)


def _recurses(arguments: Sequence[str]) -> bool:
    """Return True if the arguments of a checked program may make it read folders recursively."""
    return any(
        word in {"-r", "-d"} or word.startswith(("--recursive", "--directories"))
        for word in arguments
    )


XARGS: Final = option_spec(PROGRAMS["special"]["xargs"])

READERS: Final = names(PROGRAMS["words"]["readers"])
"""What is safe with any operands: it reads them, and no operand is one to write."""

REPLACED: Final = re.compile(r"\{\}|[%@]|[A-Z]{2,20}")
"""Allowed placeholders: they never occur in the path of a program, which is replaced, too."""


def check_inner(
    words: Sequence[str], place: WorkingDirectory, check: Checker, by: str
) -> CheckedCommand:
    """
    Check a command that gets operands unknown in advance.

    Args:
        words: The command.
        place: The working directory.
        check: Checks any command.
        by: The program that runs it, for errors.

    Raises:
        NeedsApproval: The command does more than read its operands.
    """
    name, *rest = words
    if name not in READERS:
        why = f"{by} runs only programs that read their operands, not {visible(name)}."
        raise NeedsApproval(why, "execute")
    return check(name, rest, place)


def check_xargs(
    name: str, words: Sequence[str], place: WorkingDirectory, check: Checker
) -> CheckedCommand:
    """Check ``xargs`` and what it runs."""
    given = read_arguments(name, XARGS, words, place, mixed=False)
    for sign in given.values("-I", "-i", "--replace"):
        if sign and not REPLACED.fullmatch(sign):
            raise Refused(f"{name}: use {{}} as the placeholder, not {visible(sign)}.")
    if given.operands and given.operands[0] not in NAMING:
        check_workspace(place)
    checked = check_inner(given.operands or ("echo",), place, check, name)
    out = (*given.words(XARGS), "--", locate_binary(checked.program), *checked.arguments)
    return CheckedCommand(name, out, forks=True, opaque=True)
