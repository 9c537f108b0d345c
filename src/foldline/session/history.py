"""The compactions of a session: batches of edits with their receipts, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from foldline.core.edit_json import edits_from_json, edits_to_json
from foldline.core.edits import Edit, Fold
from foldline.core.errors import InputError, StoreError
from foldline.core.messages import Message
from foldline.core.ports import StoredBatch
from foldline.core.receipt import Receipt
from foldline.recall import Folded, Holdings
from foldline.session.codec import freeze, thaw
from foldline.session.receipts import receipt_from_dict

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
    the batch was taken back, None while it is in effect.
    """

    number: int
    at: int
    kind: str
    receipt: Receipt
    time: float
    undone_at: int | None = None

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The edits, whether in effect or not."""
        return self.receipt.edits

    def stored(self) -> StoredBatch:
        """Return what is kept of the batch."""
        return StoredBatch(
            self.number,
            self.at,
            self.kind,
            edits_to_json(self.edits, freeze),
            self.receipt.to_dict(),
            self.time,
            self.undone_at,
        )


def restored_batch(stored: StoredBatch) -> Batch:
    """
    Read a batch again.

    Raises:
        StoreError: This version of Foldline cannot read it.
    """
    try:
        edits = edits_from_json(stored.edits, thaw)
        receipt = receipt_from_dict(stored.receipt, edits)
    except (InputError, KeyError, TypeError) as error:
        raise StoreError(
            f"The compaction {stored.number} cannot be read: {error}",
            hint="Open the archive with the version of Foldline that wrote it.",
        ) from error
    return Batch(stored.number, stored.at, stored.kind, receipt, stored.time, stored.undone_at)


class History:
    """The batches of one session."""

    def __init__(self, batches: Sequence[Batch] = ()) -> None:
        self.batches = list(batches)

    def add(self, batch: Batch) -> None:
        """Add the newest batch."""
        self.batches.append(batch)

    def undo(self, number: int, at: int) -> None:
        """Take a batch back, when the log has ``at`` messages."""
        self.batches[number] = replace(self.batches[number], undone_at=at)

    def edits(self, *, without: int | None = None) -> Iterator[Edit]:
        """Yield the edits in effect, in order; as if the batch ``without`` were taken back too."""
        for batch in self.batches:
            if batch.undone_at is None and batch.number != without:
                yield from batch.edits

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
            edit.snapshot.id: Folded(edit.messages, batch.at)
            for batch in self.batches
            for edit in batch.edits
            if isinstance(edit, Fold)
        }

    def issued(self, handle: str) -> bool:
        """Tell whether a receipt names this handle, or another part of the same message."""
        whole = handle.partition(".")[0]
        return any(
            whole == name.partition(".")[0]
            for batch in self.batches
            for name in batch.receipt.recall
        )

    def holdings(self, originals: dict[str, Message]) -> Holdings:
        """Return what can be recalled from a log with these originals."""
        return Holdings(originals, self.snapshots(), tuple(batch.at for batch in self.batches))
