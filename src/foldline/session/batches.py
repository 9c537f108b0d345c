"""The compactions of a session: edits with their receipts, and the state derived from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile
from sys import intern
from typing import Any, Final, overload

from foldline.core.limits import Spent
from foldline.core.strategy import Evicted, RungReport
from foldline.engine.receipt import Receipt
from foldline.frozen import frozen, replace
from foldline.recall import Folded, Holdings
from foldline.session import memory
from foldline.session.codec import freeze, thaw
from foldline.session.damage import interpreting, reading
from foldline.stores.protocol import StoredBatch, StoredMemory, StoredSession
from foldline.type_checks import check_fields
from foldline.values.edit_json import edits_from_json, edits_to_json
from foldline.values.edits import Edit
from foldline.values.messages import Message

KEPT: Final = 8
"""Number of batches kept in memory; in a longer history the others are read from the store."""

PAGE: Final = 16
"""Number of batches read at once when all are read."""


def receipt_from_dict(value: Mapping[str, Any], edits: tuple[Edit, ...]) -> Receipt:
    """
    Restore a receipt from the output of `Receipt.to_dict`.

    Args:
        value: The JSON value.
        edits: The edits, of which the JSON value has only the numbers.
    """
    plain = {key: item for key, item in value.items() if key not in ("schema", "edits")}
    rungs = tuple(RungReport(**rung) for rung in plain.pop("rungs"))
    warnings = tuple(plain.pop("warnings"))
    spent = Spent(**plain.pop("spent", {}))
    out = plain.pop("evicted", {})
    evicted = Evicted(tuple(out.get("files", ())), out.get("unknown", 0))
    # Thousands of handles share a few descriptions: each is stored once.
    plain["recall"] = {handle: intern(words) for handle, words in plain["recall"].items()}
    receipt = Receipt(
        **plain, edits=edits, rungs=rungs, warnings=warnings, spent=spent, evicted=evicted
    )
    for record in (*rungs, spent, evicted, receipt):
        check_fields(record)
    return receipt


COMPACTION: Final = "compaction"
"""Kind of a batch: the edits of a compaction."""

ATTEMPT: Final = "attempt"
"""Kind of a batch without edits: a compaction that changed nothing."""

BOUND: Final = "bound"
"""Kind of a batch: the cut of a giant tool output when it was recorded."""


@frozen
class Batch:
    """
    The edits of one step, with their receipt.

    ``number`` counts from 0, ``at`` is the length of the log at the time, ``undone_at`` its length
    when the batch was undone, None while it is in effect. ``prepared`` is how many of its edits
    had been prepared. ``repeats`` is how many attempts in a row one attempt represents; ``at``
    and ``time`` are of the last of them.
    """

    number: int
    at: int
    kind: str
    receipt: Receipt
    time: float
    undone_at: int | None = None
    prepared: int = 0
    repeats: int = 1

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The edits, whether in effect or not."""
        return self.receipt.edits

    def to_stored(self, prepared: StoredMemory | None = None) -> StoredBatch:
        """
        Return the batch as it is stored.

        Args:
            prepared: The stored session memory with its first edits and their handles, if any.
        """
        receipt = self.receipt
        if prepared is not None:
            # Handles added later come after the prepared ones.
            fresh = islice(receipt.recall.items(), len(prepared.content["recall"]), None)
            receipt = replace(receipt, recall=dict(fresh))
        return StoredBatch(
            self.number,
            self.at,
            self.kind,
            edits_to_json(self.edits[self.prepared :], freeze),
            receipt.to_dict(),
            self.time,
            self.undone_at,
            prepared,
            self.repeats,
        )


def restore_batch(stored: StoredBatch) -> Batch:
    """
    Restore a stored batch.

    Raises:
        StoreError: This version of Foldline cannot read it.
    """
    early, recall = ((), {}) if stored.memory is None else memory.read_edits(stored.memory)
    with interpreting(f"The compaction {stored.number}"):
        receipt = receipt_from_dict(stored.receipt, (*early, *edits_from_json(stored.edits, thaw)))
    return Batch(
        stored.number,
        stored.at,
        stored.kind,
        replace(receipt, recall={**recall, **receipt.recall}) if recall else receipt,
        stored.time,
        stored.undone_at,
        len(early),
        stored.repeats,
    )


