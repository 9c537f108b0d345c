"""What was done to the view of a session: its compactions, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

from foldline.engine.receipt import Receipt
from foldline.recall import Folded, Holdings
from foldline.session.batches import ATTEMPT, BOUND, COMPACTION, Batch, Batches
from foldline.session.damage import reading
from foldline.stores.protocol import StoredBatch, StoredSession
from foldline.type_checks import check_fields
from foldline.values.edits import Edit
from foldline.values.messages import Message


def restore_history(
    stored: StoredSession, load: Callable[[], StoredSession] | None = None
) -> History:
    """
    Read the compactions of a session again; of many, the older ones when they are asked for.

    Args:
        stored: What the store has of the session.
        load: Returns the session as the store has it by now; for a session that goes on.

    Raises:
        StoreError: One of them cannot be read, or is missing.
    """
    return History(Batches(stored, load or (lambda: stored)))


@dataclass(slots=True)
class _Learned:
    """
    What the batches tell about recalling; see `foldline.recall.Holdings`.

    Only ids are taken from what is stored: making every edit of thousands of batches takes ten
    times as long.
    """

    count: int = 0
    moments: set[int] = field(default_factory=set)
    snapshots: dict[str, Folded] = field(default_factory=dict)
    shortened: set[str] = field(default_factory=set)
    issued: set[str] = field(default_factory=set)

    def add(self, batch: StoredBatch) -> None:
        """Take the next batch into account."""
        if batch.memory is not None:
            content = batch.memory.content
            self._take(content["edits"]["edits"], content["recall"], batch.memory.at)
        self._take(batch.edits["edits"], batch.receipt["recall"], batch.at)
        self.count += 1

    def _take(self, edits: Sequence[Any], recall: Mapping[str, str], at: int) -> None:
        self.moments.add(at)
        self.issued.update(name.partition(".")[0] for name in recall)
        for edit in edits:
            if edit["type"] == "fold":
                folded, number = Folded(tuple(edit["messages"]), at), edit["snapshot"]["id"]
                check_fields(folded)
                if not isinstance(number, str):
                    raise TypeError("the id of a snapshot is no text")
                self.snapshots[number] = folded
            elif edit["type"] == "rewrite":
                self.shortened.add(edit["message"])


class History:
    """
    The batches of one session.

    Args:
        batches: In order.
    """

    def __init__(self, batches: Batches) -> None:
        self.batches = batches
        self._learned = _Learned()
        self._last: int | None = None

    def add(self, batch: Batch) -> None:
        """Add the newest batch."""
        self.batches.put(batch)
        if batch.kind == COMPACTION:
            self._last = batch.number

    def find_repeated(self, receipt: Receipt) -> Batch | None:
        """Return the last attempt, where this one did no more than it: it counts as the same."""
        last = self.batches[-1] if self.batches else None
        if last is None or last.kind != ATTEMPT or last.receipt.status != receipt.status:
            return None
        asked = last.receipt.spent.attempts or receipt.spent.attempts
        return None if asked else last

    def again(self, number: int, at: int, time: float) -> None:
        """Note that an attempt was made once more, when the log has ``at`` messages."""
        batch = self.batches[number]
        self.batches.put(replace(batch, at=at, time=time, repeats=batch.repeats + 1))

    def undo(self, number: int, at: int) -> None:
        """Take a batch back, when the log has ``at`` messages."""
        self.batches.put(replace(self.batches[number], undone_at=at))
        self._last = None

    def edits(self) -> Iterator[Edit]:
        """Yield the edits in effect, in order."""
        for _, edits in self.steps():
            yield from edits

    def steps(self, start: int = 0) -> Iterator[tuple[int, tuple[Edit, ...]]]:
        """
        Yield how long the log was, and the edits that were made then and are in effect.

        Args:
            start: The number of the first batch that counts.
        """
        for batch in self.batches.since(start):
            if batch.undone_at is None and batch.edits:
                yield batch.at, batch.edits

    def last(self) -> Batch | None:
        """Return the newest compaction that is in effect."""
        if self._last is None:
            found = (batch for batch in reversed(self.batches) if _is_compacted(batch))
            batch = next(found, None)
            self._last = -1 if batch is None else batch.number
        return self.batches[self._last] if self._last >= 0 else None

    def attempt(self) -> int | None:
        """Return how long the log was at the last attempt or undo, None when there was none."""
        last = self.last()
        first = 0 if last is None else last.number
        # Whatever was taken back before that compaction was made is older than it.
        late = takewhile(lambda batch: batch.number >= first, reversed(self.batches))
        moments = [max(batch.at, batch.undone_at or 0) for batch in late if batch.kind != BOUND]
        return max(moments, default=None)

    def is_fresh(self, at: int) -> bool:
        """Tell whether the last thing that happened, at this length, is a compaction in effect."""
        last = self.batches[-1] if self.batches else None
        return last is not None and last.at == at and _is_compacted(last)

    def snapshots(self) -> dict[str, Folded]:
        """Return what every snapshot that was ever made stands for, by its id."""
        return self._all().snapshots

    def has_issued(self, handle: str) -> bool:
        """Tell whether a receipt names this handle, or another part of the same message."""
        return handle.partition(".")[0] in self._all().issued

    def holdings(self, originals: Mapping[str, Message]) -> Holdings:
        """Return what can be recalled from a log with these originals."""
        known = self._all()
        moments, shortened = tuple(known.moments), frozenset(known.shortened)
        return Holdings(originals, known.snapshots, moments, shortened)

    def _all(self) -> _Learned:
        """Return what all batches tell; each is read once for that."""
        learned = self._learned
        for batch in self.batches.read_stored(learned.count):
            with reading(self.batches.name):
                learned.add(batch)
        return learned


def _is_compacted(batch: Batch) -> bool:
    return batch.kind == COMPACTION and batch.undone_at is None
