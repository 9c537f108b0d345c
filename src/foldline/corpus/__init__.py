"""
Many sessions at once, on several cores or machines: statistics, compaction, retention, a search.

    from foldline.corpus import Scan, run
    report = run(Scan(), ["sessions", "s3://bucket/logs/**/*.jsonl"], "out", workers=4)
    report.totals["tokens"]

Processes are started anew: a program that calls `run` does so under ``if __name__ ==
"__main__":``. ``client=`` takes a Dask client, any ``concurrent.futures`` executor, or a function
that computes a Dask graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.lazy_names import lazily

if TYPE_CHECKING:
    from foldline.corpus.compacting import Compact, MeasureRetention
    from foldline.corpus.runner import CorpusReport, run
    from foldline.corpus.search_index import BuildIndex, CorpusMatch, search
    from foldline.corpus.statistics import Scan

_HOMES = {
    "Compact": "compacting",
    "BuildIndex": "search_index",
    "CorpusMatch": "search_index",
    "MeasureRetention": "compacting",
    "CorpusReport": "runner",
    "Scan": "statistics",
    "run": "runner",
    "search": "search_index",
}

__all__ = [
    "BuildIndex",
    "Compact",
    "CorpusMatch",
    "CorpusReport",
    "MeasureRetention",
    "Scan",
    "run",
    "search",
]


__getattr__, __dir__ = lazily(__name__, _HOMES)
