"""
Knowledge as a tool: search and add documents.

    rag_tool = RAGTool(knowledge_base_path="./knowledge_base")
    rag_tool.execute("add_document", file_path="docs/guide.md")
    rag_tool.execute("search", query="how are retries limited?", limit=5)
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, Self

from foldline.ask_runner import ModelLike
from foldline.errors import InputError
from foldline.frozen import replace
from foldline.memory.chunk import ChunkSettings, Kind
from foldline.memory.knowledge import AddedDocument, IngestReport, Knowledge, KnowledgeResult
from foldline.memory.knowledge.knowledge_base import THRESHOLD
from foldline.settings.sources import make_folder
from foldline.sql import is_url
from foldline.tools.description import ActionTool, describe_tool
from foldline.tools.output import ErrorCode, ToolOutput

FILE: Final = "knowledge.db"
"""The file in the folder of a knowledge base."""

ASKING: Final = ("enable_mqe", "enable_hyde")
"""Arguments that request query expansion by a model, which is refused."""

WITHOUT_EFFECT: Final = frozenset(
    (*ASKING, "enable_advanced_search", "mqe_expansions", "include_citations", "max_chars")
)
"""
Arguments that are accepted and ignored: searching never calls a model, passages are never cut to
a number of characters, and sources are always named.
"""


class RAGTool(ActionTool):
    """
    A knowledge base with the interface of a tool.

    Args:
        knowledge_base_path: A folder for the file, which is created; a file ``….db``; or a URL.
        rag_namespace: The default namespace of calls.
        model: Answers questions; without one, "ask" returns the evidence.
        knowledge: An open store, instead of the path and the namespace.
        **options: Further options of `Knowledge.open`.

    Raises:
        StoreError: The file cannot be opened.
    """

    described = describe_tool("knowledge")
    name, description = described.name, described.description
    labels = frozenset(described.labels)

    def __init__(
        self,
        knowledge_base_path: str | os.PathLike[str] = "./knowledge_base",
        rag_namespace: str = "default",
        *,
        model: ModelLike | None = None,
        knowledge: Knowledge | None = None,
        **options: Any,
    ) -> None:
        if knowledge is None:
            place = knowledge_base_path
            if not is_url(place):
                file = Path(place) if Path(place).suffix == ".db" else Path(place, FILE)
                place = make_folder(file.parent) / file.name
            knowledge = Knowledge.open(place, namespace=rag_namespace, **options)
        self.knowledge = knowledge
        """The store, with typed methods."""
        self._model = model

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.knowledge.close()

    def add_document(self, file_path: str, **arguments: Any) -> str:
        """Add a file, a folder, or the matches of a pattern such as ``src/**/*.py``."""
        return self.execute("add_document", file_path=file_path, **arguments)

    def add_text(self, text: str, **arguments: Any) -> str:
        """Add a text."""
        return self.execute("add_text", text=text, **arguments)

    def search(self, query: str, **arguments: Any) -> str:
        """Find passages."""
        return self.execute("search", query=query, **arguments)

    def ask(self, question: str, **arguments: Any) -> str:
        """Answer a question from the documents."""
        return self.execute("ask", question=question, **arguments)

    def output(self, /, action: str, **arguments: Any) -> ToolOutput:
        """Run an action; see `ActionTool.output`. ``without_effect`` lists ignored arguments."""
        done = super().output(action, **arguments)
        ignored = sorted(WITHOUT_EFFECT & arguments.keys())
        return replace(done, data={**done.data, "without_effect": ignored}) if ignored else done

    def _filter_arguments(self, action: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        for name in ASKING:
            if arguments.get(name):
                why = "searching calls no model, so there is no query expansion"
                hint = "Omit it; to search for other words, too, make one search for each."
                raise InputError(why, field=name, hint=hint)
        given = super()._filter_arguments(action, arguments)
        given = {name: value for name, value in given.items() if name not in WITHOUT_EFFECT}
        if action == "ask" and "question" not in given and "query" in given:
            given["question"] = given.pop("query")
        return given

    def _act(self, action: str, given: dict[str, Any]) -> ToolOutput:
        """Run an action on the requested namespace, with the requested chunk sizes."""
        store, own = self.knowledge, ChunkSettings()
        space = given.pop("namespace", None)
        size, overlap = given.pop("chunk_size", None), given.pop("chunk_overlap", None)
        if size is not None or overlap is not None:
            target = own.target if size is None else size
            repeated = min(own.overlap, target // 2) if overlap is None else overlap
            chunks = ChunkSettings(target, repeated)
            store = store.within(space or store.namespace, chunks=chunks)
        elif space is not None:
            store = store.within(space)
        return super()._act(action, {"store": store, **given})

    # --- actions ---------------------------------------------------------------------------

    def _add_text(
        self,
        store: Knowledge,
        text: str,
        document_id: str = "",
        title: str = "",
        kind: Kind = "text",
    ) -> ToolOutput:
        name = document_id or _name(text)
        return _added_output(store.add_text(name, text, title=title, kind=kind))

    def _add_texts(
        self, store: Knowledge, texts: list[str], document_ids: list[str] | None = None
    ) -> ToolOutput:
        names = [_name(text) for text in texts] if document_ids is None else document_ids
        if len(names) != len(texts):
            raise InputError(f"{len(texts)} texts have {len(names)} names", field="document_ids")
        done = [store.add_text(name, text) for name, text in zip(names, texts, strict=True)]
        return _report_output(IngestReport(tuple(done)))

    def _add_document(self, store: Knowledge, file_path: str, document_id: str = "") -> ToolOutput:
        folder, only, parts = file_path, "", Path(file_path).parts
        glob = next((at for at, part in enumerate(parts) if set(part) & set("*?[")), None)
        if glob is not None and not Path(file_path).exists():  # a pattern below a folder
            folder, only = str(Path(*parts[:glob])), "/".join(parts[glob:]).replace("**/", "*")
        report = store.add(folder, name=document_id, only=only)
        if len(report.documents) == 1 and not report.skipped:
            return _added_output(report.documents[0])
        return _report_output(report)

    def _search(
        self, store: Knowledge, query: str, limit: int = 5, min_score: float = THRESHOLD
    ) -> ToolOutput:
        found = store.search(query, limit, threshold=min_score)
        lines = [found.message]
        for number, passage in enumerate(found, 1):
            lines.append(f"\n[{number}] {passage.source} (strength {passage.strength:.2f})")
            lines.append(passage.text.strip("\n"))
        return ToolOutput("\n".join(lines), data=_data(found))

    def _ask(
        self,
        store: Knowledge,
        question: str,
        limit: int = 10,
        min_score: float = THRESHOLD,
        max_tokens: int = 4_000,
    ) -> ToolOutput:
        answer = store.ask(
            question, self._model, limit=limit, threshold=min_score, max_tokens=max_tokens
        )
        cited = [passage.source for passage in answer.cited]
        data = {"answered": answer.answered, "answer": answer.text, "cited": cited}
        data |= _data(answer.evidence.findings)
        if answer.reply is not None and answer.reply.error:
            message = f"The model gave no answer: {answer.reply.error}"
            return ToolOutput.error(ErrorCode.UNAVAILABLE, message, **data)
        parts = [answer.text or answer.evidence.text, answer.note]
        if answer.text:
            passages = enumerate(answer.evidence.passages, 1)
            sources = (f"[{number}] {passage.source}" for number, passage in passages)
            parts.append("\n".join(["Sources:", *sources]))
        return ToolOutput("\n\n".join(part for part in parts if part), data=data)

    def _list(self, store: Knowledge) -> ToolOutput:
        found = store.documents()
        lines = [f"- {one.name} ({one.chunks:,} chunks, {one.tokens:,} tokens)" for one in found]
        names = ("title", "chunks", "tokens")
        rows = [{"document": d.name} | {name: getattr(d, name) for name in names} for d in found]
        return ToolOutput("\n".join(lines) or "There is no document.", data={"documents": rows})

    def _remove(self, store: Knowledge, document_id: str) -> ToolOutput:
        if store.remove(document_id):
            return ToolOutput(f"Removed {document_id}.", data={"removed": True})
        return ToolOutput.error(ErrorCode.NOT_FOUND, f"There is no document {document_id[:80]!r}.")

    def _stats(self, store: Knowledge) -> ToolOutput:
        stats = store.stats()
        names = ("documents", "chunks", "tokens")
        figures = {name: getattr(stats, name) for name in names}
        counts = ", ".join(f"{number:,} {name}" for name, number in figures.items())
        data = {"namespace": stats.namespace, "namespaces": list(stats.namespaces), **figures}
        return ToolOutput(f"{stats.namespace}: {counts}.", data=data | {"bytes": stats.bytes})

    def _clear(self, store: Knowledge, confirm: bool) -> ToolOutput:
        if not confirm:
            message = "Nothing was cleared; confirm=True removes all documents of the namespace."
            return ToolOutput.error(ErrorCode.NEEDS_APPROVAL, message)
        count = store.clear()
        message = f"Removed {count:,} documents of the namespace {store.namespace} only."
        return ToolOutput(message, data={"count": count})


def _name(text: str) -> str:
    """Return a name derived from the content of a text, so that adding it again is a no-op."""
    return f"text-{blake2b(text.encode('utf-8', 'replace'), digest_size=6).hexdigest()}"


def _added_output(added: AddedDocument) -> ToolOutput:
    if added.outcome == "unchanged":
        message = f"{added.document} has not changed; it has {added.chunks:,} chunks."
    else:
        word = "Added" if added.outcome == "added" else "Replaced"
        message = f"{word} {added.document}: {added.chunks:,} chunks, {added.tokens:,} tokens."
    message = " ".join([message, *(f"Warning: {warning}." for warning in added.warnings)])
    data = {"document": added.document, "outcome": added.outcome, "chunks": added.chunks}
    return ToolOutput(message, data={**data, "tokens": added.tokens})


def _report_output(report: IngestReport) -> ToolOutput:
    new, changed = report.count("added"), report.count("replaced")
    same, removed = report.count("unchanged"), len(report.removed)
    message = f"{new:,} documents added, {changed:,} replaced, {same:,} unchanged"
    removal = f", {removed:,} removed whose files no longer exist" if removed else ""
    left = f", {len(report.skipped):,} skipped" if report.skipped else ""
    skipped = [{"path": str(one.path), "why": one.why} for one in report.skipped]
    names = [one.document for one in report.documents]
    data = {"documents": names, "skipped": skipped, "removed": list(report.removed)}
    return ToolOutput(f"{message}{removal}{left}.", "partial" if skipped else "success", data=data)


def _data(found: KnowledgeResult) -> dict[str, Any]:
    rows = [passage.to_dict() for passage in found]
    return {"evidence": found.evidence, "results": rows, "strongest": found.strongest}
