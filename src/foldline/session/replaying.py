"""Replaying: what a log shows after the edits of its compactions, without reading what is gone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Final, TypeAlias

from foldline.session.damage import reading
from foldline.session.log import Log
from foldline.values.edits import Edit, Move, applied
from foldline.values.messages import Message

Step: TypeAlias = tuple[int, Sequence[Edit]]
"""How long the log was, and the edits that were made then."""

_UNREAD: Final = Message("system", ())
"""Stands for a message that is not read; no edit changes it."""


def replayed(log: Log, steps: Iterable[Step]) -> tuple[Message, ...]:
    """
    Return what a log shows with these edits and no others.

    It is `foldline.values.edits.apply` over the whole log; only messages that are shown in the end
    are read.

    Args:
        log: The log.
        steps: In the order in which they were made.
    """
    with reading(log.name):
        return _replayed(log, tuple(steps))


def _replayed(log: Log, made: tuple[Step, ...]) -> tuple[Message, ...]:
    if not made:
        log.hold(log.positions)
        return tuple(log)
    # A message that is moved is told by its own id.
    moved = {e.message for _, edits in made for e in edits if isinstance(e, Move)}
    known = {number: Message("system", (), id=number) for number in moved}
    stays = [number for number in _run(log, made, known) if number in log.positions]
    log.hold(stays)
    known.update((number, log.originals[number]) for number in stays)
    return tuple(_run(log, made, known).values())


def _run(log: Log, steps: Sequence[Step], read: Mapping[str, Message]) -> dict[str, Message]:
    """Show messages as they came, and edit them as long as no more had come than then."""
    shown: dict[str, Message] = {}
    coming, at = iter(log.positions), 0
    for moment, edits in (*steps, (len(log), ())):
        for number in islice(coming, max(0, moment - at)):
            shown[number] = read.get(number, _UNREAD)
        at = max(at, moment)
        shown = applied(shown, edits)
    return shown
