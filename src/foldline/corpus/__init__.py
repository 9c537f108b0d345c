"""
Many sessions at once, on several cores or machines: statistics, compaction, retention, a search.

    from foldline.corpus import Scan, run
    report = run(Scan(), ["sessions", "s3://bucket/logs/**/*.jsonl"], "out", workers=4)
    report.totals["tokens"]

Processes are started anew: a program that calls `run` does so under ``if __name__ ==
"__main__":``. ``client=`` takes a Dask client, any ``concurrent.futures`` executor, or a function
that computes a Dask graph.
"""

from foldline.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
