"""Lines that name their parent: which of them the agent still sees, and how they stay linked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from foldline.formats.arrangement import Arrangement
from foldline.values.messages import Message


@dataclass(frozen=True, slots=True)
class LineTree:
    """
    The links of a session file.

    ``keys`` and ``parents`` hold one entry a line, None where the line has none; ``above`` are the
    lines of the parents, ``lines`` the line of each key. A parent that is missing in the file is
    replaced by the line before.
    """

    keys: tuple[str | None, ...]
    parents: tuple[str | None, ...]
    above: tuple[int | None, ...]
    lines: dict[str, int]

    @classmethod
    def of(cls, keys: Sequence[str | None], parents: Sequence[str | None]) -> LineTree:
        """Build the tree; of lines with the same key the last one counts."""
        lines = {key: line for line, key in enumerate(keys) if key is not None}
        above: list[int | None] = []
        before: int | None = None
        for line, (key, parent) in enumerate(zip(keys, parents, strict=True)):
            above.append(None if parent is None else lines.get(parent, before))
            before = before if key is None else line
        return cls(tuple(keys), tuple(parents), tuple(above), lines)

    def path(self, leaf: int, start: int = 0) -> frozenset[int]:
        """Return the lines from a leaf up to its root, none before ``start``; a circle ends."""
        found: set[int] = set()
        line: int | None = leaf
        while line is not None and line >= start and line not in found:
            found.add(line)
            line = self.above[line]
        return frozenset(found)


def relinked(
    tree: LineTree,
    arrangement: Arrangement,
    path: frozenset[int],
    key_of: Callable[[Message], str],
) -> dict[int, str | None]:
    """
    Keep the chain of parents whole in a changed file.

    A line whose parent is gone hangs on the nearest ancestor that is left. A new or moved line
    goes between the next line of the path and the parent of that line, so that whoever walks up
    from the end of the file meets it.

    Args:
        tree: The links as they were.
        arrangement: The changed file.
        path: The lines from the newest one up to its root.
        key_of: Gives the key of a new line.

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
    """For every line the nearest ancestor that is left, found once."""

    def __init__(self, tree: LineTree, kept: set[int]) -> None:
        self.tree, self.kept = tree, kept
        self.known: dict[int, str | None] = {}

    def parent(self, line: int) -> str | None:
        """Return the key that ``line`` names as its parent from now on."""
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
