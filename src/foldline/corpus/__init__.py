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
    from foldline.corpus.compacting import Compact
    from foldline.corpus.postings import Index
    from foldline.corpus.retention import Measure
    from foldline.corpus.running import Report, run
    from foldline.corpus.searching import Match, search
    from foldline.corpus.statistics import Scan

_HOMES = {
    "Compact": "compacting",
    "Index": "postings",
    "Match": "searching",
    "Measure": "retention",
    "Report": "running",
    "Scan": "statistics",
    "run": "running",
    "search": "searching",
}

__all__ = ["Compact", "Index", "Match", "Measure", "Report", "Scan", "run", "search"]


__getattr__, __dir__ = lazily(__name__, _HOMES)
