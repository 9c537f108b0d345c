"""
Finding what a text is about, among many: words, surroundings, names, dates, and meaning.

    from foldline.retrieval import Document, Index
    index = Index([Document("1", "the launch moved to May")])
    index.search("when is the launch?")

Texts are cut by `foldline.relevance.terms.terms`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.lazy_names import lazily

if TYPE_CHECKING:
    from foldline.relevance.terms import TERMS_VERSION, Cutter
    from foldline.retrieval.dates import date_windows
    from foldline.retrieval.documents import Document, Hit, Statistics, Weights, choose_diverse
    from foldline.retrieval.embedding import Embedder, pack, unpack
    from foldline.retrieval.index import Index
    from foldline.retrieval.minilm import MiniLM

_HOMES = {
    "Cutter": ".relevance.terms",
    "Document": "documents",
    "Embedder": "embedding",
    "Hit": "documents",
    "Index": "index",
    "MiniLM": "minilm",
    "Statistics": "documents",
    "TERMS_VERSION": ".relevance.terms",
    "Weights": "documents",
    "date_windows": "dates",
    "choose_diverse": "documents",
    "pack": "embedding",
    "unpack": "embedding",
}

__all__ = [
    "TERMS_VERSION",
    "Cutter",
    "Document",
    "Embedder",
    "Hit",
    "Index",
    "MiniLM",
    "Statistics",
    "Weights",
    "choose_diverse",
    "date_windows",
    "pack",
    "unpack",
]


__getattr__, __dir__ = lazily(__name__, _HOMES)
