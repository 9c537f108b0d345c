"""
Checkpoints: the view after some compactions is stored, so that opening replays only later ones.

Unchanged messages are stored as positions, messages with changed parts as the position and the
parts, and messages that an edit created as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Final

from foldline.errors import UNREADABLE, StoreError
from foldline.frozen import replace
from foldline.session.codec import freeze, thaw
from foldline.session.log import Log, ReplayStart
from foldline.stores.protocol import StoredCheckpoint
from foldline.values.edit_json import message_from_json, message_to_json
from foldline.values.messages import Message

SCHEMA: Final = "foldline.checkpoint/1"

EVERY: Final = 8
"""Number of batches between checkpoints; opening replays the batches since the last one."""


def checkpoint_of(log: Log, messages: Iterable[Message], number: int) -> StoredCheckpoint:
    """
    Return the checkpoint of a view.

    Args:
        log: The log.
        messages: The messages of the view after the batch.
        number: The number of the batch.
    """
    items: list[Any] = []
    for message in messages:
        position = log.positions.get(message.id)
        item = None if position is None else _refer_to_log(log, message, position)
        if item is None:
            items.append({"message": message_to_json(message, freeze)})
        elif not isinstance(item, int):
            items.append(item)
        elif items and isinstance(items[-1], list) and items[-1][1] == item:
            items[-1][1] = item + 1
        else:
            items.append([item, item + 1])
    return StoredCheckpoint(number, len(log), {"schema": SCHEMA, "shown": items})


def _refer_to_log(log: Log, visible: Message, position: int) -> int | dict[str, Any] | None:
    """Return a message of the view as a reference to the log; None if it differs too much."""
    original = log[position]
    if visible is original:
        return position
    if (visible.role, visible.name, visible.dialect, visible.origin) != (
        original.role,
        original.name,
        original.dialect,
        original.origin,
    ):
        return None
    if visible.intact == original.intact and visible.parts == original.parts:
        return position
    parts = message_to_json(replace(visible, raw=None, usage=None), freeze)["parts"]
    return None if visible.intact else {"at": position, "parts": parts}


def restore_checkpoint(log: Log, stored: StoredCheckpoint | None) -> ReplayStart | None:
    """
    Restore the view of a checkpoint; None if there is none or it cannot be read.

    Args:
        log: The log, which reads the messages of the view into memory.
        stored: The output of `checkpoint_of`.
    """
    if stored is None:
        return None
    try:
        if stored.content["schema"] != SCHEMA or not 0 <= stored.at <= len(log):
            return None
        items = list(stored.content["shown"])
        log.take(chain.from_iterable(_positions(item, stored.at) for item in items))
        messages = tuple(chain.from_iterable(_messages(log, item) for item in items))
    except (*UNREADABLE, StoreError):  # the view can be replayed from the compactions
        return None
    whole = len({message.id for message in messages}) == len(messages)
    return ReplayStart(stored.at, messages) if whole else None


def _positions(item: Any, size: int) -> range:
    """Return the positions in the log of one item of a checkpoint."""
    if isinstance(item, list):
        start, stop = item
    elif "at" in item:
        start, stop = item["at"], item["at"] + 1
    else:
        start = stop = 0
    if not 0 <= start <= stop <= size:
        raise ValueError("a position outside the log")
    return range(start, stop)


def _messages(log: Log, item: Any) -> Iterator[Message]:
    if isinstance(item, list):
        yield from log.at(range(*item))
    elif "at" in item:
        original = log[item["at"]]
        made = message_from_json({"role": original.role, "parts": item["parts"]}, thaw)
        yield original.with_parts(made.parts)
    else:
        yield message_from_json(item["message"], thaw)
