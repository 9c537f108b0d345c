"""What a checker returns: the arguments to run a program with, and what it needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from foldline.tools.terminal.paths import Place


@dataclass(frozen=True, slots=True)
class Checked:
    """
    A command that only reads the workspace.

    ``program`` is a name of our own list, never a path of the model's; ``forks`` says whether it
    starts other programs, ``opaque`` whether what it reads is decided by what it finds, so that
    only the kernel can confine it.
    """

    program: str
    arguments: tuple[str, ...]
    forks: bool = False
    opaque: bool = False


Checker: TypeAlias = Callable[[str, Sequence[str], Place], Checked]
"""Takes the name that was written, the arguments and the place; raises when it goes beyond."""


def names(line: str) -> frozenset[str]:
    """Return the words of a line as a set: a list of names that is easy to read."""
    return frozenset(line.split())


NAMING: Final = names("basename dirname du echo file ls readlink realpath stat wc")
"""What tells of files without showing what they hold."""


def shows(program: str) -> bool:
    """Return True if a program that reads its operands shows what they hold."""
    return program not in NAMING
