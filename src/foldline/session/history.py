"""The compactions of a session: batches of edits with their receipts, packed in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from sys import intern
from typing import Any, Final
from zlib import compress, decompress

from foldline.core.outcome import Evicted, RungReport
from foldline.core.spending import Spent
from foldline.engine.receipt import Receipt
from foldline.errors import StoreError
from foldline.recall import Folded, Holdings
from foldline.session import memory
from foldline.session.codec import freeze, thaw
from foldline.session.damage import UNREADABLE, reading
from foldline.stores.protocol import StoredBatch, StoredMemory, StoredSession
from foldline.type_checks import check_fields
from foldline.values.edit_json import edits_from_json, edits_to_json
from foldline.values.edits import Edit, Fold, Insert, Rewrite
from foldline.values.messages import Message, Text

LEAST: Final = 2_000
"""Characters from which on a text is packed."""

_FAST: Final = 1


class PackedText(Text):
    """
    A text that is compressed until it is read.

    Args:
        text: The text.
        raw: What the wire gave.
    """

    __slots__ = ("_packed",)
    _packed: bytes

    def __init__(self, text: str, raw: Any = None) -> None:
        data = text.encode("utf-8", "surrogatepass")
        object.__setattr__(self, "_packed", compress(data, _FAST))
        object.__setattr__(self, "raw", raw)

    @property
    def text(self) -> str:
        """The text."""
        return decompress(self._packed).decode("utf-8", "surrogatepass")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Text) and self.text == other.text

    def __hash__(self) -> int:
        return hash((self.text,))


def packed(edit: Edit) -> Edit:
    """Return an edit with the texts of its message packed."""
    if isinstance(edit, Fold):
        return replace(edit, snapshot=_packed(edit.snapshot))
    if isinstance(edit, Insert):
        return replace(edit, message=_packed(edit.message))
    return edit


def _packed(message: Message) -> Message:
    parts = tuple(
        PackedText(part.text, part.raw) if type(part) is Text and len(part.text) >= LEAST else part
        for part in message.parts
    )
    return replace(message, parts=parts)


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

    @property
    def folds(self) -> Iterator[tuple[Fold, int]]:
        """Yield the folds, and how long the log was when each was made."""
        for position, edit in enumerate(self.edits):
            if isinstance(edit, Fold):
                yield edit, self.prepared_at if position < self.prepared else self.at

    def stored(self, prepared: StoredMemory | None = None) -> StoredBatch:
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


def restored_batch(stored: StoredBatch) -> Batch:
    """
    Read a batch again.

    Raises:
        StoreError: This version of Foldline cannot read it.
    """
    early, recall = ((), {}) if stored.memory is None else memory.applied(stored.memory)
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


def restored_history(stored: StoredSession) -> History:
    """
    Read the compactions of a session again.

    Raises:
        StoreError: One of them cannot be read, or is missing.
    """
    with reading(stored.head.name):
        batches = [restored_batch(batch) for batch in stored.batches]
        if [batch.number for batch in batches] != list(range(len(batches))):
            raise ValueError("a compaction is missing")
    return History(batches)


class History:
    """The batches of one session."""

    def __init__(self, batches: Sequence[Batch] = ()) -> None:
        self.batches = list(batches)
        self._packed = 0
        self._pack()

    def add(self, batch: Batch) -> None:
        """Add the newest batch."""
        self.batches.append(batch)
        self._pack()

    def _pack(self) -> None:
        """Pack the texts of compactions that a later one has replaced."""
        last = self.last()
        for number in range(self._packed, 0 if last is None else last.number):
            batch = self.batches[number]
            receipt = replace(batch.receipt, edits=tuple(map(packed, batch.edits)))
            self.batches[number] = replace(batch, receipt=receipt)
            self._packed = number + 1

    def repeated(self, receipt: Receipt) -> Batch | None:
        """Return the last attempt, where this one did no more than it: it counts as the same."""
        last = self.batches[-1] if self.batches else None
        if last is None or last.kind != ATTEMPT or last.receipt.status != receipt.status:
            return None
        asked = last.receipt.spent.attempts or receipt.spent.attempts
        return None if asked else last

    def again(self, number: int, at: int, time: float) -> None:
        """Note that an attempt was made once more, when the log has ``at`` messages."""
        batch = self.batches[number]
        self.batches[number] = replace(batch, at=at, time=time, repeats=batch.repeats + 1)

    def undo(self, number: int, at: int) -> None:
        """Take a batch back, when the log has ``at`` messages."""
        self.batches[number] = replace(self.batches[number], undone_at=at)

    def edits(self, *, without: int | None = None) -> Iterator[Edit]:
        """Yield the edits in effect, in order; as if the batch ``without`` were taken back too."""
        for batch in self.batches:
            if batch.undone_at is None and batch.number != without:
                yield from batch.edits

    def steps(self) -> Iterator[tuple[int, tuple[Edit, ...]]]:
        """Yield how long the log was, and the edits that were made then and are in effect."""
        for batch in self.batches:
            if batch.undone_at is None and batch.edits:
                yield batch.at, batch.edits

    def last(self) -> Batch | None:
        """Return the newest compaction that is in effect."""
        in_effect = (
            batch
            for batch in reversed(self.batches)
            if batch.kind == COMPACTION and batch.undone_at is None
        )
        return next(in_effect, None)

    def attempt(self) -> int | None:
        """Return how long the log was at the last attempt or undo, None when there was none."""
        moments = (
            max(batch.at, batch.undone_at or 0) for batch in self.batches if batch.kind != BOUND
        )
        return max(moments, default=None)

    def is_fresh(self, at: int) -> bool:
        """Tell whether the last thing that happened, at this length, is a compaction in effect."""
        last = self.batches[-1] if self.batches else None
        if last is None or last.kind != COMPACTION or last.at != at:
            return False
        return last.undone_at is None

    def snapshots(self) -> dict[str, Folded]:
        """Return what every snapshot that was ever made stands for, by its id."""
        return {
            edit.snapshot.id: Folded(edit.messages, at)
            for batch in self.batches
            for edit, at in batch.folds
        }

    def issued(self, handle: str) -> bool:
        """Tell whether a receipt names this handle, or another part of the same message."""
        whole = handle.partition(".")[0]
        return any(
            whole == name.partition(".")[0]
            for batch in self.batches
            for name in batch.receipt.recall
        )

    def holdings(self, originals: Mapping[str, Message]) -> Holdings:
        """Return what can be recalled from a log with these originals."""
        moments = [batch.at for batch in self.batches]
        moments += [batch.prepared_at for batch in self.batches if batch.prepared]
        shortened = frozenset(
            edit.message
            for batch in self.batches
            for edit in batch.receipt.edits
            if isinstance(edit, Rewrite)
        )
        return Holdings(originals, self.snapshots(), tuple(moments), shortened)
