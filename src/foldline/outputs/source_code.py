"""
Source code: what a file defines and what its comments say, rather than its statements.

Words of failure in it are what a program says in some case, not what happened.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from math import ceil
from typing import Final

from foldline.lazy import lazy_pattern
from foldline.outputs.condensed import Condensed

CODE: Final = "code"
"""The kind of such an output."""

FEWEST: Final = 16
"""Lines that make a file of code."""

LOOKED_AT: Final = 400
"""Lines by which code is recognised, half of them from the middle on."""

FEWEST_DEFINITIONS: Final = 2
"""Lines of it that define something."""

DEFINES, LOOKS = 0.01, 0.7
"""Fractions of the lines that define something, and that look like code, in code."""

COMMENTED, DEFINED = 0.5, 0.4
"""Worth of a comment that is a sentence, and of what is defined."""

SEEN: Final = 300
"""Characters of a line that are looked at."""

DEFINITION: Final = (
    r"(?:(?:export|default|pub(?:\(\w{1,20}\))?|public|private|protected|internal|static|async"
    r"|abstract|final|unsafe|override|virtual|extern) ){0,6}"
    r"(?:def|class|func|fn|function\*?|interface|struct|enum|trait|impl|namespace|record|object"
    r"|type|module|mod)[ (<]\S|(?:const|let|var) \w{1,80} ?= ?(?:async )?(?:\(|function\b)"
)
COMMENT: Final = r"(?://++!?|#++|/\*\*?|\*|--|\"\"\"|'''|<!--|;;++) ?(?=.*[A-Za-z]{2} [a-z]{2,} )"
"""Patterns of how a line begins that defines something, and of a comment that is a sentence."""

_DEFINITION, _COMMENT = lazy_pattern(DEFINITION), lazy_pattern(COMMENT)
_ENDS: Final = tuple("{}();:,[]>=\\|&+*/")
_BEGINS = lazy_pattern(
    rf"//|#|\*|/\*|\"\"\"|{DEFINITION}"
    r"|(?:return|if|else|elif|for|while|import|from|package|use|using|const|let|var|try|except"
    r"|catch|with|raise|throw|assert|await|yield|case|switch|break|continue|pass|defer|go)\b"
    r"|(?:self\.|this\.|@\w|#include)|[\w.\[\]*&]{1,80} (?::?=|\+=|-=) ?\S"
)


def is_code(lines: Sequence[str]) -> bool:
    """Tell whether lines are those of a program."""
    if len(lines) < FEWEST:
        return False
    half = LOOKED_AT // 2
    middle = max(half, len(lines) // 2)
    sample = [*lines[:half], *lines[middle : middle + half]]
    least = ceil(max(FEWEST_DEFINITIONS, DEFINES * len(sample)))
    if len(list(islice(filter(None, map(_DEFINITION.match, sample)), least))) < least:
        return False
    return sum(map(_looks_like_code, sample)) >= LOOKS * len(sample)


def _looks_like_code(line: str) -> bool:
    return line.endswith(_ENDS) or _BEGINS.match(line) is not None


def source_code(lines: Sequence[str]) -> Condensed:
    """
    Judge the lines of a program.

    Args:
        lines: The lines, without indentation.

    Returns:
        The lines; those that define something are heads of the ones below.
    """
    worth: dict[int, float] = {}
    heads: list[int] = []
    for place, line in enumerate(lines):
        seen = line[:SEEN]
        if _DEFINITION.match(seen):
            heads.append(place)
            worth[place] = DEFINED
        elif _COMMENT.match(seen):
            worth[place] = COMMENTED
    return Condensed(CODE, tuple(lines), worth, tuple(heads))
