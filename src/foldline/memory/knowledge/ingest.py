"""Ingest documents: read, split, embed, and write each in one transaction."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

from foldline.errors import InputError, MissingExtra
from foldline.frozen import frozen
from foldline.memory.chunk import ChunkSettings
from foldline.memory.documents import DocumentText, ReadLimits, Skipped, files_below, read_file
from foldline.memory.knowledge import document_tables
from foldline.memory.knowledge.document_tables import Outcome
from foldline.memory.knowledge.embedding import embed_chunks
from foldline.memory.knowledge.schema import KnowledgeStore
from foldline.relevance.terms import TERMS_VERSION
from foldline.retrieval.embedding import Embedder
from foldline.sql import Database

LONGEST_NAME: Final = 4_096
LONGEST_NAMESPACE: Final = 200


@frozen
class AddedDocument:
    """The outcome for one document; ``warnings`` name content that could not be read."""

    document: str
    outcome: Outcome
    chunks: int
    tokens: int
    warnings: tuple[str, ...] = ()


@frozen
class IngestReport:
    """The outcomes for a file or the files of a folder."""

    documents: tuple[AddedDocument, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    removed: tuple[str, ...] = ()

    def count(self, outcome: Outcome) -> int:
        """Return the number of documents with this outcome."""
        return sum(one.outcome == outcome for one in self.documents)


@frozen
class Ingestor:
    """Stores documents in one namespace; see `Knowledge.open`."""

    knowledge: KnowledgeStore
    namespace: str
    chunks: ChunkSettings
    limits: ReadLimits
    embedder: Embedder | None
    clock: Callable[[], float]

    @property
    def database(self) -> Database:
        """The database of the documents."""
        return self.knowledge.database

    def store(self, name: str, reading: DocumentText) -> AddedDocument:
        """
        Store a document, replacing one of the same name.

        Raises:
            InputError: The name is empty or too long.
            ModelError: The embedder failed; nothing was stored.
        """
        name = stored_name(name)
        model = "" if self.embedder is None else self.embedder.name
        version = document_tables.document_version(reading, self.chunks, model)
        with self.database.reading() as connection:
            known = document_tables.find_document(connection, self.namespace, name)
        if known is None or known.version != version:
            rows = document_tables.make_chunk_rows(reading, self.chunks)
            texts = [row.text for row in rows]
            vectors = {} if self.embedder is None else embed_chunks(self.embedder, texts, name)
            draft = document_tables.DocumentRows(name, reading, version, rows, model, vectors)
            with self.database.writing() as connection:
                outcome = document_tables.replace_document(
                    self.knowledge, connection, self.namespace, draft, self.clock()
                )
            return AddedDocument(name, outcome, len(rows), draft.tokens, reading.warnings)
        return AddedDocument(name, "unchanged", known.chunks, known.tokens, reading.warnings)

    def file(self, path: Path, name: str = "") -> AddedDocument:
        """
        Store a file under its path or another name; the path itself may be a link.

        Raises:
            InputError: It cannot be read.
        """
        return self.store(name or str(path), read_file(Path(os.path.realpath(path)), self.limits))

    def folder(self, folder: Path, only: str = "") -> Iterator[AddedDocument | Skipped]:
        """
        Store the files below a folder; unreadable files are reported and skipped.

        Args:
            folder: The folder.
            only: A pattern for their relative paths; empty for all.
        """
        for found in files_below(folder, self.limits.entries):
            path = found.path if isinstance(found, Skipped) else found
            if only and not fnmatch(str(path.relative_to(folder)), only):
                continue
            if isinstance(found, Skipped):
                yield found
                continue
            try:
                reading = read_file(found, self.limits)
            except InputError as error:
                yield Skipped(found, _why(error, found))
            except MissingExtra as error:
                yield Skipped(found, str(error))
            else:
                yield self.store(str(found), reading)

    def remove_missing(self, folder: Path) -> Iterator[str]:
        """Remove documents of a folder whose files no longer exist."""
        below = stored_name(str(folder)).rstrip("/") + "/"
        with self.database.reading() as connection:
            rows = connection.execute(
                "SELECT d.name FROM documents d JOIN namespaces n ON n.id = d.namespace"
                " WHERE n.name = ? AND substr(d.name, 1, ?) = ?",
                (self.namespace, len(below), below),
            ).fetchall()
        for (name,) in rows:
            if not os.path.lexists(name) and self.remove(name):
                yield name

    def remove(self, name: str) -> bool:
        """Remove a document; return True if it existed."""
        with self.database.writing() as connection:
            space = document_tables.lock_namespace(connection, self.namespace)
            found = document_tables.find_document(connection, self.namespace, name)
            if space is None or found is None:
                return False
            document_tables.remove_document(self.knowledge, connection, space, found.id)
            return True

    def cut_terms_again(self) -> None:
        """Tokenize again the documents that an older version of Foldline tokenized."""
        with self.database.reading() as connection:
            old = connection.execute(
                "SELECT n.name, d.id, d.title FROM documents d"
                " JOIN namespaces n ON n.id = d.namespace WHERE d.cut <> ?",
                (TERMS_VERSION,),
            ).fetchall()
        for namespace, document, title in old:
            with self.database.writing() as connection:
                document_tables.lock_namespace(connection, namespace)
                document_tables.cut_document_again(self.knowledge, connection, document, title)


def _why(error: InputError, path: Path) -> str:
    """Return why a file was not read, without its name."""
    return error.message.removeprefix(str(path)).removeprefix(path.name).strip(" :")


def check_namespace(name: str) -> str:
    """
    Validate the name of a namespace.

    Raises:
        InputError: It is empty, too long, or has unprintable characters.
    """
    if not name.strip() or len(name) > LONGEST_NAMESPACE or not name.isprintable():
        hint = f"Use up to {LONGEST_NAMESPACE} printable characters."
        raise InputError(f"{name[:60]!r} is not a name for a namespace", hint=hint)
    return name


def stored_name(name: str) -> str:
    """
    Return a name as it is stored: file names may hold bytes that are not text.

    Raises:
        InputError: It is empty or too long.
    """
    plain = name.encode("utf-8", "replace").decode().replace("\0", "")
    if not plain.strip() or len(plain) > LONGEST_NAME:
        raise InputError(
            f"{plain[:60]!r} is not a name for a document",
            hint=f"Use up to {LONGEST_NAME:,} characters.",
        )
    return plain
