"""What this package exports; `foldline.lazy` loads the names from here."""

from foldline.relevance.terms import TERMS_VERSION as TERMS_VERSION
from foldline.relevance.terms import Cutter as Cutter
from foldline.retrieval.documents import Document as Document
from foldline.retrieval.documents import Hit as Hit
from foldline.retrieval.documents import Statistics as Statistics
from foldline.retrieval.documents import Weights as Weights
from foldline.retrieval.documents import choose_diverse as choose_diverse
from foldline.retrieval.embedding import Embedder as Embedder
from foldline.retrieval.embedding import pack as pack
from foldline.retrieval.embedding import unpack as unpack
from foldline.retrieval.index import Index as Index
from foldline.retrieval.minilm import MiniLM as MiniLM
from foldline.retrieval.query_mentions import date_windows as date_windows

__all__: list[str]
