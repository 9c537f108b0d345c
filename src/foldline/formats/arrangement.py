"""The lines of a changed session file: their order, their parent links, and new lines."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from foldline.frozen import frozen
from foldline.values.messages import Message

Slot: TypeAlias = int | Message
"""A line of the original file, by number, or a message that has no line yet."""

Places: TypeAlias = Mapping[str, tuple[int, ...]]
"""The lines of each message by its id, in the order of the conversation."""


@frozen
class Arrangement:
    """The slots of a changed file in order, and the lines that moved."""

    slots: tuple[Slot, ...]
    moved: frozenset[int] = frozenset()


def arrange(
    slots: Sequence[Slot], places: Places, messages: Sequence[Message], start: int = 0
) -> Arrangement:
    """
    Arrange a file in the order of a changed conversation.

    Lines that belong to no message of the conversation are kept. Lines of removed messages are
    dropped. New messages, and the smallest possible set of old ones whose order changed, are
    placed directly before the first line of the next unmoved message.

    Args:
        slots: The file.
        places: The lines of each message in the file.
        messages: The changed conversation.
        start: The first line of this conversation; lines before it are shared with an earlier
            one, and nothing is inserted there.
    """
    ordered = _longest_ordered(places, messages)
    anchors = frozenset(slot for slot in slots if isinstance(slot, int) and slot >= start)
    ahead, behind, last = _insertion_points(places, messages, ordered, anchors)
    owners = {line: key for key, lines in places.items() for line in lines}
    out: list[Slot] = []
    for slot in slots:
        if isinstance(slot, Message):
            out.append(slot)
            continue
        out += _slots(ahead.get(slot, ()), places)
        if owners.get(slot) in ordered or slot not in owners:
            out.append(slot)
        if slot == last:
            out += _slots(behind, places)
            behind = []
    out += _slots(behind, places)
    moved = (m.id for m in messages if m.id in places and m.id not in ordered)
    return Arrangement(tuple(out), frozenset(line for key in moved for line in places[key]))


def _longest_ordered(places: Places, messages: Sequence[Message]) -> frozenset[str]:
    """Choose the largest set of messages whose order matches the file."""
    rank = {key: number for number, key in enumerate(places)}
    keys = [message.id for message in messages if message.id in rank]
    tails: list[int] = []
    lengths = []
    for key in keys:
        position = bisect_left(tails, rank[key])
        tails[position : position + 1] = [rank[key]]
        lengths.append(position)
    chosen: set[str] = set()
    target, bound = len(tails) - 1, len(rank)
    for key, length in zip(reversed(keys), reversed(lengths), strict=True):
        if length == target and rank[key] < bound:
            chosen.add(key)
            target, bound = target - 1, rank[key]
    return frozenset(chosen)


def _insertion_points(
    places: Places, messages: Sequence[Message], ordered: frozenset[str], anchors: frozenset[int]
) -> tuple[dict[int, list[Message]], list[Message], int]:
    """Find the line before which to insert each other message; the rest goes to the end."""
    ahead: dict[int, list[Message]] = {}
    waiting: list[Message] = []
    low = -1
    for message in messages:
        if message.id not in ordered:
            waiting.append(message)
            continue
        first = places[message.id][0]
        if first > low and first in anchors:
            ahead[first], waiting, low = waiting, [], first
    stay = [line for key in ordered for line in places[key]]
    every = stay or [line for lines in places.values() for line in lines]
    return ahead, waiting, max(every, default=-1)


def _slots(messages: Sequence[Message], places: Places) -> Iterator[Slot]:
    for message in messages:
        yield from places.get(message.id, (message,))


def text_column(records: Iterable[Mapping[str, Any]], key: str) -> list[str | None]:
    """Return the value of a key in each record, None where it is not a string."""
    values = (record.get(key) for record in records)
    return [value if isinstance(value, str) else None for value in values]


@frozen
class LineTree:
    """
    The parent links of a session file.

    ``keys`` and ``parents`` hold one entry per line, None where the line has none; ``above`` are
    the lines of the parents, ``lines`` maps each key to its line. A parent that is missing from
    the file is replaced by the previous line.
    """

    keys: tuple[str | None, ...]
    parents: tuple[str | None, ...]
    above: tuple[int | None, ...]
    lines: dict[str, int]

    @classmethod
    def of(cls, keys: Sequence[str | None], parents: Sequence[str | None]) -> LineTree:
        """Build the tree; among lines with the same key the last one wins."""
        lines = {key: line for line, key in enumerate(keys) if key is not None}
        above: list[int | None] = []
        before: int | None = None
        for line, (key, parent) in enumerate(zip(keys, parents, strict=True)):
            above.append(None if parent is None else lines.get(parent, before))
            before = before if key is None else line
        return cls(tuple(keys), tuple(parents), tuple(above), lines)

    def path(self, leaf: int, start: int = 0) -> frozenset[int]:
        """Return the lines from a leaf up to its root, none before ``start``; a cycle ends it."""
        found: set[int] = set()
        line: int | None = leaf
        while line is not None and line >= start and line not in found:
            found.add(line)
            line = self.above[line]
        return frozenset(found)


def relink(
    tree: LineTree,
    arrangement: Arrangement,
    path: frozenset[int],
    key_of: Callable[[Message], str],
) -> dict[int, str | None]:
    """
    Keep the chain of parents whole in a changed file.

    A line whose parent was removed is attached to its nearest remaining ancestor. A new or moved
    line is linked between the next line of the path and that line's parent, so that a walk up
    from the end of the file visits it.

    Args:
        tree: The original links.
        arrangement: The changed file.
        path: The lines from the newest one up to its root.
        key_of: Returns the key of a new line.

    Returns:
        The new parent of every slot that needs one, by its position in the arrangement.
    """
    kept = {slot for slot in arrangement.slots if isinstance(slot, int)} - arrangement.moved
    heirs = _Heirs(tree, kept)
    out: dict[int, str | None] = {}
    waiting: list[int] = []
    last: str | None = None

    def key(position: int) -> str | None:
        slot = arrangement.slots[position]
        return tree.keys[slot] if isinstance(slot, int) else key_of(slot)

    for position, slot in enumerate(arrangement.slots):
        if not isinstance(slot, int) or slot in arrangement.moved:
            waiting.append(position)
            continue
        parent = heirs.parent(slot)
        if slot in path:
            for loose in waiting:
                out[loose], parent = parent, key(loose)
            waiting, last = [], tree.keys[slot]
        if parent != tree.parents[slot]:
            out[position] = parent
    for loose in waiting:
        out[loose], last = last, key(loose)
    return out


class _Heirs:
    """The nearest remaining ancestor of every line, computed once."""

    def __init__(self, tree: LineTree, kept: set[int]) -> None:
        self.tree, self.kept = tree, kept
        self.known: dict[int, str | None] = {}

    def parent(self, line: int) -> str | None:
        """Return the new parent key of ``line``."""
        above = self.tree.above[line]
        if above is None or above in self.kept:
            return self.tree.parents[line]
        trail: list[int] = []
        seen = {line}
        while above is not None and above not in self.kept and above not in self.known:
            if above in seen:
                above = None
                break
            seen.add(above)
            trail.append(above)
            above = self.tree.above[above]
        found = self.known[above] if above in self.known else self._key(above)
        self.known.update(dict.fromkeys(trail, found))
        return None if found == self.tree.keys[line] else found

    def _key(self, line: int | None) -> str | None:
        return None if line is None else self.tree.keys[line]


def merge_entries(
    before: Sequence[Any], silent: Iterable[int], after: Iterable[tuple[int | None, Sequence[Any]]]
) -> list[Any]:
    """
    Replace the entries of a conversation with those of its changed version.

    Args:
        before: All entries of the file, in order.
        silent: Positions of the entries that belong to no message; they are kept, in order, each
            after the message that it followed.
        after: The changed messages: the position of the entry from which a message was read
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
