"""
Knowledge: documents in chunks, found again with their source.

    from foldline.memory.knowledge import Knowledge

    with Knowledge.open("knowledge.db") as knowledge:
        knowledge.add("docs/")
        for passage in knowledge.search("how are retries limited?"):
            print(passage.source, passage.text)
"""

from __future__ import annotations

from foldline.memory.knowledge.evidence import CitedAnswer, Evidence
from foldline.memory.knowledge.knowledge_base import Knowledge
from foldline.memory.knowledge.values import (
    AddedDocument,
    DocumentInfo,
    IngestReport,
    KnowledgeResult,
    KnowledgeStats,
    Passage,
)

__all__ = [
    "AddedDocument",
    "CitedAnswer",
    "DocumentInfo",
    "Evidence",
    "IngestReport",
    "Knowledge",
    "KnowledgeResult",
    "KnowledgeStats",
    "Passage",
]
