"""Code lines: which statements of a program say what it is for, and which are only its doing."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from foldline.lazy import lazy_pattern
from foldline.outputs.source_code import COMMENT, DEFINITION, FEWEST, FEWEST_DEFINITIONS, is_code
from foldline.snapshot.statements import Slice, strip_line_number

SAMPLE: Final = 1_500
"""Characters at the beginning and from the middle on by which a program is recognised."""

# A search for a line feed is ten times as fast as one for the beginning of a line.
_LINE: Final = r"\n[ \t]*+(?:\d{1,6}(?:→|\t|[-:|])[ \t]*+)?"
_DEFINES = lazy_pattern(f"{_LINE}(?:{DEFINITION})")
_EXPLAINS = lazy_pattern(f"{_LINE}(?:{COMMENT}|{DEFINITION})")


def explaining(text: str, slices: Sequence[Slice]) -> list[bool] | None:
    """
    Tell which statements of a program have a comment that is a sentence, or a definition.

    Words of failure or limits in the others are what a program says or does in some case.

    Args:
        text: A file or an output.
        slices: Where its statements begin and end.

    Returns:
        One answer for each; None where the text is no program.
    """
    if not _is_program(text):
        return None
    places = [found.end() - 2 for found in _EXPLAINS.finditer(f"\n{text}")]
    return [bisect_left(places, start) < bisect_left(places, end) for start, end in slices]


def _is_program(text: str) -> bool:
    if text.count("\n") < FEWEST - 1:
        return False
    middle = max(SAMPLE, len(text) // 2)
    sample = f"\n{text[:SAMPLE]}\n{text[middle : middle + SAMPLE]}"
    if len(_DEFINES.findall(sample)) < FEWEST_DEFINITIONS:
        return False
    lines = (strip_line_number(line).strip() for line in sample.split("\n"))
    return is_code([line for line in lines if line])