class Batches(Sequence[Batch]):
    """
    The batches of a session, in order.

    Args:
        stored: The session as loaded from the store.
        load: Loads the session again, in its current state.
    """

    def __init__(self, stored: StoredSession, load: Callable[[], StoredSession]) -> None:
        self.name = stored.head.name
        self._stored: Sequence[StoredBatch] = stored.batches
        self._load = load
        self._size = len(stored.batches)
        self._kept: dict[int, Batch] = {}
        if self._size <= KEPT:
            self._kept = dict(enumerate(self._read(0, self._size)))

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> Batch: ...
    @overload
    def __getitem__(self, index: slice) -> list[Batch]: ...
    def __getitem__(self, index: int | slice) -> Batch | list[Batch]:
        if isinstance(index, slice):
            return [self[number] for number in range(self._size)[index]]
        number = range(self._size)[index]
        if number not in self._kept:
            self._keep(*self._read(number, number + 1))
        return self._kept[number]

    def __iter__(self) -> Iterator[Batch]:
        return self.since(0)

    def __reversed__(self) -> Iterator[Batch]:
        number = self._size
        while number - 1 in self._kept:
            number -= 1
            yield self._kept[number]
        while number:
            start = max(0, number - PAGE)
            yield from reversed(self._read(start, number))
            number = start

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]  # compared by content, like a list

    def receipt(self, number: int) -> Receipt:
        """Return the receipt of a batch, without keeping in memory a batch read for it."""
        kept = self._kept.get(number)
        return (kept or self._read(number, number + 1)[0]).receipt

    def since(self, start: int) -> Iterator[Batch]:
        """Yield the batches from a number on, without keeping in memory those that are read."""
        while start < self._size:
            stop = min(start + PAGE, self._size)
            if all(number in self._kept for number in range(start, stop)):
                yield from [self._kept[number] for number in range(start, stop)]
            else:
                yield from self._read(start, stop)
            start = stop

    def read_stored(self, start: int) -> Iterator[StoredBatch]:
        """Yield the batches from a number on as they are stored."""
        for number in range(start, self._size, PAGE):
            yield from self._rows(number, min(number + PAGE, self._size))

    def put(self, batch: Batch) -> None:
        """Add a new batch, or replace one that has changed."""
        if batch.number < self._size:
            self._stored = ()  # its rows are out of date
        self._size = max(self._size, batch.number + 1)
        self._keep(batch)

    def _keep(self, batch: Batch) -> None:
        self._kept[batch.number] = batch
        while len(self._kept) > KEPT:
            del self._kept[next(iter(self._kept))]

    def _read(self, start: int, stop: int) -> list[Batch]:
        with reading(self.name):
            return [restore_batch(batch) for batch in self._rows(start, stop)]

    def _rows(self, start: int, stop: int) -> Sequence[StoredBatch]:
        if stop > len(self._stored):
            self._stored = self._load().batches
        with reading(self.name):
            found = self._stored[start:stop]
            if [batch.number for batch in found] != list(range(start, stop)):
                raise ValueError("a compaction is missing")
        return found


# --- state derived from the batches --------------------------------------------------------


def restore_history(
    stored: StoredSession, load: Callable[[], StoredSession] | None = None
) -> History:
    """
    Restore the compactions of a session; if there are many, the older ones on demand.

    Args:
        stored: The session as loaded from the store.
        load: Loads the session again, in its current state; for a session in use.

    Raises:
        StoreError: One of them cannot be read, or is missing.
    """
    return History(Batches(stored, load or (lambda: stored)))


@dataclass(slots=True)
class _RecallIndex:
    """
    Ids that recall needs from the batches; see `foldline.recall.Holdings`.

    Only ids are read from the stored rows: building every edit of thousands of batches takes ten
    times as long.
    """

    count: int = 0
    moments: set[int] = field(default_factory=set)
    snapshots: dict[str, Folded] = field(default_factory=dict)
    shortened: set[str] = field(default_factory=set)
    issued: set[str] = field(default_factory=set)

    def add(self, batch: StoredBatch) -> None:
        """Add the next batch."""
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
                    raise TypeError("the id of a snapshot is not a text")
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
        self._index = _RecallIndex()
        self._last: int | None = None

    def add(self, batch: Batch) -> None:
        """Add the newest batch."""
        self.batches.put(batch)
        if batch.kind == COMPACTION:
            self._last = batch.number

    def find_repeated(self, receipt: Receipt) -> Batch | None:
        """Return the last attempt if this receipt only repeats it."""
        last = self.batches[-1] if self.batches else None
        if last is None or last.kind != ATTEMPT or last.receipt.status != receipt.status:
            return None
        attempts = last.receipt.spent.attempts or receipt.spent.attempts
        return None if attempts else last

    def repeat(self, number: int, at: int, time: float) -> None:
        """Count one more repetition of an attempt, at a log of ``at`` messages."""
        batch = self.batches[number]
        self.batches.put(replace(batch, at=at, time=time, repeats=batch.repeats + 1))

    def undo(self, number: int, at: int) -> None:
        """Mark a batch as undone, at a log of ``at`` messages."""
        self.batches.put(replace(self.batches[number], undone_at=at))
        self._last = None

    def edits(self) -> Iterator[Edit]:
        """Yield the edits in effect, in order."""
        for _, edits in self.steps():
            yield from edits

    def steps(self, start: int = 0) -> Iterator[tuple[int, tuple[Edit, ...]]]:
        """
        Yield each batch in effect: the length of the log at the time, and the edits.

        Args:
            start: The number of the first batch.
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
        """Return the length of the log at the last attempt or undo; None if there was none."""
        last = self.last()
        first = 0 if last is None else last.number
        # Batches undone before that compaction are older than it.
        late = takewhile(lambda batch: batch.number >= first, reversed(self.batches))
        moments = [max(batch.at, batch.undone_at or 0) for batch in late if batch.kind != BOUND]
        return max(moments, default=None)

    def is_fresh(self, at: int) -> bool:
        """Return True if the last batch is a compaction in effect, made at this length."""
        last = self.batches[-1] if self.batches else None
        return last is not None and last.at == at and _is_compacted(last)

    def snapshots(self) -> dict[str, Folded]:
        """Return what every snapshot ever made folded, by its id, undone ones included."""
        return self._updated_index().snapshots

    def has_issued(self, handle: str) -> bool:
        """Return True if a receipt names this handle, or another part of the same message."""
        return handle.partition(".")[0] in self._updated_index().issued

    def holdings(self, originals: Mapping[str, Message]) -> Holdings:
        """Return everything that can be recalled from a log with these originals."""
        index = self._updated_index()
        moments, shortened = tuple(index.moments), frozenset(index.shortened)
        return Holdings(originals, index.snapshots, moments, shortened)

    def _updated_index(self) -> _RecallIndex:
        """Return the index of all batches; each batch is read once for it."""
        index = self._index
        for batch in self.batches.read_stored(index.count):
            with reading(self.batches.name):
                index.add(batch)
        return index


def _is_compacted(batch: Batch) -> bool:
    return batch.kind == COMPACTION and batch.undone_at is None
