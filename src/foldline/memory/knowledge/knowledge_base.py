"""The front door of knowledge: documents go in, cited passages come out."""

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
The strength from which on a passage is evidence: it holds this share of what the query says, each
word weighed by how rare it is, or is that similar in meaning.
"""

MOST: Final = 200
"""Passages of one search, at most."""


@typed_methods
class Knowledge:
    """
    Documents in a SQLite file or PostgreSQL, for one namespace; made by `open`.

    Several threads and processes may use a store at once. A document is stored whole or not at
    all: a process that is killed loses the one that it was storing.
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
        Open a store; it is created when it is missing.

        Args:
            path: The SQLite file, or the URL of a PostgreSQL database.
            namespace: What is searched and cleared together; others are not touched.
            chunks: How documents are cut.
            reading: How much is read of files.
            embedder: Adds similarity of meaning to words; None goes by words alone.
            clock: Seconds since 1970.

        Raises:
            InputError: The namespace has no name, or too long a one.
            StoreError: The file or database cannot be opened, or is something else.
        """
        check_namespace(namespace)
        store = open_store(path, embedder)
        sizes, limits = chunks or ChunkSettings(), reading or ReadLimits()
        storing = Ingestor(store, namespace, sizes, limits, embedder, clock)
        storing.cut_terms_again()
        return cls(storing)

    def within(self, namespace: str, *, chunks: ChunkSettings | None = None) -> Self:
        """
        Return another namespace of the same file, or this one with other sizes of chunks.

        Args:
            namespace: Its name.
            chunks: How documents are cut from now on; default as here.

        Raises:
            InputError: It is no name.
        """
        own = self._storing
        sizes = chunks or own.chunks
        return type(self)(replace(own, namespace=check_namespace(namespace), chunks=sizes))

    @property
    def namespace(self) -> str:
        """What is searched and cleared together."""
        return self._namespace

    # --- putting in --------------------------------------------------------------------------

    def add(
        self,
        path: str | os.PathLike[str],
        *,
        name: str = "",
        only: str = "",
        tell: Progress | None = None,
    ) -> IngestReport:
        """
        Store a file, or all files of a folder that hold text.

        What has not changed since is left as it is. Of a folder, documents whose files are gone
        are removed. Links in folders, files that hold secrets by their name, and what is no text
        are skipped and reported.

        Args:
            path: The file or the folder.
            name: What citations call a file; default its path.
            only: A pattern such as ``*.py`` for the files of a folder, by their paths below it.
            tell: Called with every stored document and every skipped file.

        Raises:
            InputError: There is no such file, or it cannot be read.
            ModelError: The embedder failed; this document was not stored, those before it were.
            StoreError: The store cannot be written.
        """
        place = Path(os.path.abspath(path))  # noqa: PTH100  # links keep the name they were given
        if not is_folder(place):
            added = self._storing.file(place, name)
            if tell is not None:
                tell(added)
            return IngestReport((added,))
        if name:
            raise InputError(f"{place} is a folder; its files are called by their paths")
        documents, skipped = list[AddedDocument](), list[Skipped]()
        for found in self._storing.folder(place, only):
            if isinstance(found, AddedDocument):
                documents.append(found)
            else:
                skipped.append(found)
            if tell is not None:
                tell(found)
        removed = tuple(self._storing.remove_missing(place))
        return IngestReport(tuple(documents), tuple(skipped), removed)

    def add_text(
        self, name: str, text: str, *, title: str = "", kind: Kind = "text"
    ) -> AddedDocument:
        """
        Store a text under a name, in the place of what has that name.

        Args:
            name: What citations call it.
            text: The text.
            title: Is found with every passage of it.
            kind: How it is cut: "text", "markdown" or "code".

        Raises:
            InputError: The name is empty, or too long.
            ModelError: The embedder failed; nothing was stored.
        """
        return self.add_reading(name, DocumentText(text.replace("\r\n", "\n"), kind, title))

    def add_reading(self, name: str, reading: DocumentText) -> AddedDocument:
        """Store what was read elsewhere under a name; see `add_text`."""
        return self._storing.store(name, reading)

    def remove(self, name: str) -> bool:
        """Remove a document; return True if it was there."""
        return self._storing.remove(stored_name(name))

    def clear(self) -> int:
        """Remove all documents of this namespace, and of no other; return how many there were."""
        with self._database.writing() as connection:
            space = document_tables.lock_namespace(connection, self._namespace)
            if space is None:
                return 0
            return document_tables.clear_namespace(self._store, connection, space)

    # --- taking out --------------------------------------------------------------------------

    def search(
        self, query: str, limit: int = 5, *, threshold: float = THRESHOLD
    ) -> KnowledgeResult:
        """
        Find passages; no language model is asked.

        Args:
            query: A question or words, in any language.
            limit: The most passages.
            threshold: The strength that makes a passage evidence, 0 to 1.

        Returns:
            The best first; none is an answer too, and its ``message`` says why.

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
        Find passages and put them together for a prompt: numbered, cited, within a budget.

        Args:
            query: A question or words.
            max_tokens: The most that the text may take.
            limit: The most passages.
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
        Answer a question from the documents, with citations that were checked.

        Args:
            question: The question.
            model: Answers the question; without one only the evidence is returned.
            max_tokens: The most that the evidence may take.
            answer_tokens: The most that the answer may take.
            limit: The most passages.
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
        """Return what the namespace holds."""
        embedder = self._storing.embedder
        with self._database.reading() as connection:
            figures = document_tables.count_documents(connection, self._namespace)
        model = "" if embedder is None else embedder.name
        return KnowledgeStats(embedder=model, bytes=self._database.size(), **figures)

    # --- in programs that await --------------------------------------------------------------

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
