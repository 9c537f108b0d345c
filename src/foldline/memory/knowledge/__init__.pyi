"""What this package exports; `foldline.lazy` loads the names from here."""

from foldline.memory.knowledge.document_tables import DocumentInfo as DocumentInfo
from foldline.memory.knowledge.document_tables import KnowledgeStats as KnowledgeStats
from foldline.memory.knowledge.evidence import CitedAnswer as CitedAnswer
from foldline.memory.knowledge.evidence import Evidence as Evidence
from foldline.memory.knowledge.ingest import AddedDocument as AddedDocument
from foldline.memory.knowledge.ingest import IngestReport as IngestReport
from foldline.memory.knowledge.knowledge_base import Knowledge as Knowledge
from foldline.memory.knowledge.search import KnowledgeResult as KnowledgeResult
from foldline.memory.knowledge.search import Passage as Passage

__all__: list[str]
