"""The compactions of a session one by one: edits with their receipt, read when asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from sys import intern
from typing import Any, Final, overload

from foldline.core.outcome import Evicted, RungReport
from foldline.core.spending import Spent
from foldline.engine.receipt import Receipt
from foldline.errors import UNREADABLE, StoreError
from foldline.session import memory
from foldline.session.codec import freeze, thaw
from foldline.session.damage import reading
from foldline.stores.protocol import StoredBatch, StoredMemory, StoredSession
from foldline.type_checks import check_fields
from foldline.values.edit_json import edits_from_json, edits_to_json
from foldline.values.edits import Edit

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


@dataclass(frozen=True, slots=True)
class Batch:
    """
    The edits of one step, with the receipt that accounts for them.

    ``number`` counts from 0, ``at`` is how many messages the log had, ``undone_at`` how many when
    the batch was taken back, None while it is in effect. ``prepared`` is how many of its edits
    had been prepared, when the log had ``prepared_at`` messages. ``repeats`` counts the attempts
    in a row that an attempt stands for; ``at`` and ``time`` are of the last of them.
    """

    number: int
    at: int
    kind: str
    receipt: Receipt
    time: float
    undone_at: int | None = None
    prepared: int = 0
    prepared_at: int = 0
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
    try:
        edits = (*early, *edits_from_json(stored.edits, thaw))
        receipt = receipt_from_dict(stored.receipt, edits)
    except UNREADABLE as error:
        raise StoreError(
            f"The compaction {stored.number} cannot be read: {error}",
            hint="Open the archive with the version of Foldline that wrote it.",
            damaged=True,
        ) from error
    return Batch(
        stored.number,
        stored.at,
        stored.kind,
        replace(receipt, recall={**recall, **receipt.recall}) if recall else receipt,
        stored.time,
        stored.undone_at,
        len(early),
        0 if stored.memory is None else stored.memory.at,
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

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]  # like any sequence that is compared by content

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
