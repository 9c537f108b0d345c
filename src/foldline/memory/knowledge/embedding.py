"""Embed chunks and queries, and read stored vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from foldline.errors import FoldlineError, InputError, ModelError
from foldline.memory.database import as_bytes
from foldline.retrieval.embedding import Embedder, pack
from foldline.sql import Connection

BATCH: Final = 64
"""The batch size: texts per call of the embedder."""


def embed_chunks(embedder: Embedder, texts: Sequence[str], what: str) -> dict[int, bytes]:
    """
    Embed the chunks of a document; those in languages unknown to the model are skipped.

    Args:
        embedder: The model.
        texts: The chunks, numbered from 0.
        what: The name of the document in errors.

    Returns:
        The vectors by chunk number, as written by `pack`.

    Raises:
        InputError: A vector has the wrong number of dimensions, or is zero or not finite.
        ModelError: The embedder failed.
    """
    known = [at for at, text in enumerate(texts) if embedder.understands(text)]
    out = dict[int, bytes]()
    for start in range(0, len(known), BATCH):
        batch = known[start : start + BATCH]
        vectors = _vectors(embedder, [texts[at] for at in batch], what)
        for at, vector in zip(batch, vectors, strict=True):
            if len(vector) != embedder.dimensions:
                raise InputError(
                    f"The embedder returned a vector of {len(vector)} numbers instead of"
                    f" {embedder.dimensions}",
                    hint="Nothing was stored; repair the embedder.",
                )
            out[at] = pack(vector)
    return out


def embed_query(embedder: Embedder | None, query: str) -> Sequence[float] | None:
    """
    Return the vector of a query; None without a model that understands it.

    Raises:
        ModelError: The embedder failed.
    """
    if embedder is None or not query.strip() or not embedder.understands(query):
        return None
    return _vectors(embedder, [query], "the query")[0]


def _vectors(embedder: Embedder, texts: Sequence[str], what: str) -> Sequence[Sequence[float]]:
    try:
        vectors = embedder.embed(texts)
    except FoldlineError:
        raise
    except Exception as error:
        cause = f"{type(error).__name__}: {error}"[:300]
        raise ModelError(
            f"The embedder {embedder.name} failed on {what}: {cause}",
            retry=isinstance(error, (OSError, TimeoutError)),
            hint="Nothing of it was stored; retry, or continue without an embedder.",
        ) from error
    if len(vectors) != len(texts):
        raise ModelError(
            f"The embedder {embedder.name} returned {len(vectors)} vectors for {len(texts)} texts",
            hint="Nothing was stored; repair the embedder.",
        )
    return vectors


def marks(values: Sequence[object]) -> str:
    """Return the SQL placeholders of a list of values."""
    return ",".join("?" * len(values)) or "NULL"


def read_vectors(connection: Connection, numbers: Sequence[int]) -> dict[int, bytes]:
    """Read the vectors of chunks; chunks without one are omitted."""
    rows = connection.execute(
        f"SELECT chunk, data FROM vectors WHERE chunk IN ({marks(numbers)})",  # noqa: S608  # only marks
        numbers,
    )
    return {int(number): as_bytes(data) for number, data in rows}
