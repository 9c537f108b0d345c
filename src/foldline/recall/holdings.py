"""What can be recalled: a log with its snapshots, and the message that a handle names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final

from foldline.errors import RecallError
from foldline.values.identity import HANDLE_LENGTH
from foldline.values.messages import Message


@dataclass(frozen=True, slots=True)
class Folded:
    """The ids of what a snapshot stands for, and how long the log was when it was made."""

    messages: tuple[str, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Holdings:
    """
    What can be recalled.

    Args:
        messages: The log by id, in order.
        snapshots: Everything that stands or stood for messages of it.
        moments: The lengths of the log when handles were given out.
        shortened: Ids of messages that are shown, or were, with a part cut or cleared.
    """

    messages: Mapping[str, Message]
    snapshots: Mapping[str, Folded] = field(default_factory=dict)
    moments: tuple[int, ...] = ()
    shortened: frozenset[str] = frozenset()

    def first_seen(self, prefix: str = "") -> dict[str, int]:
        """
        Return how long the log was when each of these came into it, by id.

        Args:
            prefix: How the ids begin that are wanted.
        """
        log = enumerate(self.messages, 1)
        seen = {number: index for index, number in log if number.startswith(prefix)}
        folds = self.snapshots.items()
        return seen | {n: folded.at for n, folded in folds if n.startswith(prefix)}

    def folded(self, number: str) -> list[str]:
        """Return the messages that a snapshot stands for, those of snapshots in it included."""
        out: set[str] = set()
        waiting, seen = [number], set()
        while waiting:
            current = waiting.pop()
            if current in self.messages:
                out.add(current)
            elif current not in seen:
                seen.add(current)
                fold = self.snapshots.get(current)
                waiting += fold.messages if fold else ()
        return self.in_order(out)

    def in_order(self, numbers: set[str]) -> list[str]:
        """Return ids in the order of the log."""
        return [number for number in self.messages if number in numbers]


_HANDLE: Final = re.compile(rf"([0-9a-f]{{{HANDLE_LENGTH},32}})(?:\.([0-9]{{1,6}}))?")

NEAR: Final = 5
"""How many similar handles an error names."""


@dataclass(frozen=True, slots=True)
class ResolvedHandle:
    """An id, and the position of a part where the handle names one."""

    id: str
    part: int | None = None


def parse(handle: str) -> tuple[str, int | None]:
    """
    Split a handle into the beginning of an id and the position of a part.

    Raises:
        RecallError: This is no handle.
    """
    found = _HANDLE.fullmatch(handle.strip().lower()) if isinstance(handle, str) else None
    if found is None:
        raise RecallError(
            f"{str(handle)[:60]!r} is not a handle.",
            hint=f"A handle is {HANDLE_LENGTH} or more hexadecimal digits, such as 1f0c2a9b or "
            "1f0c2a9b.2; receipts and stubs name them.",
        )
    return found[1], None if found[2] is None else int(found[2])


def resolve(handle: str, born: Mapping[str, int], moments: Iterable[int] = ()) -> ResolvedHandle:
    """
    Find what a handle names.

    Args:
        handle: The beginning of an id, with ``.part`` for one of its parts.
        born: How long the log was when the thing with an id came into it, by id.
        moments: How long the log was whenever handles were given out. A handle that was unique
            then keeps its meaning, whatever has come since.

    Raises:
        RecallError: It names nothing, or several things; the message lists what is near.
    """
    prefix, part = parse(handle)
    found = sorted((n for n in born if n.startswith(prefix)), key=born.__getitem__)
    if not found:
        raise RecallError(f"Nothing is kept under {prefix}.", hint=_near(prefix, list(born)))
    if len(found) > 1:
        first, second = born[found[0]], born[found[1]]
        if not any(first <= moment < second for moment in moments):
            matches = ", ".join(number[: len(prefix) + 8] for number in found[:NEAR])
            raise RecallError(
                f"{prefix} is ambiguous: {len(found)} messages begin so.",
                hint=f"Give more digits: {matches}.",
            )
    return ResolvedHandle(found[0], part)


def _near(prefix: str, ids: Sequence[str]) -> str:
    short = {number[:HANDLE_LENGTH] for number in ids}
    close = get_close_matches(prefix[:HANDLE_LENGTH], short, NEAR, 0.5)
    if close:
        return f"Near to it: {', '.join(close)}."
    newest = [number[:HANDLE_LENGTH] for number in ids[-NEAR:]]
    return f"The newest are: {', '.join(newest)}." if newest else "Nothing is kept here."
