"""
Option specs of programs as one line of text, and a parser of arguments.

    -nrv            flags without a value, each on its own or bundled
    -k=text         an option with a value
    --sort=word     the same, long; --color=word? where the value is optional
    --reverse       a long flag
    -NUM=n          ``-5`` means ``-n 5``
    @sum            what stands for it in ``[shared]`` of ``programs.toml``

Options that are not in the line require an approval. Long options are never abbreviated. Parsed
arguments are written in a canonical form, options first, then ``--``, so that the program cannot
parse them differently.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeAlias

from foldline.frozen import frozen
from foldline.tools.description import read_tables
from foldline.tools.terminal.paths import WorkingDirectory
from foldline.tools.terminal.refusal import NeedsApproval, Refused, visible

PROGRAMS: Final[Mapping[str, Any]] = read_tables(
    "foldline.tools.terminal.programs", "programs.toml"
)
"""The known options of every program; all others require an approval."""


@frozen
class CheckedCommand:
    """
    A command that only reads the workspace.

    ``program`` is a name from the list of programs, never a path written by the model. ``forks``
    is True if it starts other programs, ``opaque`` if the files it reads depend on the data, so
    that only the kernel can confine it.
    """

    program: str
    arguments: tuple[str, ...]
    forks: bool = False
    opaque: bool = False


Checker: TypeAlias = Callable[[str, Sequence[str], WorkingDirectory], CheckedCommand]
"""Checks a name, arguments and a working directory; raises if an approval is required."""


def names(line: str) -> frozenset[str]:
    """Split a line into a set of names."""
    return frozenset(line.split())


_COUNT: Final = re.compile(r"[+-]?[0-9]{1,18}([kKMGTPEZYbB]|[kKMGTPEZY]i?B)?")
_WORD: Final = re.compile(r"[\w.,:+%^-]*")


def _path(value: str, place: WorkingDirectory) -> bool:
    place.check(value)
    return True


KINDS: Final[Mapping[str, Callable[[str, WorkingDirectory], bool]]] = {
    "text": lambda *_: True,
    "count": lambda value, _: _COUNT.fullmatch(value) is not None,
    "word": lambda value, _: _WORD.fullmatch(value) is not None,
    "path": _path,
}
"""Kinds of values: anything, a number with a unit, plain words, a path in the workspace."""


@frozen
class OptionSpec:
    """The options of a program, each with the kind of its value, None for a flag."""

    known: Mapping[str, str | None]
    optional: frozenset[str] = frozenset()
    number: str = ""


@frozen
class ProgramArguments:
    """
    The arguments of a program: options with their values in order, and operands.

    ``dashed`` is the number of operands before ``--``, None without ``--``.
    """

    options: tuple[tuple[str, str | None], ...]
    operands: tuple[str, ...]
    dashed: int | None = None

    def has(self, *names: str) -> bool:
        """Return True if one of these options was given."""
        return any(name in names for name, _ in self.options)

    def values(self, *names: str) -> list[str]:
        """Return the values of these options, in order."""
        return [value or "" for name, value in self.options if name in names]

    def words(self, spec: OptionSpec) -> list[str]:
        """Format the options as words, in canonical form."""
        out: list[str] = []
        for name, value in self.options:
            if value is None:
                out.append(name)
            elif name.startswith("--"):
                out.append(f"{name}={value}")
            elif name in spec.optional:
                out.append(name + value)
            else:
                out += [name, value]
        return out


@cache
def option_spec(line: str) -> OptionSpec:
    """Parse a line that describes options; see above."""
    known: dict[str, str | None] = {}
    optional: set[str] = set()
    number = ""
    shared = PROGRAMS["shared"]
    for item in re.sub(r"@(\w+)", lambda found: shared[found[1]], line).split():
        name, sign, kind = item.partition("=")
        if name == "-NUM":
            number = kind
        elif sign:
            known[name] = kind.rstrip("?")
            optional.update({name} if kind.endswith("?") else ())
        elif name.startswith("--"):
            known[name] = None
        else:
            known.update({f"-{letter}": None for letter in name[1:]})
    unknown = {kind for kind in known.values() if kind not in {None, *KINDS}}
    if unknown:
        raise ValueError(f"no such kind of value: {unknown}")
    return OptionSpec(known, frozenset(optional), number)


def read_arguments(
    name: str,
    spec: OptionSpec,
    words: Sequence[str],
    place: WorkingDirectory,
    *,
    mixed: bool = True,
) -> ProgramArguments:
    """
    Parse the arguments of a program.

    Args:
        name: The name of the program in errors.
        spec: The options of the program.
        words: The arguments.
        place: The working directory.
        mixed: True if options may follow operands.

    Raises:
        NeedsApproval: An option is not in the spec.
        Refused: A value is missing or invalid.
    """
    return _Reading(name, spec, place).all(words, mixed)


class _Reading:
    def __init__(self, name: str, spec: OptionSpec, place: WorkingDirectory) -> None:
        self.name, self.spec, self.place = name, spec, place
        self.found: list[tuple[str, str | None]] = []

    def all(self, words: Sequence[str], mixed: bool) -> ProgramArguments:
        operands: list[str] = []
        left = list(reversed(words))
        while left:
            word = left.pop()
            if word == "--":
                every = (*operands, *reversed(left))
                return ProgramArguments(tuple(self.found), every, len(operands))
            if word == "-" or not word.startswith("-"):
                operands.append(word)
                if not mixed:
                    operands += reversed(left)
                    break
            elif word.startswith("--"):
                self._long(word, left)
            else:
                self._short(word, left)
        return ProgramArguments(tuple(self.found), tuple(operands))

    def _long(self, word: str, left: list[str]) -> None:
        name, sign, value = word.partition("=")
        kind = self._kind(name)
        if kind is None and sign:
            raise Refused(f"{self.name}: {visible(name)} takes no value.")
        if kind is None:
            self.found.append((name, None))
        else:
            self._add(name, value if sign else None, kind, left)

    def _short(self, word: str, left: list[str]) -> None:
        if self.spec.number and re.fullmatch(r"-[0-9]{1,9}", word):
            plain = self.spec.number == "-"
            self.found.append((word, None) if plain else (f"-{self.spec.number}", word[1:]))
            return
        for index, letter in enumerate(word[1:], 1):
            name = f"-{letter}"
            kind = self._kind(name)
            if kind is None:
                self.found.append((name, None))
                continue
            self._add(name, word[index + 1 :] or None, kind, left)
            return

    def _kind(self, name: str) -> str | None:
        if name not in self.spec.known:
            why = f"{self.name} with {visible(name)} is not known to be safe."
            raise NeedsApproval(why, "write")
        return self.spec.known[name]

    def _add(self, name: str, value: str | None, kind: str, left: list[str]) -> None:
        """Add an option; a value that is not attached is the next word."""
        if value is None and name not in self.spec.optional:
            if not left:
                raise Refused(f"{self.name}: the value of {visible(name)} is missing.")
            value = left.pop()
        if value is not None and not KINDS[kind](value, self.place):
            raise Refused(f"{self.name}: {visible(name)} takes no value {visible(value, 40)}.")
        self.found.append((name, value))
