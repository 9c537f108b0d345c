"""
Knowledge: documents in chunks, found again with their source.

    from foldline.memory.knowledge import Knowledge

    with Knowledge.open("knowledge.db") as knowledge:
        knowledge.add("docs/")
        for passage in knowledge.search("how are retries limited?"):
            print(passage.source, passage.text)
"""

from __future__ import annotations

from foldline.memory.knowledge.answering import Answer
from foldline.memory.knowledge.evidence import Evidence
from foldline.memory.knowledge.front import Knowledge
from foldline.memory.knowledge.values import Added, DocumentInfo, Findings, Passage, Report, Stats

__all__ = [
    "Added",
    "Answer",
    "DocumentInfo",
    "Evidence",
    "Findings",
    "Knowledge",
    "Passage",
    "Report",
    "Stats",
]
