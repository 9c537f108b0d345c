"""
What lasts: the facts of earlier snapshots that stand in the next one, however often it is folded.

A line that is only ranked anew at every fold is lost sooner or later: some later line is always
more in demand. So facts that were listed once have room of their own. When that is full, what was
plainly decided, and what the agent changed, outlasts what it remarked and what it read; among
equals the newer stays. Whatever goes is offered once more among the ordinary lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

FRESH_SHARE: Final = 0.02
"""Fraction of the room for each list of facts of the messages that are folded now."""

HELD_SHARE: Final = {"Decisions": 0.06, "Files": 0.03, "Plan": 0.02}
"""Fractions of the room for the facts of earlier snapshots, by the title of their list."""

_PLAIN = re.compile(
    r"\bdecided\b|\broot cause\b|\bmust (?:not|never|always)\b|决定|必须|根因", re.IGNORECASE
)
_READ = " (read)"


def lasting(
    title: str,
    fresh: Sequence[str],
    held: Mapping[int, str],
    room: float,
    tokens: Callable[[str], int],
) -> list[str]:
    """
    Choose what a list of facts says.

    Args:
        title: Of the list.
        fresh: What the messages say that are folded now, the newest first.
        held: What an earlier snapshot listed and still holds, by its place there.
        room: What the whole snapshot may take, in tokens.
        tokens: Counts a text.

    Returns:
        The lines, fresh ones first, each once.
    """
    kept = _best(title, fresh, room * FRESH_SHARE, tokens)
    older = [line for _, line in sorted(held.items()) if line not in kept]
    return [*kept, *_best(title, older, room * HELD_SHARE.get(title, 0.0), tokens)]


def _best(
    title: str, lines: Iterable[str], room: float, tokens: Callable[[str], int]
) -> list[str]:
    """Return the lines that outlast the others, as many as there is room for, in their order."""
    found = list(dict.fromkeys(lines))
    kept = set[str]()
    for line in sorted(found, key=lambda line: not _outlasts(title, line)):
        room -= tokens(line) + 1
        if room < 0:
            break
        kept.add(line)
    return [line for line in found if line in kept]


def _outlasts(title: str, line: str) -> bool:
    if title == "Files":
        return not line.endswith(_READ)
    return _PLAIN.search(line) is not None
