"""
Globs, expanded by the terminal itself: inside the workspace, and never through a link.

Every directory is opened below the one before it, without following links, so that one that is
swapped for a link meanwhile is not read.
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
"""Bounds of one glob: names that it gives, names that it looks at."""

Part: TypeAlias = tuple[tuple[str, bool], ...]
"""What stands between two slashes: each character, and whether it was not quoted."""


@dataclass(slots=True)
class _Walk:
    hits: list[str] = field(default_factory=list)
    seen: int = 0

    def look(self) -> None:
        self.seen += 1
        if self.seen > MOST_LOOKED_AT or len(self.hits) > MOST_HITS:
            why = f"A glob has more than {MOST_HITS:,} hits, or looks at too many names."
            raise Refused(why, "Use find, or a narrower pattern.")


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
    base = next(at for at, part in enumerate(parts) if any(on and c in "*?[" for c, on in part))
    prefix = "/".join(_plain(part) for part in parts[:base])
    if any(_plain(part) == ".." for part in parts[base:]):
        raise Refused("A glob does not lead through '..'.")
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
    """Match the first part against a directory, and the others below its hits."""
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
    Return a part of a glob as a pattern for a whole name; no part, an empty pattern.

    What stands between two stars is taken where it first fits, and never looked for again: no
    pattern takes longer than its length times that of the name.
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
    inner = ""
    for low, high in re.findall(r"(.)(?:-(.))?", body, re.DOTALL):
        if not high:
            inner += re.escape(low)
        elif low <= high:
            inner += f"{re.escape(low)}-{re.escape(high)}"
    if not inner:  # such as [z-a]
        return "." if negated else "(?!)", end + 1
    return f"[{'^' if negated else ''}{inner}]", end + 1
