"""
Which files of a folder may have changed since they were read, without looking at all each time.

A file that is put in the place of another has a new inode, and changes the stamp of the folder;
both are cheap to see. A file that is edited in place shows it only in its own stamp: in a small
folder all of them are compared at each look, in a large one a part of them in turn, and all of
them after a pause.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice
from typing import Final

from foldline.notes.folder import Folder, Stamp

FEW: Final = 2_000
"""Files whose stamps are all compared at each look; comparing one costs 2 to 4 µs."""

TURN: Final = 1_000
"""Files of a larger folder whose stamps are compared at each look."""

PAUSE: Final = 2.0
"""Seconds without a look, after which all are compared."""

YOUNG: Final = 50_000_000
"""Nanoseconds in which some systems give two changes the same time."""


def is_young(changed: int, read_at: int) -> bool:
    """Tell whether what changed at a time may have changed again since, unseen by its stamp."""
    return changed > read_at - YOUNG


class Watch:
    """
    Watches the files of a folder.

    Args:
        folder: Which folder.
        ending: How the names of the files end.
        most: Files that are looked at.
        clock: Seconds that only grow.
    """

    def __init__(
        self,
        folder: Folder,
        ending: str,
        most: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder, self._ending, self._most, self._clock = folder, ending, most, clock
        self._looked_at = float("-inf")
        self._folder_stamp: Stamp | None = None
        self._queue: list[str] = []
        self.full = False

    def changes(
        self, known: Mapping[str, Stamp], doubtful: Collection[str]
    ) -> tuple[dict[str, Stamp], set[str]]:
        """
        Say what may have changed.

        Args:
            known: The stamps with which files were read.
            doubtful: Files to look at in any case.

        Returns:
            The stamps of files that changed, are new or doubtful; and the names of those gone.
        """
        now, before = self._clock(), self._looked_at
        self._looked_at = now
        moved = self._has_moved()
        if now - before > PAUSE or len(known) <= FEW:
            present = dict(islice(self._folder.stamps(self._ending), self._most))
            self.full = len(present) >= self._most
            return _differing(present, known, doubtful), set(known.keys() - present.keys())
        suspects = {*doubtful, *self._turn(known)}
        if moved:
            inodes = dict(islice(self._folder.inodes(self._ending), self._most))
            self.full = len(inodes) >= self._most
            suspects |= {
                name
                for name, inode in inodes.items()
                if name not in known or known[name].inode != inode
            }
            suspects |= known.keys() - inodes.keys()
        stamps = {name: self._folder.stamp(name) for name in suspects}
        present = {name: stamp for name, stamp in stamps.items() if stamp is not None}
        gone = {name for name, stamp in stamps.items() if stamp is None and name in known}
        return _differing(present, known, doubtful), gone

    def _has_moved(self) -> bool:
        """Tell whether the folder itself changed since the last look, or may have."""
        stamp, read_at = self._folder.own_stamp(), time.time_ns()
        same = stamp == self._folder_stamp
        self._folder_stamp = None if is_young(stamp.changed, read_at) else stamp
        return not same

    def _turn(self, known: Mapping[str, Stamp]) -> Iterator[str]:
        """Take the files whose turn it is."""
        if not self._queue:
            self._queue = list(known)
        turn, self._queue = self._queue[:TURN], self._queue[TURN:]
        return (name for name in turn if name in known)


def _differing(
    present: Mapping[str, Stamp], known: Mapping[str, Stamp], doubtful: Collection[str]
) -> dict[str, Stamp]:
    return {
        name: stamp
        for name, stamp in present.items()
        if known.get(name) != stamp or name in doubtful
    }
