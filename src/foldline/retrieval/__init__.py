"""
Search documents by words, neighbours, authors, dates, and meaning.

    from foldline.retrieval import Document, Index
    index = Index([Document("1", "the launch moved to May")])
    index.search("when is the launch?")

Texts are tokenized by `foldline.relevance.terms.terms`.
"""

from foldline.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
