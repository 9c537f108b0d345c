"""
Find: its expressions by name.

What is not in the list of predicates goes beyond it. ``-exec`` runs what xargs may run.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import Final

from foldline.tools.terminal.binaries import located
from foldline.tools.terminal.paths import Place
from foldline.tools.terminal.programs.checked import Checked, names, shows
from foldline.tools.terminal.refusal import Beyond, Refused, Risk, visible
from foldline.tools.terminal.secrets import check_below

PLAIN: Final = names(
    "( ) ! , -a -and -o -or -not -true -false -empty -executable -readable -writable -nouser "
    "-nogroup -print -print0 -ls -prune -quit -depth -d -mount -xdev -noleaf -daystart "
    "-ignore_readdir_race -noignore_readdir_race -nowarn -warn"
)
"""What takes nothing."""

VALUED: Final = names(
    "-name -iname -path -ipath -wholename -iwholename -lname -ilname -regex -iregex -regextype "
    "-type -size -mtime -mmin -atime -amin -ctime -cmin -perm -user -group -uid -gid -links -inum "
    "-maxdepth -mindepth -printf -used"
)
"""What takes one word that is no path."""

PATHS: Final = names("-newer -anewer -cnewer -samefile")
MOMENTS: Final = frozenset(f"-newer{x}{y}" for x in "aBcm" for y in "aBcmt")
"""``-newerXY`` takes a path, or a moment where it ends in t."""

RISKS: Final[dict[str, Risk]] = {
    "-delete": "write",
    "-fprint": "write",
    "-fprint0": "write",
    "-fprintf": "write",
    "-fls": "write",
    "-execdir": "execute",
    "-ok": "execute",
    "-okdir": "execute",
}

Inner = Callable[[Sequence[str], Place], Checked]


def check_find(name: str, words: Sequence[str], place: Place, inner: Inner) -> Checked:
    """
    Check ``find``.

    Args:
        name: What was written.
        words: The arguments.
        place: Where paths are looked up.
        inner: Checks the command of ``-exec``.

    Raises:
        Beyond: A predicate writes, runs, follows links, or is not known.
    """
    if list(words) in (["--help"], ["--version"]):
        return Checked(name, tuple(words))
    left = list(reversed(words[1:] if words[:1] == ["-P"] else words))
    starts: list[str] = []
    while left and left[-1] not in {"(", ")", "!", ","} and not left[-1].startswith("-"):
        starts.append(left.pop())
    for start in starts:
        place.resolved(start)
    found = _Expression(name, place, inner)
    while left:
        found.take(left.pop(), left)
    if found.shows:
        for start in starts or ["."]:
            check_below(place, start, found.takes)
    return Checked(name, ("-P", *(starts or ["."]), *found.out), found.runs, found.runs)


class _Expression:
    def __init__(self, name: str, place: Place, inner: Inner) -> None:
        self.name, self.place, self.inner = name, place, inner
        self.out: list[str] = []
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
            self.out += [word, value]
        elif word == "-exec":
            self._exec(left)
        else:
            raise Beyond(
                f"{self.name} with {visible(word)} is more than this terminal knows to be safe.",
                RISKS.get(word, "execute"),
            )

    def _exec(self, left: list[str]) -> None:
        words: list[str] = []
        while left and not (left[-1] == ";" or (left[-1] == "+" and words[-1:] == ["{}"])):
            words.append(left.pop())
        if not left or not words:
            raise Refused(f"{self.name}: -exec is not ended by \\; or {{}} +.")
        end = left.pop()
        body = words[:-1] if end == "+" else words
        checked = self.inner(body, self.place)
        tail = ("{}", "+") if end == "+" else (";",)
        self.out += ["-exec", located(checked.program), *checked.arguments, *tail]
        self.runs = True
        self.shows = self.shows or shows(body[0])

    def takes(self, below: str) -> bool:
        """Return False if the expression leaves a file out by its name; in doubt it is taken."""
        if {"!", "-not", "-o", "-or", ","} & {*self.out}:
            return True
        name = posixpath.basename(below)
        pairs = zip(self.out, self.out[1:], strict=False)
        return all(fnmatchcase(name, value) for word, value in pairs if word == "-name")
