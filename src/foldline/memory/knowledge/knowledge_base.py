"""The public knowledge base: add documents, search for passages with citations."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Self, TypeAlias

from foldline.ask_runner import ModelLike, arun_ask, drive_in_threads, run_ask
from foldline.concurrency import awaited
from foldline.core.asks import Steps, drive
from foldline.core.validation import positive, whole
from foldline.errors import InputError
from foldline.frozen import replace
from foldline.memory.chunk import ChunkSettings, Kind
from foldline.memory.documents import DocumentText, ReadLimits, Skipped, is_folder
from foldline.memory.knowledge import document_tables
from foldline.memory.knowledge.document_tables import DocumentInfo, KnowledgeStats
from foldline.memory.knowledge.embedding import embed_query
from foldline.memory.knowledge.evidence import (
    CitedAnswer,
    Count,
    Evidence,
    answer_from_evidence,
    pack_evidence,
)
from foldline.memory.knowledge.ingest import (
    AddedDocument,
    Ingestor,
    IngestReport,
    check_namespace,
    stored_name,
)
from foldline.memory.knowledge.schema import open_store
from foldline.memory.knowledge.search import KnowledgeResult, find_namespace, search_namespace
from foldline.retrieval.embedding import Embedder
from foldline.tokens.estimate import estimate
from foldline.type_checks import typed_methods

Progress: TypeAlias = Callable[[AddedDocument | Skipped], object]

THRESHOLD: Final = 0.25
"""
The strength from which a passage is evidence: the share of the query terms that it contains,
weighted by rarity, or its similarity in meaning.
"""

MOST: Final = 200
"""The maximum number of passages of one search."""


@typed_methods
class Knowledge:
    """
    Documents in a SQLite file or PostgreSQL, for one namespace; created by `open`.

    Several threads and processes may use a store at once. A document is stored completely or not
    at all: a killed process loses only the one that it was storing.
    """

    def __init__(self, storing: Ingestor) -> None:
        self._storing, self._store = storing, storing.knowledge
        self._database, self._namespace = storing.database, storing.namespace

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        namespace: str = "default",
        chunks: ChunkSettings | None = None,
        reading: ReadLimits | None = None,
        embedder: Embedder | None = None,
        clock: Callable[[], float] = time.time,
    ) -> Self:
        """
        Open a store; it is created if it is missing.

        Args:
            path: The SQLite file, or the URL of a PostgreSQL database.
            namespace: The set of documents to search and clear; others are not touched.
            chunks: The sizes of chunks.
            reading: The limits of reading files.
            embedder: Adds semantic search; None searches by words alone.
            clock: Returns the time, in seconds since 1970.

        Raises:
            InputError: The name of the namespace is empty or too long.
            StoreError: It cannot be opened, or is not a knowledge store.
        """
        check_namespace(namespace)
        store = open_store(path, embedder)
        sizes, limits = chunks or ChunkSettings(), reading or ReadLimits()
        storing = Ingestor(store, namespace, sizes, limits, embedder, clock)
        storing.cut_terms_again()
        return cls(storing)

    def within(self, namespace: str, *, chunks: ChunkSettings | None = None) -> Self:
        """
        Return another namespace of the same store, or this one with other chunk sizes.

        Args:
            namespace: The name of the namespace.
            chunks: The sizes of new chunks; default as here.

        Raises:
            InputError: The name is invalid.
        """
        own = self._storing
        sizes = chunks or own.chunks
        return type(self)(replace(own, namespace=check_namespace(namespace), chunks=sizes))

    @property
    def namespace(self) -> str:
        """The name of the namespace."""
        return self._namespace

    # --- adding and removing -----------------------------------------------------------------

    def add(
        self,
        path: str | os.PathLike[str],
        *,
        name: str = "",
        only: str = "",
        progress: Progress | None = None,
    ) -> IngestReport:
        """
        Store a file, or all text files of a folder.

        Unchanged documents are skipped. Documents of a folder whose files no longer exist are
        removed. Links in folders, files whose names suggest secrets, and files that are not text
        are skipped and reported.

        Args:
            path: The file or folder.
            name: The name of a file in citations; default its path.
            only: A pattern such as ``*.py`` for the relative paths of files in a folder.
            progress: Called with every stored document and every skipped file.

        Raises:
            InputError: The file does not exist or cannot be read.
            ModelError: The embedder failed; this document was not stored, earlier ones were.
            StoreError: The store cannot be written.
        """
        place = Path(os.path.abspath(path))  # noqa: PTH100  # links are not resolved
        if not is_folder(place):
            added = self._storing.file(place, name)
            if progress is not None:
                progress(added)
            return IngestReport((added,))
        if name:
            raise InputError(f"{place} is a folder; its files are named by their paths")
        documents, skipped = list[AddedDocument](), list[Skipped]()
        for found in self._storing.folder(place, only):
            if isinstance(found, AddedDocument):
                documents.append(found)
            else:
                skipped.append(found)
            if progress is not None:
                progress(found)
        removed = tuple(self._storing.remove_missing(place))
        return IngestReport(tuple(documents), tuple(skipped), removed)

    def add_text(
        self, name: str, text: str, *, title: str = "", kind: Kind = "text"
    ) -> AddedDocument:
        """
        Store a text under a name, replacing a document of that name.

        Args:
            name: The name in citations.
            text: The text.
            title: The title, which is indexed with every passage.
            kind: How the text is split: "text", "markdown" or "code".

        Raises:
            InputError: The name is empty or too long.
            ModelError: The embedder failed; nothing was stored.
        """
        return self.add_reading(name, DocumentText(text.replace("\r\n", "\n"), kind, title))

    def add_reading(self, name: str, reading: DocumentText) -> AddedDocument:
        """Store a document read elsewhere under a name; see `add_text`."""
        return self._storing.store(name, reading)

    def remove(self, name: str) -> bool:
        """Remove a document; return True if it existed."""
        return self._storing.remove(stored_name(name))

    def clear(self) -> int:
        """Remove all documents of this namespace only; return their number."""
        with self._database.writing() as connection:
            space = document_tables.lock_namespace(connection, self._namespace)
            if space is None:
                return 0
            return document_tables.clear_namespace(self._store, connection, space)

    # --- searching ---------------------------------------------------------------------------

    def search(
        self, query: str, limit: int = 5, *, threshold: float = THRESHOLD
    ) -> KnowledgeResult:
        """
        Search for passages; no language model is called.

        Args:
            query: A question or words, in any language.
            limit: The maximum number of passages.
            threshold: The minimum strength of a passage, 0 to 1.

        Returns:
            The passages, the best first; if there are none, ``message`` says why.

        Raises:
            BudgetError: A number is out of range.
            ModelError: The embedder failed.
        """
        whole("limit", limit, 1)
        positive("threshold", threshold, 1.0)
        vector = embed_query(self._storing.embedder, query)
        with self._store.searching() as connection:
            space = find_namespace(connection, self._namespace)
            if space is None or not space.chunks:
                return KnowledgeResult(query, (), threshold)
            most = min(limit, MOST)
            return search_namespace(self._store, connection, space, query, most, threshold, vector)

    def evidence(
        self,
        query: str,
        max_tokens: int = 2_000,
        *,
        limit: int = 10,
        threshold: float = THRESHOLD,
        count: Count = estimate,
    ) -> Evidence:
        """
        Search for passages and pack them for a prompt: numbered, cited, within a budget.

        Args:
            query: A question or words.
            max_tokens: The token budget of the text.
            limit: The maximum number of passages.
            threshold: See `search`.
            count: Counts the tokens of a text.
        """
        return pack_evidence(self.search(query, limit, threshold=threshold), max_tokens, count)

    def ask(
        self,
        question: str,
        model: ModelLike | None = None,
        *,
        max_tokens: int = 4_000,
        answer_tokens: int = 1_000,
        limit: int = 10,
        threshold: float = THRESHOLD,
    ) -> CitedAnswer:
        """
        Answer a question from the documents, with checked citations.

        Args:
            question: The question.
            model: Answers the question; without one only the evidence is returned.
            max_tokens: The token budget of the evidence.
            answer_tokens: The maximum length of the answer.
            limit: The maximum number of passages.
            threshold: See `search`.
        """
        evidence = self.evidence(question, max_tokens, limit=limit, threshold=threshold)
        steps = _answer_steps(question, evidence, model, answer_tokens)
        return drive(steps, lambda ask: run_ask(model, ask))

    def documents(self) -> tuple[DocumentInfo, ...]:
        """List the documents, by name."""
        with self._database.reading() as connection:
            return document_tables.list_documents(connection, self._namespace)

    def stats(self) -> KnowledgeStats:
        """Return the statistics of the namespace."""
        embedder = self._storing.embedder
        with self._database.reading() as connection:
            figures = document_tables.count_documents(connection, self._namespace)
        model = "" if embedder is None else embedder.name
        return KnowledgeStats(embedder=model, bytes=self._database.size(), **figures)

    # --- async -------------------------------------------------------------------------------

    aadd = awaited(add)
    aadd_text = awaited(add_text)
    asearch = awaited(search)

    async def aask(
        self,
        question: str,
        model: ModelLike | None = None,
        *,
        max_tokens: int = 4_000,
        answer_tokens: int = 1_000,
        **settings: Any,
    ) -> CitedAnswer:
        """Answer a question without blocking; see `ask`."""
        evidence = await asyncio.to_thread(self.evidence, question, max_tokens, **settings)
        steps = _answer_steps(question, evidence, model, answer_tokens)
        return await drive_in_threads(steps, lambda ask: arun_ask(model, ask))

    def close(self) -> None:
        """Close the store; closing twice is allowed."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _answer_steps(
    question: str, evidence: Evidence, model: ModelLike | None, tokens: int
) -> Steps[CitedAnswer]:
    if model is None:
        note = evidence.findings.message if not evidence.passages else ""
        return CitedAnswer(question, evidence, note=note)
    return (yield from answer_from_evidence(question, evidence, tokens))
