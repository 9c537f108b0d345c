"""
Globs, expanded by the terminal itself: inside the workspace, and never through a link.

Every directory is opened below the one before it, without following links, so that one that is
swapped for a link meanwhile is not read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, TypeAlias

from foldline.tools.terminal.language.words import ShellWord
from foldline.tools.terminal.paths import WorkingDirectory
from foldline.tools.terminal.refusal import Refused, unsafe

MOST_HITS: Final = 2_000
MOST_LOOKED_AT: Final = 100_000
"""Bounds of one glob: names that it gives, names that it looks at."""

Set: TypeAlias = tuple[bool, frozenset[str], tuple[tuple[str, str], ...]]
Atom: TypeAlias = str | Set | None
"""A piece of a pattern: a character, "*" as None, "?" as "", or a set of characters."""

ANY: Final = ""
STAR: Final = None


@dataclass(slots=True)
class _Walk:
    hits: list[str]
    seen: int = 0

    def look(self) -> None:
        self.seen += 1
        if self.seen > MOST_LOOKED_AT or len(self.hits) > MOST_HITS:
            raise Refused(
                f"A glob has more than {MOST_HITS:,} hits, or looks at too many names.",
                "Use find, or a narrower pattern.",
            )


def expand_word(word: ShellWord, place: WorkingDirectory) -> list[str]:
    """
    Return what a word stands for: the hits of its globs, sorted, or itself when there are none.

    A hit that begins with ``-`` is written ``./-…``, so that no file name becomes an option. Links
    that leave the workspace are left out.

    Args:
        word: A word of a command.
        place: Where it is looked up.

    Raises:
        Refused: It has too many hits, or would look outside the workspace.
    """
    if not word.has_glob:
        return [word.text]
    parts = _components(word)
    base = 0
    while base < len(parts) - 1 and not _is_pattern(parts[base]):
        base += 1
    prefix = "/".join(_plain(part) for part in parts[:base])
    if any(_plain(part) == ".." for part in parts[base:]):
        raise Refused("A glob does not lead through '..'.")
    start = prefix + "/" if parts[0] == () or prefix else ""
    directory = place.resolve(start or ".")
    walk = _Walk([])
    with _open_directory(place, directory) as number:
        if number is not None:
            _step(number, [_atoms(part) for part in parts[base:]], start, walk)
    inside = [hit for hit in walk.hits if not place.leaves(hit)]
    hits = [f"./{hit}" if hit.startswith(("-", "@")) else hit for hit in sorted(inside)]
    return hits or [word.text]


@contextmanager
def _open_directory(place: WorkingDirectory, directory: str) -> Iterator[int | None]:
    """Open a directory below the workspace, component by component, following no link."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    number = None
    try:
        number = os.open(place.workspace, flags)
        inner = os.path.relpath(directory, place.workspace)
        for name in [] if inner == "." else inner.split("/"):
            below = os.open(name, flags, dir_fd=number)
            os.close(number)
            number = below
        yield number
    except OSError:
        yield None
    finally:
        if number is not None:
            os.close(number)


def _step(number: int, parts: Sequence[Sequence[Atom]], prefix: str, walk: _Walk) -> None:
    """Match the first part against a directory, and the others below its hits."""
    for name in sorted(_names(number)):
        walk.look()
        if unsafe_name(name) or not matches(parts[0], name):
            continue
        if len(parts) == 1:
            walk.hits.append(prefix + name)
            continue
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            below = os.open(name, flags, dir_fd=number)
        except OSError:
            continue
        try:
            if parts[1:] == [()]:
                walk.hits.append(f"{prefix}{name}/")
            else:
                _step(below, parts[1:], f"{prefix}{name}/", walk)
        finally:
            os.close(below)


def _names(number: int) -> list[str]:
    try:
        return os.listdir(number)
    except OSError:
        return []


def unsafe_name(name: str) -> bool:
    """Say whether a file name holds what a command may not hold."""
    return any(unsafe(char) for char in name)


def matches(pattern: Sequence[Atom], name: str) -> bool:
    """Match one name; linear in the pattern times the name, whatever the pattern is."""
    if name.startswith(".") and (not pattern or pattern[0] != "."):
        return False
    at = index = 0
    star, mark = -1, 0
    while index < len(name):
        if at < len(pattern) and pattern[at] is STAR:
            star, mark = at, index
            at += 1
        elif at < len(pattern) and _fits(pattern[at], name[index]):
            at += 1
            index += 1
        elif star >= 0:
            mark += 1
            at, index = star + 1, mark
        else:
            return False
    return all(atom is STAR for atom in pattern[at:])


def _fits(atom: Atom, char: str) -> bool:
    if isinstance(atom, str):
        return atom in (ANY, char)
    if atom is None:
        return False
    negated, chars, ranges = atom
    inside = char in chars or any(low <= char <= high for low, high in ranges)
    return inside != negated


Part: TypeAlias = tuple[tuple[str, bool], ...]


def _components(word: ShellWord) -> list[Part]:
    """Split a word at its slashes; several in a row are one."""
    parts: list[list[tuple[str, bool]]] = [[]]
    for char, live in zip(word.text, word.live, strict=True):
        if char != "/":
            parts[-1].append((char, live))
        elif parts[-1] or len(parts) == 1:
            parts.append([])
    return [tuple(part) for part in parts]


def _plain(part: Part) -> str:
    return "".join(char for char, _ in part)


def _is_pattern(part: Part) -> bool:
    return any(live and char in "*?[" for char, live in part)


def _atoms(part: Part) -> tuple[Atom, ...]:
    atoms: list[Atom] = []
    at = 0
    while at < len(part):
        char, live = part[at]
        at += 1
        if live and char == "[":
            found = _set(part, at)
            if found is not None:
                atom, at = found
                atoms.append(atom)
                continue
        if live and char == "*":
            if not atoms or atoms[-1] is not STAR:
                atoms.append(STAR)
        else:
            atoms.append(ANY if live and char == "?" else char)
    return tuple(atoms)


def _set(part: Part, at: int) -> tuple[Set, int] | None:
    """Read ``[…]`` from after its bracket; None when it is never closed, and so is text."""
    text = _plain(part)
    negated = text[at : at + 1] in {"!", "^"} and part[at][1]
    start = at + negated
    end = text.find("]", start + 1)
    while end >= 0 and not part[end][1]:
        end = text.find("]", end + 1)
    if end < 0:
        return None
    body = text[start:end]
    if re.search(r"\[[:.=]", body):
        raise Refused("A glob with a class such as [:alpha:] is not understood.", "Write [a-z].")
    chars: set[str] = set()
    ranges: list[tuple[str, str]] = []
    index = 0
    while index < len(body):
        if body[index + 1 : index + 2] == "-" and index + 2 < len(body):
            ranges.append((body[index], body[index + 2]))
            index += 3
        else:
            chars.add(body[index])
            index += 1
    return (negated, frozenset(chars), tuple(ranges)), end + 1
