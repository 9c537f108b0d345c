"""Changed files: what shell commands write, edit and delete, as far as they name it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from itertools import dropwhile, pairwise
from typing import Final

from foldline.lazy import lazy_pattern
from foldline.snapshot.commands import heredocs, mask_quoted

LONGEST: Final = 20_000
"""Characters of a command, without what it feeds to programs, in which files are looked for."""

MOST_FILES, LONGEST_PATH = 50, 300
"""Files of one command, and characters of a path, that are believed."""

_MAY_CHANGE = lazy_pattern(r">(?![&=(]|>?\s?/dev/)|\b(?:sed|perl|tee|rm|mv|cp|touch)\b")
_SIMPLE_COMMAND = lazy_pattern(r"(?:[^;|&\n]|&(?=>)|(?<=>)&)+")
_WORD = lazy_pattern(r"\S+")
_REDIRECTED = lazy_pattern(r"(?<![\d<>=-])(?:&?>>?|1>>?)[ \t]*([^\s;|&<>()]+)")
_IN_PLACE = lazy_pattern(r"-(?![IM])[a-zA-Z0-9]*i|--in-place")
_SCRIPTED = lazy_pattern(r"-[a-zA-Z0-9]*[eEf]|--expression|--file")
"""Options of programs that edit, before a script of theirs."""

_NOT_A_PATH = lazy_pattern(r"/dev/|-|.*[*?$`{}()<>|\n\t]|.*/\Z", re.DOTALL)
_BEFORE: Final = frozenset(("git", "sudo", "then", "do", "else", "time", "!", "{"))
"""What may stand before a program that changes files, or is named as git's own."""

_QUOTES: Final = "'\""

_UNKNOWN: Final = "$"
"""Stands for a folder that is not named: no path has it."""


def changed_files(command: str, folder: str = "") -> Iterator[tuple[str, str]]:
    """
    Yield the files that a shell command changes, with what it does to each.

    Scripts and programs may change further files.

    Args:
        command: The command.
        folder: Where it is run.

    Returns:
        Paths, relative ones below the folder that the command changes to; what is done to each is
        "written", "edited" or "deleted".
    """
    if not _MAY_CHANGE.search(command):
        return
    command = _without_heredocs(command)[:LONGEST]
    masked = mask_quoted(command)
    bare = _REDIRECTED.sub(lambda target: " " * len(target[0]), masked)
    left = MOST_FILES
    for simple in _SIMPLE_COMMAND.finditer(masked):
        words = [command[slice(*word.span())] for word in _WORD.finditer(bare, *simple.span())]
        if words[:1] == ["cd"]:
            folder = posixpath.join(folder, _bare(words[1]) if len(words) == 2 else _UNKNOWN)
            continue
        targets = _REDIRECTED.finditer(masked, *simple.span())
        found = [
            (command[slice(*target.span(1))], "edited" if ">>" in target[0] else "written")
            for target in targets
        ]
        for word, done in (*found, *_operands(words)):
            if left and (path := _path(word, folder)):
                left -= 1
                yield path, done


def _without_heredocs(command: str) -> str:
    pieces, place = [], 0
    for start, end in heredocs(command):
        pieces.append(command[place:start])
        place = end
    return "".join((*pieces, command[place:]))


def _operands(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the files among the operands of a program that changes them."""
    program, *rest = [*dropwhile(_BEFORE.__contains__, words), ""]
    options = [word for word in rest if word.startswith("-")]
    operands = [word for word in rest if not word.startswith("-") and word.strip(_QUOTES)]
    if program == "rm" and "--cached" not in options:
        yield from ((path, "deleted") for path in operands)
    elif program in ("touch", "tee"):
        done = "edited" if "-a" in options else "written"
        yield from ((path, done) for path in operands)
    elif program in ("mv", "cp") and len(operands) > 1:
        if program == "mv":
            yield from ((path, "deleted") for path in operands[:-1])
        yield operands[-1], "written"
    elif program in ("sed", "perl") and any(map(_IN_PLACE.match, options)):
        scripts = {b for a, b in pairwise(rest) if _SCRIPTED.fullmatch(a)}
        is_given = any(option.startswith(("--expression=", "--file=")) for option in options)
        # The first is the script where no option gives one.
        edited = operands if scripts or is_given else operands[1:]
        yield from ((path, "edited") for path in edited if path not in scripts)


def _path(word: str, folder: str) -> str:
    """Return the path that a word of a command names, "" where it names none for sure."""
    path = posixpath.join(folder, _bare(word))
    if not _bare(word) or len(path) > LONGEST_PATH or _NOT_A_PATH.match(path):
        return ""
    return posixpath.normpath(path)


def _bare(word: str) -> str:
    return word.strip(_QUOTES)
