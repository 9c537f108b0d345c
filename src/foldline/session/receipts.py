"""The receipts of a session: of a long history, each is read when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import overload

from foldline.engine.receipt import Receipt
from foldline.session.batches import Batches


class Receipts(Sequence[Receipt]):
    """
    The receipts of the batches that there are by now, each read when it is asked for.

    Raises:
        StoreError: The session is closed, and an older receipt would have to be read.
    """

    def __init__(self, batches: Batches) -> None:
        self._batches, self._numbers = batches, range(len(batches))

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> Receipt: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Receipt, ...]: ...
    def __getitem__(self, index: int | slice) -> Receipt | tuple[Receipt, ...]:
        if isinstance(index, slice):
            return tuple(map(self._batches.receipt, self._numbers[index]))
        return self._batches.receipt(self._numbers[index])

    def __iter__(self) -> Iterator[Receipt]:
        found = islice(self._batches, len(self._numbers))
        return (batch.receipt for batch in found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]  # like any sequence that is compared by content

    def __repr__(self) -> str:
        return f"Receipts({list(self)!r})"
