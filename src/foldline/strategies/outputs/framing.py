"""The frame of an output: how it begins and ends, what failed first and last, what sums it up."""

from __future__ import annotations

from collections.abc import Mapping

from foldline.strategies.outputs.condensed import Condensed
from foldline.strategies.outputs.verdict import failures, is_summary, last_failure

FIRST, SECOND = 0.6, 0.3
LAST, NEXT_TO_LAST = 0.8, 0.4
"""Worth of the first and last lines."""

FAILURE, FURTHER_FAILURE, LAST_FAILURE = 1.0, 0.35, 0.7
SUMMARY = 0.95
"""Worth of the lines that say that something failed, and of those that sum up."""

LOOKED_AT = 30
"""Lines at the end, and a third of that at the beginning, among which a summary is looked for."""


def framed(made: Condensed) -> dict[int, float]:
    """
    Judge the lines that an output is framed by.

    Args:
        made: The output.

    Returns:
        Worth by line: what the output has, or more.
    """
    count = len(made.lines) - made.notes
    worth = dict(made.worth)
    if count <= 0:
        return worth
    _raise(worth, {0: FIRST, count - 1: LAST})
    if count > 4:
        _raise(worth, {1: SECOND, count - 2: NEXT_TO_LAST})
    for place in {*range(min(count, LOOKED_AT // 3)), *range(max(0, count - LOOKED_AT), count)}:
        if is_summary(made.lines[place]):
            _raise(worth, {place: SUMMARY})
    text = "\n".join(made.lines)
    if len(text) != len(made.lowered):
        return worth
    found = [made.at(start) for start, _ in failures(text)]
    _raise(worth, dict.fromkeys(found[1:], FURTHER_FAILURE))
    _raise(worth, dict.fromkeys(found[:1], FAILURE))
    last = last_failure(text) if found else None
    if last:
        _raise(worth, {made.at(last[0]): LAST_FAILURE})
    return worth


def _raise(worth: dict[int, float], least: Mapping[int, float]) -> None:
    for place, value in least.items():
        worth[place] = max(value, worth.get(place, 0.0))
