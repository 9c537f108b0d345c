"""The embedder at work: what it cannot do is an error, never a vector that means nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from foldline.errors import FoldlineError, ModelError
from foldline.memory.knowledge.meanings import packed
from foldline.memory.knowledge.writing import ChunkRow, Vectors
from foldline.retrieval.embedding import Embedder

BATCH: Final = 64
"""Texts that are embedded at once."""


def embedded(embedder: Embedder, rows: Sequence[ChunkRow], what: str) -> Vectors:
    """
    Embed the chunks of a document; those in languages that the model does not know are left out.

    Args:
        embedder: The model.
        rows: The chunks.
        what: What errors call the document.

    Raises:
        ModelError: The embedder failed.
    """
    known = [at for at, row in enumerate(rows) if embedder.understands(row.text)]
    out = list[tuple[int, bytes, bytes]]()
    for start in range(0, len(known), BATCH):
        batch = known[start : start + BATCH]
        vectors = _vectors(embedder, [rows[at].text for at in batch], what)
        for at, vector in zip(batch, vectors, strict=True):
            out.append((at, *packed(vector, embedder.dimensions)))
    return Vectors(embedder.name, out)


def meaning(embedder: Embedder | None, query: str) -> Sequence[float] | None:
    """
    Return the vector of a query; None where there is no model that understands it.

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
        told = f"{type(error).__name__}: {error}"[:300]
        raise ModelError(
            f"The embedder {embedder.name} failed on {what}: {told}",
            retry=isinstance(error, (OSError, TimeoutError)),
            hint="Nothing of it was stored; go on without an embedder, or try again.",
        ) from error
    if len(vectors) != len(texts):
        raise ModelError(
            f"The embedder {embedder.name} gave {len(vectors)} vectors for {len(texts)} texts",
            hint="Nothing was stored; mend the embedder.",
        )
    return vectors
