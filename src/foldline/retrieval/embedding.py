"""Embed texts, pack vectors, and compute similarities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from foldline.errors import InputError, MissingExtra
from foldline.frozen import frozen

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[float32]


@runtime_checkable
class Embedder(Protocol):
    """An embedding model."""

    @property
    def name(self) -> str:
        """The model and its version; vectors of different models are never compared."""
        ...

    @property
    def dimensions(self) -> int:
        """The dimensions of a vector."""
        ...

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """
        Return a vector of length 1 for each text.

        Must raise on failure: zero vectors would be indexed, but never found.
        """
        ...

    def understands(self, text: str) -> bool:
        """Return True if the model supports the language of a text."""
        ...


LOOKED_AT = 4_000
ENOUGH = 20
"""If `LOOKED_AT` nearest vectors include `ENOUGH` allowed ones, the others are not searched."""

Vector: TypeAlias = "Sequence[float] | bytes"


@cache
def arrays() -> Any:
    """
    Return numpy.

    Raises:
        MissingExtra: numpy is not installed.
    """
    try:
        import numpy
    except ImportError as error:
        raise MissingExtra("numpy", "memory") from error
    return numpy


def embed_text(embedder: Embedder | None, text: str) -> Sequence[float] | None:
    """Return the vector of a text; None without a model that understands it."""
    if embedder is None or not text.strip() or not embedder.understands(text):
        return None
    return embedder.embed([text])[0]


def pack(vector: Sequence[float]) -> bytes:
    """Encode a vector as float16, two bytes per number, for storage."""
    return bytes(_check(arrays().asarray(vector, dtype="<f4")).astype("<f2").tobytes())


def unpack(data: bytes) -> Array:
    """Decode a vector written by `pack`."""
    if len(data) % 2:
        raise InputError(f"{len(data)} bytes are not a vector of float16 numbers")
    found: Array = arrays().frombuffer(data, dtype="<f2").astype("f4")
    return found


def _check(vectors: Array) -> Array:
    """
    Normalize a vector, or rows of vectors, to length 1.

    Raises:
        InputError: A vector is zero or not finite.
    """
    numpy = arrays()
    lengths = numpy.sqrt(numpy.einsum("...i,...i->...", vectors, vectors))
    if not vectors.ndim or not numpy.isfinite(lengths).all() or (lengths < 1e-6).any():
        raise InputError("A vector needs finite numbers, not all of them zero")
    return vectors if (abs(lengths - 1) < 1e-3).all() else vectors / lengths[..., None]


class Matrix:
    """Vectors of numbered documents."""

    def __init__(self) -> None:
        self._rows: Array | None = None
        self._at: dict[int, int] = {}
        self._numbers: list[int] = []

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, vectors: Mapping[int, Vector]) -> None:
        """
        Add the vectors of documents, all or none.

        Raises:
            InputError: A vector has other dimensions than the others, or is zero or not finite.
        """
        if not vectors:
            return
        numpy = arrays()
        bare = [
            unpack(one) if isinstance(one, bytes) else numpy.asarray(one, dtype="f4")
            for one in vectors.values()
        ]
        size = bare[0].size if self._rows is None else self._rows.shape[1]
        for row in bare:
            if row.shape != (size,):
                raise InputError(
                    f"A vector has {row.size} dimensions, earlier ones have {size}",
                    hint="Embed everything with the same model.",
                )
        made = _check(numpy.stack(bare))
        first, after = len(self._numbers), len(self._numbers) + len(made)
        if self._rows is None:
            self._rows = numpy.empty((max(16, after), size), dtype="f4")
        if after > len(self._rows):
            self._rows = numpy.resize(self._rows, (max(2 * first, after), size))
        self._rows[first:after] = made
        self._at.update((number, at) for at, number in enumerate(vectors, first))
        self._numbers.extend(vectors)

    def remove(self, number: int) -> None:
        """Remove a vector; the last one moves to its row."""
        at = self._at.pop(number, None)
        if at is None or self._rows is None:
            return
        last = self._numbers.pop()
        if last != number:
            self._rows[at] = self._rows[len(self._numbers)]
            self._numbers[at] = last
            self._at[last] = at

    def compare(self, query: Sequence[float], sample: Matrix | None = None) -> Similarities:
        """
        Compare a query with all vectors.

        Args:
            query: The vector of the query.
            sample: A sample from which the typical similarity is estimated instead, unless empty.
        """
        numpy = arrays()
        direction = _check(numpy.asarray(query, dtype="f4"))
        if self._rows is None or not self._numbers:
            return Similarities(numpy.empty(0, dtype="f4"), [], {})
        if direction.size != self._rows.shape[1]:
            raise InputError(
                f"The query has {direction.size} dimensions, the index {self._rows.shape[1]}",
                hint="Embed queries with the model that embedded the documents.",
            )
        scores = self._rows[: len(self._numbers)] @ direction
        if sample:
            usual = sample.compare(query)
            return Similarities(scores, self._numbers, self._at, usual.mean, usual.spread)
        mean, spread = float(scores.mean()), float(scores.std()) or 1.0
        return Similarities(scores, self._numbers, self._at, mean, spread)


@frozen
class Similarities:
    """Similarities of all vectors to a query, with their ``mean`` and standard deviation."""

    scores: Array
    numbers: Sequence[int]
    at: Mapping[int, int]
    mean: float = 0.0
    spread: float = 1.0

    def nearest(self, count: int, allowed: Callable[[int], bool] | None = None) -> list[int]:
        """Return the numbers of the nearest allowed documents, the best first."""
        numpy = arrays()
        if allowed is None:
            return self._best(count)
        some = list(islice(filter(allowed, self._best(LOOKED_AT)), count))
        if len(some) >= ENOUGH or self.scores.size <= LOOKED_AT:
            return some
        ordered = (self.numbers[at] for at in numpy.argsort(-self.scores).tolist())
        return list(islice(filter(allowed, ordered), count))

    def _best(self, count: int) -> list[int]:
        """Return the numbers of the nearest documents, the best first."""
        numpy, low = arrays(), -self.scores
        if count < low.size:
            some = numpy.argpartition(low, count)[:count]
            best = some[numpy.argsort(low[some])]
        else:
            best = numpy.argsort(low)
        return [self.numbers[at] for at in best.tolist()]

    def of(self, numbers: Iterable[int]) -> dict[int, float]:
        """Return the cosine similarities of the documents that have a vector."""
        held = [number for number in numbers if number in self.at]
        scores = self.scores[[self.at[number] for number in held]] if held else self.scores[:0]
        return dict(zip(held, scores.tolist(), strict=True))
