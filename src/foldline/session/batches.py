"""The compactions of a session: edits with their receipts, and what follows from all of them."""

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
"""So many batches stay in memory; in a longer history the others are left in the store."""

PAGE: Final = 16
"""So many are read at once when all of them are."""


def receipt_from_dict(value: Mapping[str, Any], edits: tuple[Edit, ...]) -> Receipt:
    """
    Read what `Receipt.to_dict` wrote.

    Args:
        value: The JSON value.
        edits: The edits, which it only counts.
    """
    plain = {key: item for key, item in value.items() if key not in ("schema", "edits")}
    rungs = tuple(RungReport(**rung) for rung in plain.pop("rungs"))
    warnings = tuple(plain.pop("warnings"))
    spent = Spent(**plain.pop("spent", {}))
    out = plain.pop("evicted", {})
    evicted = Evicted(tuple(out.get("files", ())), out.get("unknown", 0))
    # A few words, thousands of times: each is kept once.
    plain["recall"] = {handle: intern(words) for handle, words in plain["recall"].items()}
    receipt = Receipt(
        **plain, edits=edits, rungs=rungs, warnings=warnings, spent=spent, evicted=evicted
    )
    for record in (*rungs, spent, evicted, receipt):
        check_fields(record)
    return receipt


COMPACTION: Final = "compaction"
"""The edits of a compaction."""

ATTEMPT: Final = "attempt"
"""No edits: a compaction was tried and changed nothing."""

BOUND: Final = "bound"
"""The cut of a giant tool output, made when it was recorded."""


@frozen
class Batch:
    """
    The edits of one step, with the receipt that accounts for them.

    ``number`` counts from 0, ``at`` is how many messages the log had, ``undone_at`` how many when
    the batch was taken back, None while it is in effect. ``prepared`` is how many of its edits
    had been prepared. ``repeats`` counts the attempts in a row that an attempt stands for; ``at``
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
        Return what is kept of the batch.

        Args:
            prepared: How its first edits stand in the store already, with what they recall.
        """
        receipt = self.receipt
        if prepared is not None:
            # What was added to the prepared handles stands behind them.
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
    Read a batch again.

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
        stored: What the store has of the session.
        load: Returns the session as the store has it by now.
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

    __hash__ = None  # type: ignore[assignment]  # like any sequence that is compared by content

    def receipt(self, number: int) -> Receipt:
        """Return the receipt of a batch; one that is not in memory does not stay there."""
        kept = self._kept.get(number)
        return (kept or self._read(number, number + 1)[0]).receipt

    def since(self, start: int) -> Iterator[Batch]:
        """Yield the batches from a number on; those that are not in memory do not stay there."""
        while start < self._size:
            stop = min(start + PAGE, self._size)
            if all(number in self._kept for number in range(start, stop)):
                yield from [self._kept[number] for number in range(start, stop)]
            else:
                yield from self._read(start, stop)
            start = stop

    def read_stored(self, start: int) -> Iterator[StoredBatch]:
        """Yield the batches from a number on as the store has them."""
        for number in range(start, self._size, PAGE):
            yield from self._rows(number, min(number + PAGE, self._size))

    def put(self, batch: Batch) -> None:
        """Add a batch that is new, or note what has become of one."""
        if batch.number < self._size:
            self._stored = ()  # what was read before does not know it
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


# --- what follows from them ----------------------------------------------------------------


def restore_history(
    stored: StoredSession, load: Callable[[], StoredSession] | None = None
) -> History:
    """
    Read the compactions of a session again; of many, the older ones on demand.

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
        attempts = last.receipt.spent.attempts or receipt.spent.attempts
        return None if attempts else last

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
