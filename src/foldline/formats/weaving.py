"""Writing a changed conversation among the entries of a file that are no messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


def weave(
    before: Sequence[Any], silent: Iterable[int], after: Iterable[tuple[int | None, Sequence[Any]]]
) -> list[Any]:
    """
    Put the entries of a changed conversation in place of the old ones.

    Args:
        before: All entries of the file, in order.
        silent: Positions of the entries that belong to no message; they stay, in order, each
            behind the message that it followed.
        after: The messages as they are now: the position of the entry from which a message came
            (None for a new one), and the entries that it is written as.

    Returns:
        All entries of the changed file.
    """
    waiting = sorted(silent, reverse=True)
    out: list[Any] = []
    for place, entries in after:
        while place is not None and waiting and waiting[-1] < place:
            out.append(before[waiting.pop()])
        out += entries
    while waiting:
        out.append(before[waiting.pop()])
    return out
