"""What this package exports; `foldline.lazy` loads the names from here."""

from foldline.corpus.compacting import Compact as Compact
from foldline.corpus.compacting import MeasureRetention as MeasureRetention
from foldline.corpus.runner import CorpusReport as CorpusReport
from foldline.corpus.runner import run as run
from foldline.corpus.search_index import BuildIndex as BuildIndex
from foldline.corpus.search_index import CorpusMatch as CorpusMatch
from foldline.corpus.search_index import search as search
from foldline.corpus.statistics import Scan as Scan

__all__: list[str]
