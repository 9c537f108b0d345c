"""
Glob expansion inside the workspace, without following links.

Every directory is opened relative to its parent, without following links, so that a directory
replaced by a link meanwhile is not read.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from foldline.rooted_files import open_folder
from foldline.tools.terminal.language import ShellWord
from foldline.tools.terminal.paths import WorkingDirectory
from foldline.tools.terminal.refusal import Refused, unsafe

MOST_HITS: Final = 2_000
MOST_LOOKED_AT: Final = 100_000
"""Limits of one glob: names matched, and names read."""

Part: TypeAlias = tuple[tuple[str, bool], ...]
"""A path component: each character, and True if it was not quoted."""


@dataclass(slots=True)
class _Walk:
    hits: list[str] = field(default_factory=list)
    seen: int = 0

    def look(self) -> None:
        self.seen += 1
        if self.seen > MOST_LOOKED_AT or len(self.hits) > MOST_HITS:
            why = f"A glob has more than {MOST_HITS:,} matches, or reads too many names."
            raise Refused(why, "Use find, or a narrower pattern.")


def expand_word(word: ShellWord, place: WorkingDirectory) -> list[str]:
    """
    Expand the globs of a word to sorted matches; without a match, return the word itself.

    A match that begins with ``-`` becomes ``./-…``, so that no file name is read as an option.
    Links that leave the workspace are omitted.

    Args:
        word: A word of a command.
        place: The working directory.

    Raises:
        Refused: It has too many matches, or leads outside the workspace.
    """
    if not word.has_glob:
        return [word.text]
    parts = _components(word)
    base = next(at for at, part in enumerate(parts) if any(on and c in "*?[" for c, on in part))
    prefix = "/".join(_plain(part) for part in parts[:base])
    if any(_plain(part) == ".." for part in parts[base:]):
        raise Refused("A glob must not contain '..'.")
    start = prefix + "/" if parts[0] == () or prefix else ""
    inner = os.path.relpath(place.resolve(start or "."), place.workspace)
    folders = [] if inner == "." else inner.split("/")
    patterns, walk = [compile_part(part) for part in parts[base:]], _Walk()
    with contextlib.suppress(OSError), open_folder(Path(place.workspace), folders) as number:
        _step(number, patterns, start, walk)
    inside = [hit for hit in walk.hits if not place.leaves(hit)]
    hits = [f"./{hit}" if hit.startswith(("-", "@")) else hit for hit in sorted(inside)]
    return hits or [word.text]


def _step(number: int, parts: Sequence[re.Pattern[str]], prefix: str, walk: _Walk) -> None:
    """Match the first part against a directory, and the rest below its matches."""
    for name in sorted(os.listdir(number)):  # names, not paths
        walk.look()
        if any(map(unsafe, name)) or not parts[0].fullmatch(name):
            continue
        if len(parts) == 1:
            walk.hits.append(prefix + name)
            continue
        with contextlib.suppress(OSError):
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            below = os.open(name, flags, dir_fd=number)
            try:
                if parts[1].pattern:
                    _step(below, parts[1:], f"{prefix}{name}/", walk)
                else:
                    walk.hits.append(f"{prefix}{name}/")
            finally:
                os.close(below)


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


def compile_part(part: Part) -> re.Pattern[str]:
    """
    Compile a component of a glob to a pattern for a full name.

    Text between two stars matches at its first position only, without backtracking: the time is
    at most the length of the pattern times that of the name.
    """
    pieces, at = [""], 0
    while at < len(part):
        char, live = part[at]
        at += 1
        if live and char == "*":
            pieces.append("")
        elif live and char == "[" and (found := _set(part, at)):
            pieces[-1] += found[0]
            at = found[1]
        else:
            pieces[-1] += "." if live and char == "?" else re.escape(char)
    hidden = r"(?!\.)" if part and part[0][0] != "." else ""
    between = "".join(f"(?>.*?{piece})" for piece in pieces[1:-1])
    last = f".*{pieces[-1]}" if len(pieces) > 1 else ""
    return re.compile(f"{hidden}{pieces[0]}{between}{last}", re.DOTALL)


def _set(part: Part, at: int) -> tuple[str, int] | None:
    """Parse ``[…]`` after its bracket; None if it is not closed, and so is text."""
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
        raise Refused("Character classes such as [:alpha:] are not supported.", "Write [a-z].")
    inner = ""
    for low, high in re.findall(r"(.)(?:-(.))?", body, re.DOTALL):
        if not high:
            inner += re.escape(low)
        elif low <= high:
            inner += f"{re.escape(low)}-{re.escape(high)}"
    if not inner:  # such as [z-a]
        return "." if negated else "(?!)", end + 1
    return f"[{'^' if negated else ''}{inner}]", end + 1
